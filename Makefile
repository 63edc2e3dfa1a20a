# Every target builds .venv first when it is missing or older than pyproject.toml.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= 2

.PHONY: setup demo test test-slow check docs bench clean

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
	$(BIN)/sphinx-build -W -b html docs docs/_build/html

bench: $(STAMP)
	$(BIN)/python -m benchmarks bhc
	$(BIN)/python -m benchmarks randomized-bhc
	$(BIN)/python -m benchmarks startup

clean:
	rm -rf $(VENV) demo-output docs/_build
