# Every target builds .venv first when it is missing or older than pyproject.toml.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= 2
FAMILY ?=

.PHONY: setup demo test test-fast test-slow durations check docs dist fuzz soak bench bench-peers browser screenshots \
  recipes clean

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test,bench]"
	touch $(STAMP)

setup: $(STAMP)

demo: $(STAMP)
	$(BIN)/bayesgrove demo --out demo-output

# The report is tested in a real browser. Where there is none and we may install it, Debian's is taken.
browser:
	@command -v chromium >/dev/null 2>&1 || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && apt-get update -qq >/dev/null \
	  && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null 2>&1; \
	} || echo "no chromium here: the tests of the report in a browser will be skipped"

# `make test FAMILY=nrm` runs the tests of one family; without a name, all. `python tests/families.py` lists families.
test: $(STAMP) browser
	files="$(if $(FAMILY),$$($(BIN)/python tests/families.py $(FAMILY)))" && \
	$(BIN)/python -m pytest -m "not slow" -n $(WORKERS) --dist loadfile --no-loadscope-reorder -q $$files

# All but the slowest tests: about two minutes with compiled kernels.
test-fast: $(STAMP)
	$(BIN)/python -m pytest -m "not slow and not browser" --fast -n $(WORKERS) --dist loadfile --no-loadscope-reorder -q

# Record anew how long each test takes, for `make test-fast`: as long as `make test`, on a quiet machine.
durations: $(STAMP) browser
	$(BIN)/python -m pytest -m "not slow" --record-durations -q

test-slow: $(STAMP) recipes
	$(BIN)/python -m pytest -m slow -q --ignore tests/recipes
	.venv-recipes/bin/python -m pytest -m slow -q tests/recipes

# BERTopic, Toponymy, scanpy, treedata and sdmetrics want an older pandas than we do: an environment of its own
recipes: .venv-recipes/.installed

.venv-recipes/.installed: pyproject.toml tests/recipes/requirements.txt
	$(PYTHON) -m venv .venv-recipes
	.venv-recipes/bin/python -m pip install --quiet --disable-pip-version-check -e ".[plot,tables]" \
	  -r tests/recipes/requirements.txt
	.venv-recipes/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
	  "bertopic>=0.17,<0.18" "toponymy>=0.5,<0.6"
	touch $@

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Pictures of the report under docs/images, which a test compares with the page as it is now.
screenshots: $(STAMP) browser
	PYTHONPATH=tests $(BIN)/python -m browser.screenshots

docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

# Wheel and sdist into dist/, after they were built, looked into, installed and tried under each Python that is here.
dist: $(STAMP)
	$(BIN)/python -m pytest -m slow -q tests/distribution
	$(BIN)/python -m build --outdir dist

fuzz: $(STAMP)
	$(BIN)/python -m fuzzing

# The long proof that kills and damage lose nothing; it goes on where it was until every part has its number.
soak: $(STAMP)
	$(BIN)/python -m fuzzing.soak

# Every benchmark in one run, what is finished is kept: one table, and pictures. `make bench-peers` first for pylace.
bench: $(STAMP)
	$(BIN)/python -m benchmarks all --out benchmark-results
	$(BIN)/python -m benchmarks plots benchmark-results --out benchmark-results

# pylace wants older versions of pandas and polars than we do: an environment of its own
bench-peers: .venv-lace/.installed

.venv-lace/.installed:
	$(PYTHON) -m venv .venv-lace
	.venv-lace/bin/python -m pip install --quiet --disable-pip-version-check "pylace>=0.10,<0.11"
	touch $@

clean:
	rm -rf $(VENV) .venv-lace .venv-recipes benchmark-results demo-output docs/_build docs/gallery
