# Everything a fresh machine needs: Python 3.11 or later with venv, and make.
# The environment is in .venv; only the first call of a target installs anything.

VENV ?= .venv
RUN := $(VENV)/bin/
PIP := $(RUN)python -m pip --disable-pip-version-check --no-input --quiet
ARGS ?=

# The first interpreter on the path that is new enough and can create an environment.
# Override with `make PYTHON=/path/to/python3.12 demo`.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
	>/dev/null 2>&1 && { echo "$$p"; break; }; done)

.PHONY: help demo test test-all kernels fuzz bench lint format types check clean
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.installed ## grow a tree from real text and write momentree-demo.html
	@$(RUN)momentree demo $(ARGS)

# Compiled modules are kept also where the environment says not to write them: the workers, and the
# processes that tests start, would otherwise compile every module anew.
PYTEST := PYTHONDONTWRITEBYTECODE= $(RUN)python -m pytest --numprocesses auto --dist worksteal

test: $(VENV)/.test ## run the tests, in about three minutes (select some with ARGS="-k tree")
	@$(PYTEST) -m "not long" $(ARGS)

test-all: $(VENV)/.test ## run all tests, also the long ones, with random examples
	@$(PYTEST) --hypothesis-profile random $(ARGS)

# The answer must not depend on the processor: BLAS runs its kernels for an old, a common and a recent
# one in turn. The order of the tests is random and differs on every run; a seed repeats it.
KERNELS ?= Prescott Haswell SkylakeX
SEED := $(shell date +%s)
NUMERICAL := $(addprefix tests/,assignment decomposition inference metrics models moments naming \
	parameters refinement tree test_whitening.py) src

kernels: $(VENV)/.test ## run the numerical tests with kernels of three processors (SEED=17)
	@status=0; for kernel in $(KERNELS); do for threads in 1 2; do \
		export OPENBLAS_CORETYPE=$$kernel OPENBLAS_NUM_THREADS=$$threads \
			OMP_NUM_THREADS=$$threads NUMBA_NUM_THREADS=$$threads; \
		echo "== $$kernel, threads: $$threads, --shuffle $(SEED)"; \
		$(RUN)python -c 'import numpy; numpy.eye(99) @ numpy.eye(99)' || \
			{ echo "skipped: this processor cannot run these kernels"; continue; }; \
		PYTHONDONTWRITEBYTECODE= $(RUN)python -m pytest --quiet -r fE --numprocesses auto \
			--shuffle $(SEED) $(NUMERICAL) $(ARGS) || status=1; done; done; exit $$status

fuzz: $(VENV)/.test ## test everything on damaged inputs for three minutes (ARGS="--seconds 60")
	@$(RUN)python -m tests.fuzz $(ARGS)

bench: $(VENV)/.installed ## run the benchmarks, one after the other (about two hours)
	@for file in benchmarks/[!_]*.py; do \
		echo "== $$file"; $(RUN)python "$$file" || exit 1; done

lint: $(VENV)/.lint ## check the style and the format
	@$(RUN)python -m ruff check
	@$(RUN)python -m ruff format --check

format: $(VENV)/.lint ## fix the style and the format
	@$(RUN)python -m ruff check --fix
	@$(RUN)python -m ruff format

types: $(VENV)/.lint ## check the types
	@$(RUN)python -m mypy

check: lint types test-all ## all of the above, as CI does

clean: ## remove the environment and the caches of tools
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage build dist

# The package is installed in editable mode, so edits in src/ need no new installation.
# Each stamp is written last, so that make resumes an interrupted installation.
$(VENV)/.installed: pyproject.toml
	@test -n "$(PYTHON)" || { echo "momentree needs Python 3.11 or later with its venv module." \
	"Install it (Debian and Ubuntu: apt install python3 python3-venv), or name one:" \
	"make PYTHON=/path/to/python3.12 demo" >&2; exit 1; }
	@echo "Setting up $(VENV) (once, about a minute) ..."
	@test -x $(RUN)python || "$(PYTHON)" -m venv $(VENV)
	@$(PIP) install --upgrade "pip>=25.1"
	@$(PIP) install --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.installed
	@echo "Adding the test tools ..."
	@$(PIP) install --group test
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	@echo "Adding the style and type checkers ..."
	@$(PIP) install --group lint
	@touch $@
