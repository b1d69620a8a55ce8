# `make demo` is all that a newcomer needs; docs/running.md has the other commands.
#
#   make PYTHON=python3.12 demo     another Python (3.11 to 3.14)
#   make CORES=2 demo               fewer cores than the machine has
#   make TORCH=cuda setup           another build of PyTorch than this machine's driver asks for: cpu, cuda, cu126

PYTHON ?=
CORES ?= all
PIP_OPTIONS ?=
TORCH ?=
EXPERIMENT ?=
SOURCE ?=
TARGET ?=
LANGUAGES ?=
EXAMPLES ?= 1000
FOLDERS ?= experiments/demo
OPTIONS ?=

# Values reach programs as they are, through the environment: nothing in them is run by make or the shell. OPTIONS are
# pieces of a shell's command line.
VALUES := PYTHON CORES TORCH EXPERIMENT SOURCE TARGET LANGUAGES EXAMPLES FOLDERS
$(foreach name,$(VALUES),$(eval override $(name) := $$(value $(name))))
export $(VALUES)

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
DEV := $(VENV)/installed-dev
EXPERIMENT_OR_DEMO := "$${EXPERIMENT:-experiments/demo}"
RUN := $(BIN)/python workflow/run.py --cores "$$CORES"

SHELL := bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: told help setup setup-dev new run demo cho2014b-demo sutskever2014-demo multi30k overnight ablations europarl paper groundhog report showcase results-page docs release moses test test-end-to-end fuzz test-docs test-fresh test-slurm test-moses lint bench bench-data bench-decoding bench-training gpu-check format pins clean

help: ## List the make targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "%-19s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(INSTALLED) ## Create .venv and install what experiments need

setup-dev: $(DEV) ## And what tests and linters need

# A build of PyTorch that is asked for is installed now, and stays.
$(INSTALLED) $(DEV): pyproject.toml uv.lock workflow/install.py workflow/setup.sh $(if $(TORCH),told)
	@sh workflow/setup.sh $(if $(filter $(DEV),$@),--dev) $${TORCH:+--torch "$$TORCH"}
told: # never a file

demo: $(INSTALLED) ## All models, tables and figures in six minutes on two cores, on synthetic text
	$(RUN) experiments/demo $(OPTIONS)

cho2014b-demo: demo ## Cho et al. (2014b) on the demo's text, after `make demo`: a gated recursive convolution
	$(RUN) experiments/cho2014b-demo $(OPTIONS)

sutskever2014-demo: demo ## Sutskever et al. (2014) on the demo's text, after `make demo`: deep LSTMs, ensembles
	$(RUN) experiments/sutskever2014-demo $(OPTIONS)

multi30k: $(INSTALLED) ## Real image captions: two cores for about 15 minutes, or a GPU
	$(RUN) experiments/multi30k $(OPTIONS)

overnight: $(INSTALLED) ## Europarl, News Commentary and the WMT'14 test set: two cores for a night
	$(RUN) experiments/overnight $(OPTIONS)

ablations: $(INSTALLED) ## Ablation of ambiguous details of the paper on the demo's data: two cores, 20 to 60 minutes
	$(RUN) experiments/ablations $(OPTIONS)

europarl: $(INSTALLED) ## Europarl and the WMT'14 test set: one GPU, about an hour (estimated)
	$(RUN) experiments/europarl $(OPTIONS)

paper: $(INSTALLED) ## The paper as written, on this machine; on a cluster see docs/cluster.md
	$(RUN) . $(OPTIONS)

groundhog: $(INSTALLED) ## The paper as its authors' code ran it; uses the downloads of `make paper`
	$(RUN) experiments/groundhog $(OPTIONS)

new: $(INSTALLED) ## Begin one on your text: make new EXPERIMENT=experiments/own SOURCE=corpus.de TARGET=corpus.es
	@for name in EXPERIMENT SOURCE; do test -n "$${!name}" || { \
	    echo "error: $$name missing: make new EXPERIMENT=FOLDER SOURCE=FILE TARGET=FILE" >&2; exit 2; }; done
	@$(BIN)/nmt new $${LANGUAGES:+--languages $$LANGUAGES} $(OPTIONS) -- "$$EXPERIMENT" "$$SOURCE" $${TARGET:+"$$TARGET"}

run: $(INSTALLED) ## Any experiment: make EXPERIMENT=experiments/own run
	$(RUN) $(EXPERIMENT_OR_DEMO) $(OPTIONS)

report: $(INSTALLED) ## Build results/report.html: make EXPERIMENT=experiments/demo report
	$(RUN) $(EXPERIMENT_OR_DEMO) results/report.html $(OPTIONS)

showcase: $(DEV) ## What the repository shows of the demo's models: docs/playground.html, the lecture, README's picture
	cd experiments/demo && ../../$(BIN)/nmt page playground --model models/rnnsearch-50 --model models/rnnencdec-50 \
	    --source data/tokens/demo-test/0.en.zst --reference data/tokens/demo-test/0.fr.zst \
	    --settings models/rnnsearch-50/text.json --title "Why attention? Let a sentence grow" --output ../../docs/playground.html
	echo "The queen's friend has already sent her the red letters." | \
	    $(BIN)/nmt translate --model experiments/demo/models/rnnsearch-50 --plot docs/pictures/attention.png
	$(BIN)/python -m workflow.notebook docs/attention.ipynb

moses: $(INSTALLED) ## Add a phrase-based system, Moses, to an experiment: make EXPERIMENT=experiments/multi30k moses
	$(RUN) $(EXPERIMENT_OR_DEMO) --config 'moses={enabled: true}' $(OPTIONS)

results-page: $(INSTALLED) ## docs/results.md, from finished runs: make FOLDERS="experiments/demo ..." results-page
	$(BIN)/python -m workflow.results_page docs/results.md docs/pictures/results $$FOLDERS

release: $(DEV) ## What a version publishes, with checksums, in release/: make FOLDERS="experiments/demo ..." release
	$(BIN)/python -m workflow.release release $$FOLDERS

test: $(DEV) ## Tests of each part
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile $(OPTIONS)

test-end-to-end: $(DEV) ## Tests of whole runs: small experiments from nothing to their pages, killed, damaged, published
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile tests/end_to_end $(OPTIONS)

docs: $(DEV) ## The site, with a gallery of finished experiments: site/pages/index.html
	@sh workflow/setup.sh --group docs
	$(BIN)/python workflow/site.py experiments/*

fuzz: $(DEV) ## Random and damaged input for all that reads input: make EXAMPLES=10000 fuzz
	OMP_NUM_THREADS=1 FUZZ_EXAMPLES="$$EXAMPLES" $(BIN)/python -m pytest -m fuzz \
	    --hypothesis-profile=long --hypothesis-show-statistics $(OPTIONS)

test-fresh: $(DEV) ## README's commands and the container recipe on minimal systems made for it (root, debootstrap, an hour)
	$(BIN)/python -m pytest tests/fresh $(OPTIONS)

test-docs: $(DEV) ## Each command of README and docs, as the pages have it, in a fresh clone with the demo
	$(BIN)/python -m pytest tests/docs $(OPTIONS)

test-slurm: $(DEV) ## Tests on a real one-machine Slurm cluster (root, Slurm installed)
	$(BIN)/python -m pytest tests/slurm $(OPTIONS)

test-moses: $(DEV) ## Tests of the phrase-based system with the real Moses, which is built once
	$(BIN)/python -m pytest tests/moses $(OPTIONS)

lint: $(DEV) ## Linters, formatting, types, import order
	$(BIN)/ruff check nmt pipeline workflow tests benchmarks
	$(BIN)/ruff format --check nmt pipeline workflow tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

bench: $(DEV) ## What loading a batch costs, and how threads should wait
	$(BIN)/python -m benchmarks.batches
	$(BIN)/python -m benchmarks.waiting

bench-training: $(DEV) ## A training update against JoeyNMT, Sockeye, Marian, a plain loop and the matrix rate
	$(BIN)/python -m benchmarks.training --pip-options="$(PIP_OPTIONS)" $(OPTIONS)

gpu-check: $(DEV) ## Everything that a GPU must do right, and its speed and memory: about ten minutes
	$(BIN)/python -m benchmarks.gpu_check --pip-options="$(PIP_OPTIONS)" $(OPTIONS)

bench-decoding: $(DEV) ## Beam search against JoeyNMT and Marian: sentences/s and words/s at beam 1, 5 and 10
	$(BIN)/python -m benchmarks.decoding --pip-options="$(PIP_OPTIONS)" $(OPTIONS)

bench-data: $(DEV) ## The data pipeline, archives to binary: speed and memory on 1, 4 and 16 times Europarl
	$(BIN)/python -m benchmarks.data --pip-options="$(PIP_OPTIONS)" $(OPTIONS)

format: $(DEV) ## Format code and rules; write the schema and docs/pictures/structure.svg
	$(BIN)/ruff check --fix nmt pipeline workflow tests benchmarks
	$(BIN)/ruff format nmt pipeline workflow tests benchmarks
	$(BIN)/snakefmt Snakefile workflow
	$(BIN)/python workflow/schema.py
	$(BIN)/python workflow/drawing.py

pins: $(DEV) ## Renew uv.lock, CI actions and the containers' base image
	$(BIN)/python workflow/pins.py $(OPTIONS)

clean: ## Remove .venv and caches, keep results
	rm -rf $(VENV) .venv.lock .uv site .mypy_cache .ruff_cache .pytest_cache *.egg-info
