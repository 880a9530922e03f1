# Every target sets up what it needs: a virtual environment in .venv with genus built into it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
NATIVE := CMakeLists.txt $(shell find cpp -type f) tools/unicode_tables.py
CPP := $(shell find cpp -name "*.h" -o -name "*.cpp" -o -name "*.inc")

.PHONY: setup demo test lint format stubs bench bench-accuracy sanitize clean results

setup: $(VENV)/installed

demo: $(VENV)/installed
	@$(BIN)/genus demo

test: $(VENV)/installed
	@$(BIN)/python -m pytest $(TESTS)

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/python tools/stubs.py --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/check_docs.py

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

stubs: $(VENV)/installed
	$(BIN)/python tools/stubs.py

# The papers' tables, measured again (up to 90 minutes; goes on where it was stopped), and what the docs and the README
# say of them.
results: $(VENV)/installed
	@$(BIN)/genus reproduce all --out build/report
	@$(BIN)/python tools/results.py build/report docs/results.md README.md

# Peers and genus side by side. BENCH passes options, for instance: make bench BENCH="--quick --only text"
bench: $(VENV)/installed
	@$(PIP) $$($(BIN)/python tools/requirements.py bench)
	@$(BIN)/python -m benchmarks $(BENCH)

# Accuracy and the time of choosing, beside tuned peers: make bench-accuracy BENCH="--set r8-stemmed --each 5 --each 20"
bench-accuracy: $(VENV)/installed
	@$(PIP) $$($(BIN)/python tools/requirements.py bench)
	@$(BIN)/python -m benchmarks.accuracy $(BENCH)

# The native code under AddressSanitizer and UndefinedBehaviorSanitizer, in an environment of its own that
# borrows the packages of the first.
sanitize: $(VENV)/installed
	@test -x .venv-sanitize/bin/python || $(PYTHON) -m venv --without-pip .venv-sanitize
	@$(BIN)/python tools/borrow_packages.py .venv-sanitize
	@$(BIN)/python -m pip --python .venv-sanitize/bin/python install --quiet --disable-pip-version-check \
	  --no-build-isolation --no-deps --force-reinstall \
	  -Ccmake.define.GENUS_SANITIZE=ON -Cbuild-dir=build/sanitize .
	LD_PRELOAD="$$(c++ -print-file-name=libasan.so) $$(c++ -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	  .venv-sanitize/bin/python -m pytest -m kernel tests $(TESTS)

# The suite with the oldest versions that pyproject.toml allows, on a wheel built with the oldest build tools, in an
# environment of its own. TESTS names what to run instead of everything.
.PHONY: test-oldest
test-oldest:
	@test -x .venv-oldest/bin/python || { $(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { \
	  echo "the oldest versions have wheels for Python 3.11: make PYTHON=python3.11 test-oldest" >&2; exit 1; }; \
	  $(PYTHON) -m venv .venv-oldest; }
	@.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
	  --requirement constraints-oldest.txt
	@.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check \
	  --no-build-isolation --no-deps --force-reinstall -Cbuild-dir=build/oldest .
	@.venv-oldest/bin/python -m pytest $(or $(TESTS),tests --pyargs genus)

clean:
	rm -rf $(VENV) .venv-sanitize .venv-peers build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis \
	  benchmarks/results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/dependencies: pyproject.toml constraints.txt tools/requirements.py
	@command -v c++ >/dev/null || { echo "genus needs a C++ compiler: sudo apt-get install g++" \
	  "(macOS: xcode-select --install)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "genus needs Python 3.11 or newer, for instance: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@test -x $(BIN)/python || { echo "setting up $(VENV): about a minute, once"; $(PYTHON) -m venv $(VENV); }
	@$(PIP) $$($(BIN)/python tools/requirements.py dev)
	@touch $@

$(VENV)/installed: $(VENV)/dependencies $(NATIVE)
	@echo "building genus"
	@$(PIP) --no-build-isolation --no-deps --editable .
	@touch $@
