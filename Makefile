# Every target sets up what it needs: a virtual environment in .venv with genus built into it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
NATIVE := CMakeLists.txt $(wildcard cpp/*.h cpp/*.cpp cpp/bindings/*) tools/unicode_tables.py

.PHONY: setup demo test lint stubs bench sanitize clean

setup: $(VENV)/installed

$(VENV)/dependencies: pyproject.toml constraints.txt
	@command -v c++ >/dev/null || { echo "genus needs a C++ compiler: sudo apt-get install g++ (Debian, Ubuntu), or xcode-select --install (macOS)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "genus needs Python 3.11 or newer: make PYTHON=python3.12 ..." >&2; exit 1; }
	@test -x $(BIN)/python || { echo "setting up $(VENV) (about a minute, once)"; $(PYTHON) -m venv $(VENV); }
	@$(PIP) cmake ninja $$($(BIN)/python tools/requirements.py dev)
	@touch $@

$(VENV)/installed: $(VENV)/dependencies $(NATIVE)
	@echo "building genus"
	@$(PIP) --no-build-isolation --no-deps --editable .
	@touch $@
