# Everything from a fresh clone with Python, pip and make:
#   make demo    set up, train on ESOL, predict
#   make test    set up with the development tools, run the tests
#   make lint    style, then types and layers of the installed wheel
#   make wheel   dist/scoregnn-*.whl
#   make bench   ratios of time, printed
#   make study   run the studies again, write their results, the tables of README.md and the figures of docs/
#   make clean   remove what these made

PYTHON ?= python3
VENV ?= .venv
BIN := $(abspath $(VENV))/bin

# Idle threads must sleep, not spin: several processes share few cores.
export OMP_WAIT_POLICY = passive

# Folders too: a removed file changes nothing else.
SOURCES := $(shell find scoregnn datasets baselines studies -name __pycache__ -prune -o -print) \
           pyproject.toml README.md LICENSE

.PHONY: demo test lint bench study wheel clean

demo: $(VENV)/runtime.stamp
	$(BIN)/scoregnn train --dataset esol
	$(BIN)/scoregnn predict 'CCO' 'CC(=O)Oc1ccccc1C(=O)O'

test: $(VENV)/dev.stamp
	$(BIN)/pytest

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python .ci/check_installed.py

bench: $(VENV)/dev.stamp
	$(BIN)/python -P benchmarks/recurrence.py

# From inside studies/: in the root, Python would find scoregnn/ without the rooms that lie beside it.
study: $(VENV)/dev.stamp
	cd studies && $(BIN)/python -m scoregnn.studies.esol_reference --work ../runs/esol-reference \
	  --output results/esol_reference.json
	cd studies && $(BIN)/python -m scoregnn.studies.mlp_descriptors --output results/mlp_descriptors.json
	cd studies && $(BIN)/python -m scoregnn.studies.document_tables --results results ../README.md ../docs/method.md
	cd studies && $(BIN)/python -m scoregnn.studies.method_figures --output ../docs/figures

wheel: dist/wheel.stamp

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/python.stamp:
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.exit(0 if sys.version_info >= (3, 11) else \
	"scoregnn needs Python 3.11 or newer, this is " + v + ": make PYTHON=/path/to/python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	touch $@

# Built anew each time, since setuptools leaves removed modules in build/.
dist/wheel.stamp: $(SOURCES) | $(VENV)/python.stamp
	rm -rf build dist
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir dist .
	rm -rf build
	touch $@

# A wheel of the same version is not installed again by itself, hence the first line of each.
$(VENV)/runtime.stamp: dist/wheel.stamp constraints.txt | $(VENV)/python.stamp
	$(BIN)/pip install --quiet --no-deps --force-reinstall dist/*.whl
	$(BIN)/pip install --constraint constraints.txt dist/*.whl
	touch $@

$(VENV)/dev.stamp: dist/wheel.stamp constraints.txt | $(VENV)/python.stamp
	$(BIN)/pip install --quiet --no-deps --force-reinstall dist/*.whl
	$(BIN)/pip install --constraint constraints.txt "$$(echo dist/*.whl)[dev]"
	touch $@ $(VENV)/runtime.stamp
