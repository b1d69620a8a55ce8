# The doors. `make demo` is all that a stranger needs; every other way in is in README.md.
#
#   make PYTHON=python3.12 demo     another Python (3.11 or newer)
#   make CORES=2 demo               fewer cores than the machine has
#   make PIP_OPTIONS="--extra-index-url https://download.pytorch.org/whl/cpu" setup
#                                   PyTorch without CUDA: 4 GB less to download

PYTHON ?= python3
CORES ?= all
PIP_OPTIONS ?=
EXPERIMENT ?= experiments/demo
OPTIONS ?=

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
BEGUN := $(VENV)/begun
RUN := $(BIN)/python workflow/run.py --cores $(CORES)

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help setup demo multi30k ablations europarl paper groundhog report sweep test test-slurm lint bench bench-batching bench-data bench-decoding bench-explorer bench-selection bench-training format clean

help: ## Show the doors
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(INSTALLED) ## Make .venv and install everything into it

# An installation that broke off has begun but is not stamped: it is thrown away and made anew.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "error: $$($(PYTHON) --version) found, Python 3.11 or newer needed: make PYTHON=... $(MAKECMDGOALS)" >&2; exit 2; }
	@command -v c++ g++ clang++ > /dev/null \
	    || { echo "error: no C++ compiler found, one is needed to build KenLM (Debian: apt install g++)" >&2; exit 2; }
	@if [ -e $(BEGUN) ]; then echo "An installation broke off: starting it anew."; rm -rf $(VENV); fi
	@mkdir -p $(VENV)
	@touch $(BEGUN)
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --disable-pip-version-check -c constraints.txt $(PIP_OPTIONS) -e '.[dev]'
	@rm -f $(BEGUN)
	@touch $(INSTALLED)

demo: $(INSTALLED) ## The whole paper in ten minutes on two cores, on generated text
	$(RUN) experiments/demo $(OPTIONS)

multi30k: $(INSTALLED) ## Real image captions: two cores for about 15 minutes, or a GPU
	$(RUN) experiments/multi30k $(OPTIONS)

ablations: $(INSTALLED) ## Ablation of ambiguous paper details, on the demo's text: two cores for about half an hour
	$(RUN) experiments/ablations $(OPTIONS)

europarl: $(INSTALLED) ## Europarl and the WMT'14 test set: one GPU, an estimated hour
	$(RUN) experiments/europarl $(OPTIONS)

paper: $(INSTALLED) ## The paper as written, on this machine; on a cluster see docs/cluster.md
	$(RUN) . $(OPTIONS)

groundhog: $(INSTALLED) ## The paper as its authors' code ran it; takes the downloads of `make paper`
	$(RUN) experiments/groundhog $(OPTIONS)

report: $(INSTALLED) ## The page of a run's results, results/report.html: make EXPERIMENT=experiments/demo report
	$(RUN) $(EXPERIMENT) results/report.html $(OPTIONS)

sweep: $(INSTALLED) ## What decoding's open settings are worth to a run's models: make EXPERIMENT=experiments/demo sweep
	$(RUN) $(EXPERIMENT) sweep $(OPTIONS)

test: $(INSTALLED) ## All tests
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile $(OPTIONS)

test-slurm: $(INSTALLED) ## The demo on a real Slurm of this one machine, where it is installed and you are root
	$(BIN)/python -m pytest tests/slurm $(OPTIONS)

lint: $(INSTALLED) ## Linters, formatters, types
	$(BIN)/ruff check nmt workflow tests benchmarks
	$(BIN)/ruff format --check nmt workflow tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

bench: $(INSTALLED) ## Speed against peers, as ratios measured in one run
	$(BIN)/python -m benchmarks.recurrence $(OPTIONS)
	$(BIN)/python -m benchmarks.batches

bench-selection: $(INSTALLED) ## Selected text beside a random part: perplexity of held-out text, after `snakemake data`
	$(BIN)/python -m benchmarks.selection $(OPTIONS)

bench-training: $(INSTALLED) ## A training update against JoeyNMT, a plain loop and the machine's limit
	$(BIN)/python -m benchmarks.training --pip-options="$(PIP_OPTIONS)" $(OPTIONS)

bench-decoding: $(INSTALLED) ## Beam search against JoeyNMT's: sentences/s and words/s at beam 1, 5 and 10
	$(BIN)/python -m benchmarks.decoding --pip-options="$(PIP_OPTIONS)" $(OPTIONS)

bench-batching: $(INSTALLED) ## Whether a run's translations depend on batches: make EXPERIMENT=experiments/demo bench-batching
	$(BIN)/python -m benchmarks.batching $(EXPERIMENT) $(OPTIONS)

bench-data: $(INSTALLED) ## The way of the data, archives to binary: speed and memory, as text grows to 16 times Europarl
	$(BIN)/python -m benchmarks.data --pip-options="$(PIP_OPTIONS)" $(OPTIONS)

bench-explorer: $(INSTALLED) ## The explorer in Chromium: milliseconds to start, filter, sort and select, 3,003 sentences
	$(BIN)/python -m benchmarks.explorer $(OPTIONS)

format: $(INSTALLED) ## Bring code and rules into form
	$(BIN)/ruff check --fix nmt workflow tests benchmarks
	$(BIN)/ruff format nmt workflow tests benchmarks
	$(BIN)/snakefmt Snakefile workflow
	$(BIN)/python workflow/schema.py

clean: ## Remove .venv and caches; results stay
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache *.egg-info
