# make run   the main job on embedded data        make bench     speed, as ratios measured in one run
# make test  all tests                            make lint      style
#                                                 make sanitize  the kernel tests under ASan and UBSan
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed

.PHONY: run test bench lint sanitize clean

run: $(INSTALLED)
	$(BIN)/python examples/first_steps.py

test: $(INSTALLED)
	$(BIN)/python -m pytest

bench: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m benchmarks

lint: $(INSTALLED)
	$(BIN)/python -m pip install --quiet ruff
	$(BIN)/ruff check .

$(INSTALLED): pyproject.toml CMakeLists.txt $(wildcard core/*)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@

clean:
	rm -rf $(VENV) build
