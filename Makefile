# make run   the main job on embedded data        make bench     speed, as ratios measured in one run
# make test  all tests                            make lint      style
#                                                 make sanitize  the kernel tests under ASan and UBSan
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed

.PHONY: run test bench lint sanitize clean

run: $(INSTALLED)
	$(BIN)/isrht reproduce

test: $(INSTALLED)
	$(BIN)/python -m pytest

bench: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m benchmarks

lint: $(INSTALLED)
	$(BIN)/python -m pip install --quiet ruff
	$(BIN)/ruff check .

# A build of its own: an interpreter that is not itself sanitized needs the runtime loaded first, and libstdc++ with
# it, or the first C++ exception ends the process. Python leaks on purpose at exit, so leaks are not looked for; its
# own allocator would hide small arrays. The first command tells a build that fell back to NumPy from a real one.
SANITIZED := build/sanitize
RUNTIME = $(foreach library,libasan.so libstdc++.so,$(shell $(CXX) -print-file-name=$(library)))
SANITIZED_PYTHON = LD_PRELOAD="$(RUNTIME)" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	PYTHONMALLOC=malloc $(SANITIZED)/venv/bin/python

sanitize:
	test -x $(SANITIZED)/venv/bin/python || $(PYTHON) -m venv $(SANITIZED)/venv
	$(SANITIZED)/venv/bin/python -m pip install --quiet --upgrade pip
	$(SANITIZED)/venv/bin/python -m pip install --quiet '.[test]' \
		--config-settings=cmake.define.ISRHT_SANITIZE=ON --config-settings=build-dir=$(SANITIZED)/cmake
	$(SANITIZED_PYTHON) -c 'import isrht._core'
	$(SANITIZED_PYTHON) -m pytest tests/test_kernels.py tests/test_hadamard.py

$(INSTALLED): pyproject.toml CMakeLists.txt $(wildcard core/*)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@

clean:
	rm -rf $(VENV) build
