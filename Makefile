# `make demo`, `make test` and `make check` do their own set-up in .venv: Linux, Python 3.11 or newer, nothing else.
# PIP_ARGS goes to pip, for instance to name the index of PyTorch's CPU builds.
PYTHON ?= python3
PIP_ARGS ?=
# Tests side by side. A worker and the children it starts take up to 1 GB.
JOBS ?= 2
# Folders or files that test-slow keeps to.
TESTS ?=
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile $(PIP_ARGS) --constraint constraints.txt
DEMO := evals/problems/layernorm_gelu.py

.PHONY: help demo test test-slow test-gpu check format graph clean

help:
	@echo "make demo      optimise $(DEMO) with the built-in expert: no key, no GPU needed"
	@echo "make test      the tests that need no GPU and are quick"
	@echo "make test-slow the rest that needs no GPU: runs killed in every node, Studio's server, heavy kernels"
	@echo "make test-gpu  the tests that need one"
	@echo "make check     ruff, mypy, import directions"
	@echo "make format    let ruff format and mend the code"
	@echo "make graph     draw docs/graph.md anew"
	@echo "make clean     remove .venv and caches; runs stay"

demo: $(VENV)/.base
	$(BIN)/egg optimize $(DEMO) --model rulebook

test: $(VENV)/.dev
	$(BIN)/python -m pytest -m "not gpu and not slow" --numprocesses $(JOBS) --dist worksteal
	@echo "Left out: the slow tests (make test-slow) and those that need a GPU (make test-gpu)."

test-slow: $(VENV)/.dev
	$(BIN)/python -m pytest -m "slow and not gpu" $(TESTS) --numprocesses $(JOBS) --dist worksteal

test-gpu: $(VENV)/.dev
	$(BIN)/python -m pytest -m gpu

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

graph: $(VENV)/.dev
	EGG_UPDATE_GOLDEN=1 $(BIN)/python -m pytest -q tests/graph/test_drawing.py

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "EGG needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable ".[dev,studio]"
	@touch $@ $(VENV)/.base

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
