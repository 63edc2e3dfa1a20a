# Every target builds .venv first when it is missing or older than pyproject.toml.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= 2

.PHONY: setup demo test test-slow check docs bench bench-peers clean

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test,bench]"
	touch $(STAMP)

setup: $(STAMP)

demo: $(STAMP)
	$(BIN)/bayesgrove demo --out demo-output

test: $(STAMP)
	$(BIN)/python -m pytest -m "not slow" -n $(WORKERS) --dist loadfile -q

test-slow: $(STAMP)
	$(BIN)/python -m pytest -m slow -q

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

bench: $(STAMP)
	$(BIN)/python -m benchmarks bhc
	$(BIN)/python -m benchmarks randomized-bhc
	$(BIN)/python -m benchmarks mixtures
	$(BIN)/python -m benchmarks startup

# pylace wants older versions of pandas and polars than we do: an environment of its own
bench-peers: .venv-lace/.installed

.venv-lace/.installed:
	$(PYTHON) -m venv .venv-lace
	.venv-lace/bin/python -m pip install --quiet --disable-pip-version-check "pylace>=0.10,<0.11"
	touch $@

clean:
	rm -rf $(VENV) .venv-lace demo-output docs/_build docs/gallery
