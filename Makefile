# Every target is one or two lines; `make run` and `make test` do their own set-up.
PYTHON ?= python3
VENV := .venv/bin/python

.DEFAULT_GOAL := help
.PHONY: help setup dev run test check lock e2e screenshots eval migrate revision bench clean

help:  ## This list
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:  ## Everything the app needs, in this folder
	@$(PYTHON) scripts/setup.py

run: setup  ## Start Pincite and open its page
	@exec $(VENV) -m rag_app serve

test: dev check  ## All checks and all tests
	@$(VENV) -m pytest

check: dev  ## Format, lint, types, import rules
	@$(VENV) -m ruff format --check . && $(VENV) -m ruff check . && $(VENV) -m mypy && .venv/bin/lint-imports

dev:
	@$(PYTHON) scripts/setup.py --dev

lock:  ## Pin requirements*.in by version and hash (ARGS=--upgrade takes newer ones)
	@$(PYTHON) scripts/lock.py $(ARGS)

e2e: dev  ## Only the journeys in a browser
	@$(VENV) -m pytest tests/e2e

screenshots: dev  ## The pictures in docs/, from the running app
	@$(VENV) scripts/screenshots.py

eval: setup  ## Measure retrieval into docs/evaluation.md: make eval SETS="beir/folder another"
	@$(VENV) scripts/evaluation.py $(SETS)

migrate: setup  ## Bring the database to the newest schema
	@$(VENV) scripts/with_database.py $(VENV) -m alembic upgrade head

revision: setup  ## A new migration from the models: make revision M="what changes"
	@$(VENV) scripts/with_database.py $(VENV) -m alembic revision --autogenerate -m "$(M)"

bench: dev  ## What taking in a document costs, step by step
	@$(VENV) benchmarks/ingestion.py --memory-pages 3000 --output benchmarks/ingestion.json

clean:  ## Remove what set-up and build made; the library stays
	rm -rf .venv .tools .web .states assets/external .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
