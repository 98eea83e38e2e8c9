# Brelan. `make help` lists what there is to do.

.DEFAULT_GOAL := help
.PHONY: help run env test test-fast chance lint format clean

venv := .venv
bin := $(venv)/bin
ready := $(venv)/.ready
computing := tests/sim tests/oracle tests/fairness# servers and clocks are left in peace: at a lower priority
quick := not slow and not redis and not docker and not browser and not celery and not prometheus

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

run: env ## the room: server, services, one table of each game with bots (BRELAN_PORT, BRELAN_DATA)
	@exec $(bin)/brelan up

env: $(ready) ## the Python environment in .venv

test: env lint ## every check and every test this machine can run; ends with what was skipped and why
ifdef PYTEST_ARGS
	@echo "== tests: $(PYTEST_ARGS)"
	@$(bin)/pytest -rs --durations=10 $(PYTEST_ARGS)
else
	@echo "== tests: everything this machine can run; $(computing) meanwhile, their report at the end"
	@report=$$(mktemp); \
	nice $(bin)/pytest -rs --durations=10 $(computing) >$$report 2>&1 & pid=$$!; \
	trap 'kill $$pid 2>/dev/null; cat $$report; rm -f $$report; exit 130' INT TERM; \
	$(bin)/pytest -rs --durations=10 $(computing:%=--ignore=%); status=$$?; \
	wait $$pid || status=1; cat $$report; rm -f $$report; exit $$status
endif

test-fast: env ## rules, contracts and services in memory: under a minute
	@echo "== tests: the fast ones"
	@$(bin)/pytest -q -m "$(quick)" $(PYTEST_ARGS)

chance: env ## the long battery: a million decks of every source, rngtest and dieharder if installed (DECKS, SEED)
	@$(bin)/python -m tests.fairness.battery $(or $(DECKS),1000000) $(or $(SEED),1)

lint: env ## style, types, architecture, dependencies
	@echo "== style: ruff check, ruff format"
	@$(bin)/ruff check --quiet .
	@$(bin)/ruff format --quiet --check .
	@echo "== types: mypy --strict"
	@$(bin)/mypy
	@echo "== architecture: import-linter"
	@$(bin)/lint-imports --no-logo
	@echo "== dependencies: deptry"
	@$(bin)/deptry libs services

format: env ## let ruff format the code and fix what it can
	@$(bin)/ruff format .
	@$(bin)/ruff check --fix .

clean: ## remove the environment, the caches and what was built; var/ (the room's data) stays
	rm -rf $(venv) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find libs services tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp makes pip run again when pyproject.toml has changed, and only then. Candidates are run, not only looked for:
# a version manager's shim for a Python that is not selected is found on the PATH, and fails.
$(ready): pyproject.toml
	@set -e; \
	if [ ! -x $(bin)/python ]; then \
	  chosen=; why='no Python found'; \
	  for candidate in $(PYTHON) python3.13 python3.12 python3.11 python3; do \
	    version=$$($$candidate -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue; \
	    if ! $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
	      [ "$$why" != 'no Python found' ] || why="$$candidate is Python $$version"; continue; \
	    fi; \
	    if ! $$candidate -c 'import venv, ensurepip' 2>/dev/null; then \
	      why="$$candidate ($$version) cannot make environments: venv or ensurepip is missing (Debian: apt install python$$version-venv)"; continue; \
	    fi; \
	    chosen=$$candidate; break; \
	  done; \
	  if [ -z "$$chosen" ]; then echo "Brelan needs Python 3.11 or newer with venv: $$why." >&2; exit 1; fi; \
	  echo "== environment: $(venv) with Python $$version ($$chosen)"; \
	  $$chosen -m venv $(venv); \
	fi
	@echo "== environment: installing Brelan and what it needs (a minute or two the first time)"
	@$(bin)/python -m pip install -qq --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(bin)/python -m pip install -qq --disable-pip-version-check --editable . --group dev
	@touch $@
