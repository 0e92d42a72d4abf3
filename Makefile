# Each target is one visible command or a few; `make help` lists them.
PYTHON ?= python3
BIN = .venv/bin
DEMO = results/demo
PYSPARK ?= 4.0
SPARK_ENV = .venv-spark$(if $(filter 4%,$(PYSPARK)),,-$(PYSPARK))
# What the installed package is made from: a change installs it again, with its loops compiled.
SOURCES = pyproject.toml setup.py $(wildcard svmtool/compiled/*.py svmtool/compiled/loops/*/*.py)

.PHONY: help setup demo test test-all test-spark stress fuzz bench experiments lint clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

setup: .venv/installed  ## make .venv and install the package there, loops compiled

demo: .venv/installed  ## scale, train and predict on a real set
	mkdir -p $(DEMO)
	$(BIN)/svm-scale -l 0 -s $(DEMO)/range data/breast_cancer > $(DEMO)/train.scale
	$(BIN)/svm-scale -r $(DEMO)/range data/breast_cancer.t > $(DEMO)/test.scale
	$(BIN)/svm-train -s 2 $(DEMO)/train.scale $(DEMO)/breast_cancer.model
	$(BIN)/svm-predict $(DEMO)/test.scale $(DEMO)/breast_cancer.model $(DEMO)/predictions

test: .venv/installed  ## run the tests
	$(BIN)/python -m pytest -q -n auto

test-all: .venv/installed  ## run the tests, the exhaustive grids too
	$(BIN)/python -m pytest -q -n auto -m ""

test-spark: $(SPARK_ENV)/installed  ## run the tests of --spark, with pyspark (some 500 MB); needs Java 17; PYSPARK=3.5
	$(SPARK_ENV)/bin/python -m pytest -q tests/distributed tests/repository/test_readme.py

stress: .venv/installed  ## data nobody tuned on against every solver; MINUTES=30 SEED=1 ONLY=family SOLVER=s
	$(BIN)/python scripts/stress --minutes $(or $(MINUTES),10) --seed $(or $(SEED),1) $(if $(ONLY),--only $(ONLY)) \
	  $(if $(SOLVER),--solver $(SOLVER))

fuzz: .venv/installed  ## hostile files and lines, kills, Ctrl-C, full disks; MINUTES=30 SEED=1 TRY='--inputs 1000000 --kills 1000'
	$(BIN)/python scripts/stress --fuzz --seed $(or $(SEED),1) $(if $(MINUTES),--minutes $(MINUTES)) $(TRY)

bench: .venv/installed  ## time us against LIBLINEAR (LIBLINEAR_DIR), LIBSVM (LIBSVM_DIR) and others; ONLY=all-sets MINUTES=20 SEED=1 DATA=folder
	$(BIN)/python scripts/bench.py $(if $(ONLY),--only $(ONLY)) $(if $(MINUTES),--minutes $(MINUTES)) \
	  $(if $(SEED),--seed $(SEED)) $(if $(DATA),--data $(DATA) --data data)

experiments: .venv/drawing .venv-peers/installed  ## the papers' experiments; ONLY=alm-table1,.. QUICK=1 DATA=folder
	$(BIN)/python scripts/experiments --peer-python .venv-peers/bin/python $(if $(ONLY),--only $(ONLY)) $(if $(QUICK),--quick) \
	  $(if $(DATA),--data $(DATA) --data data)

lint: .venv/installed  ## check style, types and docstrings
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/numpydoc lint svmtool/api/*.py svmtool/sklearn/*.py svmtool/liblinearutil.py svmtool/svmutil.py

clean:  ## remove what was built: .venv, compiled loops, results
	rm -rf .venv .venv-peers .venv-spark* build results *.egg-info svmtool/compiled/loops-*

.venv/installed: $(SOURCES)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || \
	  { echo "svmtool needs Python 3.10 or newer as $(PYTHON): sudo apt install python3, or make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make virtual environments: sudo apt install python3-venv"; exit 1; }
	test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --config-settings editable_mode=compat --editable '.[test]'
	@$(BIN)/python -m compileall -q svmtool
	@touch $@

$(SPARK_ENV)/installed: $(SOURCES)
	test -x $(SPARK_ENV)/bin/pip || $(PYTHON) -m venv $(SPARK_ENV)
	$(SPARK_ENV)/bin/pip install --quiet --disable-pip-version-check --config-settings editable_mode=compat --editable '.[test,spark]' 'pyspark~=$(PYSPARK)'
	@touch $@

.venv/drawing: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check matplotlib
	@touch $@

# A peer that cannot be installed here is reported in the report: the others are measured all the same.
.venv-peers/installed: scripts/experiments/peers.txt
	test -x .venv-peers/bin/pip || $(PYTHON) -m venv .venv-peers
	@grep -v '^#' $< | while read -r peer; do \
	  echo "pip install '$$peer'"; \
	  .venv-peers/bin/pip install --quiet --disable-pip-version-check "$$peer" || echo "left out: $$peer"; \
	done
	@touch $@
