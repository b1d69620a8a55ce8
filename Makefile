# A newcomer needs only `make demo`. docs/running.md has the other commands.
#
#   make PYTHON=python3.12 demo     another Python (3.11 to 3.14)
#   make CORES=2 demo               fewer cores than the machine has
#   make TORCH=cuda setup           another build of PyTorch than this machine's driver needs: cpu, cuda, cu126

PYTHON ?=
CORES ?= all
TORCH ?=
EXPERIMENT ?=
SOURCE ?=
TARGET ?=
LANGUAGES ?=
UNITS ?=
FOLDERS ?= experiments/demo
OPTIONS ?=

# Programs get the values through the environment, so that neither make nor the shell runs anything in them. Only OPTIONS
# is a part of a shell's command line.
VALUES := PYTHON CORES TORCH EXPERIMENT SOURCE TARGET LANGUAGES UNITS FOLDERS
$(foreach name,$(VALUES),$(eval override $(name) := $$(value $(name))))
export $(VALUES)

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
# Not empty if the environment was moved or copied here: it is then made anew (workflow/setup.sh).
MOVED := $(shell at=$$(sed -n "s/^VIRTUAL_ENV=['\"]*\([^'\"]*\).*/\1/p" $(VENV)/bin/activate 2> /dev/null); \
    [ -z "$$at" ] || [ "$$at" -ef $(VENV) ] || echo moved)
DEV := $(VENV)/installed-dev
EXPERIMENT_OR_DEMO := "$${EXPERIMENT:-experiments/demo}"
RUN := $(BIN)/python workflow/run.py --cores "$$CORES"
# OPTIONS are for the other experiment, so a finished demo keeps its seeds and rows. Of OPTIONS the demo takes only a dry-run.
DEMO_FIRST = test -f experiments/demo/results/report.html || $(RUN) experiments/demo $(filter -n --dry-run --dryrun,$(OPTIONS))

# Of a cluster's modules: other packages, and another Python.
unexport PYTHONPATH PYTHONHOME

SHELL := bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: always help setup setup-dev new run demo cho2014b-demo sutskever2014-demo multi30k overnight ablations europarl paper groundhog report lecture showcase results-page docs release moses test test-slow test-all fuzz test-docs test-fresh test-slurm test-moses lint bench-decoding bench-training gpu-check format clean

help: ## List the make targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "%-19s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(INSTALLED) ## Create .venv and install what experiments need

setup-dev: $(DEV) ## The same, and what tests and linters need

# If TORCH names a build of PyTorch, it is installed now, and it stays.
$(INSTALLED) $(DEV): pyproject.toml uv.lock workflow/setup.sh $(if $(TORCH)$(MOVED),always)
	@sh workflow/setup.sh $(if $(filter $(DEV),$@),--group dev)
	@touch $(INSTALLED) $@
always: # never a file

demo: ## Train all models and make all tables and figures on synthetic text: two cores, six minutes
cho2014b-demo: ## Cho et al. (2014b) on the demo's text: a gated recursive convolution
sutskever2014-demo: ## Sutskever et al. (2014) on the demo's text: deep LSTMs, ensembles
multi30k: ## Image captions: two cores, about 15 minutes
overnight: ## Europarl, News Commentary and the WMT'14 test set: two cores, one night
ablations: ## What the paper's ambiguous details change, on the demo's text: two cores, 20 to 60 minutes
europarl: ## The claim at the paper's sizes, on Europarl and News Commentary: one H100, an hour (estimated)
groundhog: ## The paper as its authors' code ran it, with the downloads of `make paper`

demo multi30k overnight ablations europarl groundhog: $(INSTALLED)
	$(RUN) experiments/$@ $(OPTIONS)

cho2014b-demo sutskever2014-demo: $(INSTALLED)
	$(DEMO_FIRST)
	$(RUN) experiments/$@ $(OPTIONS)

paper: $(INSTALLED) ## The paper as written, on this machine; on a cluster see docs/cluster.md
	$(RUN) . $(OPTIONS)

new: $(INSTALLED) ## Begin an experiment on your text: make new EXPERIMENT=experiments/own SOURCE=corpus.de TARGET=corpus.es
	@for name in EXPERIMENT SOURCE; do test -n "$${!name}" || { \
	    echo "error: $$name missing: make new EXPERIMENT=FOLDER SOURCE=FILE TARGET=FILE" >&2; exit 2; }; done
	@$(BIN)/nmt new $${LANGUAGES:+--languages $$LANGUAGES} $${UNITS:+--subwords "$$UNITS"} $(OPTIONS) -- "$$EXPERIMENT" "$$SOURCE" $${TARGET:+"$$TARGET"}

run: $(INSTALLED) ## Run any experiment: make EXPERIMENT=experiments/own run
	$(RUN) $(EXPERIMENT_OR_DEMO) $(OPTIONS)

report: $(INSTALLED) ## Build results/report.html: make EXPERIMENT=experiments/demo report
	$(RUN) $(EXPERIMENT_OR_DEMO) results/report.html $(OPTIONS)

showcase: $(DEV) ## Renew docs/playground.html and the lecture from the demo's models
	sed 's/Translate in the browser: demo/Why attention? Let a sentence grow/' experiments/demo/results/playground.html > docs/playground.html
	MPLBACKEND= $(BIN)/jupyter execute --inplace docs/attention.ipynb

lecture: $(INSTALLED) ## Open the lecture, docs/attention.ipynb, in JupyterLab (after `make demo`)
	.uv/uv run --no-sync --with jupyterlab jupyter lab --notebook-dir docs --LabApp.default_url=/lab/tree/attention.ipynb $(OPTIONS)

moses: $(INSTALLED) ## Add a phrase-based system, Moses, to an experiment: make EXPERIMENT=experiments/multi30k moses
	$(RUN) $(EXPERIMENT_OR_DEMO) --configfile workflow/moses.yaml $(OPTIONS)

results-page: $(INSTALLED) ## Keep finished runs' packages in results/packages, and renew docs/results.md: make FOLDERS="experiments/demo" results-page
	$(BIN)/python -m workflow.results_page $$FOLDERS

release: $(DEV) ## Collect in release/ what a version publishes: make FOLDERS="experiments/demo ..." release
	bash workflow/release.sh $$FOLDERS

test: $(DEV) ## Test each part, and a small run from nothing to its results
	@echo "tests are collected, which takes a minute or two without a line"
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not slow" -n auto --dist loadfile $(OPTIONS)

test-slow: $(DEV) ## Test what takes longer: runs that are killed, damaged, published
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m slow -n auto --dist loadfile $(OPTIONS)

test-all: ## Run every test: before a release, some hours
	$(MAKE) --keep-going lint test test-slow test-slurm test-moses test-docs test-fresh fuzz docs

docs: $(DEV) ## Build the site with a gallery of finished experiments: site/pages/index.html
	@sh workflow/setup.sh --group dev --group docs
	$(BIN)/python workflow/site.py experiments/*

fuzz: $(DEV) ## Test with random and damaged input: FUZZ_EXAMPLES=10000 make fuzz
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m fuzz \
	    --hypothesis-profile=long --hypothesis-show-statistics $(OPTIONS)

test-fresh: $(DEV) ## Test README's commands on minimal systems (root, debootstrap, an hour)
	$(BIN)/python -m pytest tests/fresh $(OPTIONS)

test-docs: $(DEV) ## Test each command of README and docs in a fresh clone
	$(BIN)/python -m pytest tests/docs $(OPTIONS)

test-slurm: $(DEV) ## Test on a real one-machine Slurm cluster (root, Slurm installed)
	$(BIN)/python -m pytest tests/slurm $(OPTIONS)

test-moses: $(DEV) ## Test the phrase-based system with the real Moses, which is built once
	$(BIN)/python -m pytest tests/moses $(OPTIONS)

lint: $(DEV) ## Check style, formatting, types and the order of imports
	$(BIN)/ruff check nmt pipeline workflow tests benchmarks
	$(BIN)/ruff format --check nmt pipeline workflow tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint
	$(BIN)/snakemake --lint --directory experiments/demo

bench-training: $(DEV) ## Compare a training update with JoeyNMT and Sockeye
	$(BIN)/python -m benchmarks.training $(OPTIONS)

gpu-check: $(DEV) ## Check a GPU's results, speed and memory: about five minutes
	$(BIN)/python -m benchmarks.gpu_check $(OPTIONS)

bench-decoding: $(DEV) ## Compare beam search with JoeyNMT and Marian's int8 at beam 1, 5 and 10
	$(BIN)/python -m benchmarks.decoding $(OPTIONS)

format: $(DEV) ## Format code and rules; renew docs/settings.md
	$(BIN)/ruff check --fix nmt pipeline workflow tests benchmarks
	$(BIN)/ruff format nmt pipeline workflow tests benchmarks
	$(BIN)/snakefmt Snakefile workflow
	$(BIN)/python workflow/settings_page.py

clean: ## Remove .venv and caches, keep results
	rm -rf $(VENV) .uv site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis *.egg-info
