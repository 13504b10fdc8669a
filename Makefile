# Everything a person needs: `make run` sits the near-term exam, `make test` runs every test.
SHELL := /bin/bash
.DEFAULT_GOAL := help

VENV := .venv
PY := $(VENV)/bin/python
BIN := $(VENV)/bin
ROOMS := controller agents tasks infra vm_images verifiers

.PHONY: help setup setup-dev run test check unit integration vm images fuzz bench lock clean

help:
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

setup: ## make .venv, install the package, see to Docker
	@scripts/setup

setup-dev:
	@scripts/setup --dev

images: setup ## build the images of the near-term tasks
	@$(BIN)/practicum image build base office cad media

run: images ## sit the near-term exam with oracle and nop (and generalist, with OPENAI_API_KEY)
	@$(BIN)/practicum run near-term --agent oracle,nop$(if $(OPENAI_API_KEY),$(comma)generalist) $(RUN_FLAGS)

test: setup-dev check ## run every check and every test
	@$(MAKE) --no-print-directory unit
	@$(BIN)/practicum image build base office cad media
	@$(MAKE) --no-print-directory integration

check: setup-dev ## ruff, mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(addprefix -p practicum.,$(ROOMS))
	$(BIN)/lint-imports

unit: setup-dev ## tests that need no desk image
	$(BIN)/pytest -m "not docker" -n 2 tests

# A real window on a busy machine may miss a key once; a second run is counted and printed, a third is not made.
integration: setup-dev ## tests on real desks
	$(BIN)/pytest -m "docker and not vm" --reruns 1 tests

vm: setup-dev ## tests on virtual machines, which an emulated processor makes slow
	$(BIN)/practicum image build base
	$(BIN)/pytest -m vm --reruns 1 tests

fuzz: setup-dev ## every parser on damaged files, a minute each
	$(PY) tests/fuzz/parsers.py --seconds 60

lock: ## pin the dependencies anew
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 \
	  pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 \
	  --extra dev pyproject.toml -o requirements-dev.txt
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 \
	  vm_images/handsd/requirements.txt -o vm_images/guest.lock

clean:
	rm -rf $(VENV) .cache dist

comma := ,
