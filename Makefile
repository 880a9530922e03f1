# Every target sets up what it needs, and no more, in a virtual environment in .venv: see tools/setup.py.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CPP := $(shell find cpp -name "*.h" -o -name "*.cpp")
export GENUS_GOALS := $(MAKECMDGOALS)

# Once there is an environment, its own Python is used, whatever PYTHON is.
SETUP = @if test -x $(BIN)/python; then python=$(BIN)/python; else python=$(PYTHON); fi; \
  command -v $$python >/dev/null || { echo "genus: needs Python 3.11 or newer, and there is no $$python:" \
  "sudo apt-get install python3-venv python3-dev" >&2; exit 1; }; $$python tools/setup.py

.PHONY: setup run dev demo test test-all fuzz lint format stubs docs bench bench-accuracy sanitize test-oldest portable wheels \
  sdist clean results

setup: dev

# genus and what it needs to run
run:
	$(SETUP) run build

# what tests need besides
dev:
	$(SETUP) run dev build

demo: run
	@$(BIN)/genus demo

# MARKS chooses by mark ("slow or data"), TESTS by name, for instance: make test TESTS="tests/text/test_vectorizer.py -k stem"
MARKS := not slow
WORKERS := --numprocesses logical --maxprocesses 4 --dist worksteal
test: dev
	@$(BIN)/python -m pytest $(WORKERS) -m "$(MARKS)" $(TESTS)

test-all: MARKS :=
test-all: test

lint:
	$(SETUP) run dev
	@$(BIN)/python tools/lint.py

format:
	$(SETUP) dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

stubs: dev
	$(BIN)/python tools/stubs.py

# What the commands in the documentation print now.
docs: dev
	$(BIN)/python tools/check_docs.py --write

# Mutated model and data files, for FUZZ_SECONDS: a crash, a hang or an unclear error fails. FUZZ passes options, for
# instance: make fuzz FUZZ="--base dmnb --first 100000"
FUZZ_SECONDS := 60
fuzz: dev
	@PYTHONPATH=tests $(BIN)/python -m fuzz --seconds $(FUZZ_SECONDS) $(FUZZ)

# The papers' tables, measured again (up to 90 minutes; goes on where it was stopped), and what the docs and the README
# say of them.
results: dev
	@$(BIN)/genus reproduce all --out build/report
	@$(BIN)/python tools/results.py build/report docs/results.md README.md

# Peers and genus side by side. BENCH passes options, for instance: make bench BENCH="--quick --only text"
bench: dev
	$(SETUP) bench
	@$(BIN)/python -m benchmarks $(BENCH)

# Accuracy and the time of choosing, beside tuned peers: make bench-accuracy BENCH="--set r8-stemmed --each 5 --each 20"
bench-accuracy: dev
	$(SETUP) bench
	@$(BIN)/python -m benchmarks.accuracy $(BENCH)

# The native code under AddressSanitizer and UndefinedBehaviorSanitizer, in an environment of its own that
# borrows the packages of the first.
sanitize: dev
	@test -x .venv-sanitize/bin/python || $(BIN)/python -m venv --without-pip .venv-sanitize
	@$(BIN)/python tools/borrow_packages.py .venv-sanitize
	@$(BIN)/python -m pip --python .venv-sanitize/bin/python install --quiet --disable-pip-version-check \
	  --no-build-isolation --no-deps --force-reinstall \
	  -Ccmake.define.GENUS_SANITIZE=ON -Cbuild-dir=build/sanitize .
	LD_PRELOAD="$$($${CXX:-c++} -print-file-name=libasan.so) $$($${CXX:-c++} -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	  .venv-sanitize/bin/python -m pytest -m kernel tests $(TESTS)

# The suite with the oldest versions that pyproject.toml allows, on a wheel built with the oldest build tools, in an
# environment of its own. TESTS names what to run instead of everything.
test-oldest:
	@test -x .venv-oldest/bin/python || { $(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { \
	  echo "the oldest versions have wheels for Python 3.11: make PYTHON=python3.11 test-oldest" >&2; exit 1; }; \
	  $(PYTHON) -m venv .venv-oldest; }
	@.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
	  --requirement constraints-oldest.txt
	@.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check \
	  --no-build-isolation --no-deps --force-reinstall --config-settings=build-dir=build/oldest .
	@.venv-oldest/bin/python -m pytest $(WORKERS) -m "$(MARKS)" $(or $(TESTS),tests --pyargs genus)

# The kernels compiled with Clang for Linux, macOS, Windows and WebAssembly: does the code depend on one compiler?
portable:
	$(SETUP) run portable
	@$(BIN)/python tools/portable.py

# Wheels for Linux that need no compiler, in dist/, checked and tried. PYTHONS names the Pythons to build with and to try
# them on, for instance: make wheels PYTHONS="python3.11 python3.12 python3.13"
wheels:
	$(SETUP) run wheels
	@$(BIN)/python tools/wheels.py $(PYTHONS)

# The source distribution, in dist/, installed from its own requirements and tried.
sdist: run
	@$(BIN)/python tools/sdist.py

clean:
	rm -rf $(VENV) .venv-sanitize .venv-peers .venv-oldest build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis \
	  benchmarks/results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
