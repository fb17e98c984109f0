# From a fresh clone: `make demo` and `make test` build what they need in .venv. Needs python3 (3.10 or later), a C compiler and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(wildcard orbit_native/*.pyx orbit_native/*.pxd)
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: help demo test slow check bench bench-gate bench-peers bench-kernel accuracy sanitize wheel sdist clean

help:
	@echo "make demo      build, then look at this repository with orbit"
	@echo "make test      build, then run the tests (slow ones left out; make slow runs those)"
	@echo "make check     ruff, cython-lint, mypy, stubtest, import contract"
	@echo "make sanitize  run the native tests under AddressSanitizer and UBSan"
	@echo "make wheel     build a wheel, test it away from the source tree, print its installed size"
	@echo "make bench     speed (bench-gate: against the baseline, bench-peers: beside other tools, bench-kernel: the Linux kernel)"
	@echo "make accuracy  answers measured against compilers"

$(VENV)/tools: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group build --group test --group check
	@touch $@

# Only Cython sources changed: compile those. Anything else: install again.
$(VENV)/installed: $(VENV)/tools setup.py $(NATIVE)
	$(if $(filter-out orbit_native/%,$?),$(BIN)/python -m pip install --quiet --no-build-isolation --editable .,$(BIN)/python setup.py --quiet build_ext --inplace)
	@touch $@

demo: $(VENV)/installed
	$(BIN)/orbit --version
	$(BIN)/orbit graph sync
	$(BIN)/orbit graph overview

test: $(VENV)/installed
	$(BIN)/pytest

slow: $(VENV)/installed
	$(BIN)/pytest -m slow

check: $(VENV)/installed
	$(BIN)/ruff check
	$(BIN)/cython-lint $(NATIVE)
	$(BIN)/mypy src setup.py .ci
	$(BIN)/python -m mypy.stubtest $(patsubst orbit_native/%.pyx,orbit_native.%,$(wildcard orbit_native/*.pyx)) --allowlist .ci/stubtest-allowlist.txt --ignore-unused-allowlist
	$(BIN)/lint-imports --no-logo
	$(BIN)/python .ci/rooms.py
	$(BIN)/orbit adr lint

bench: $(VENV)/installed
	$(BIN)/python bench/run.py

bench-gate: $(VENV)/installed
	$(BIN)/python bench/gate.py

bench-peers: $(VENV)/installed
	$(BIN)/python bench/peers.py --write

bench-kernel: $(VENV)/installed
	$(BIN)/python bench/kernel.py

accuracy: $(VENV)/installed
	$(BIN)/python bench/accuracy/run.py

# The instrumented build lives in build/sanitize/site and is found before the usual one. Python itself is not instrumented: its
# allocator is swapped for malloc, and what it keeps until exit is no leak.
SANITIZED := build/sanitize/site
PRELOAD = $$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)
sanitize: $(VENV)/installed
	rm -rf $(SANITIZED) build/sanitize/lib*
	ORBIT_BUILD=sanitize $(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --target $(SANITIZED) .
	PYTHONPATH=$(SANITIZED) PYTHONMALLOC=malloc LD_PRELOAD="$(PRELOAD)" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
		$(BIN)/pytest -s -p no:cacheprovider -m "native and not slow"

sdist: $(VENV)/tools
	$(BIN)/python -m build --sdist --outdir dist .

wheel: $(VENV)/installed
	$(BIN)/python .ci/wheel.py

clean:
	rm -rf build dist .venv third_party orbit_native/*.so src/*.egg-info
