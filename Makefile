# A newcomer needs only `make demo`. docs/running.md has the other commands.
#
#   make PYTHON=python3.12 demo     a different Python (3.11 to 3.14)
#   make CORES=2 demo               fewer cores than the machine has
#   make TORCH=cuda setup           a different build of PyTorch than this machine's driver needs: cpu, cuda, cu126

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
# Not empty if the environment was moved or copied here: it is then made anew (tools/setup.sh).
MOVED := $(shell at=$$(sed -n "s/^VIRTUAL_ENV=['\"]*\([^'\"]*\).*/\1/p" $(VENV)/bin/activate 2> /dev/null); \
    [ -z "$$at" ] || [ "$$at" -ef $(VENV) ] || echo moved)
DEV := $(VENV)/installed-dev
EXPERIMENT_OR_DEMO := "$${EXPERIMENT:-experiments/demo}"
RUN := $(BIN)/python tools/run.py --cores "$$CORES"
# OPTIONS are for the other experiment, so a finished demo keeps its seeds and rows. Of OPTIONS the demo takes only a dry-run.
DEMO_FIRST = test -f experiments/demo/results/report.html || $(RUN) experiments/demo $(filter -n --dry-run --dryrun,$(OPTIONS))

# A test that takes an hour ends its worker, and a worker that ends in a test ends the run: pytest-xdist would wait for it
# for ever.
PARALLEL := -n auto --dist loadfile --max-worker-restart 0 -o faulthandler_timeout=3600 -o faulthandler_exit_on_timeout=true

# Of a cluster's modules: other packages, and another Python.
unexport PYTHONPATH PYTHONHOME

SHELL := bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: always help setup setup-dev new run demo cho2014b-demo sutskever2014-demo multi30k overnight ablations europarl paper groundhog report lecture showcase results-page docs release moses test test-slow test-all fuzz test-docs test-fresh test-slurm test-moses test-groundhog lint bench-decoding bench-training gpu-check format clean

# Each line has at most 80 columns in the list.
##@ Start here
demo: ## Train five models on synthetic text: two cores, six minutes
setup: ## Create .venv and install what experiments need
lecture: ## Open the lecture in JupyterLab (after `make demo`)
##@ Your own text
new: ## Begin: make new EXPERIMENT=FOLDER SOURCE=a.de TARGET=a.es
run: ## Run it, or any experiment: make EXPERIMENT=FOLDER run
##@ Experiments
cho2014b-demo: ## Cho et al. (2014b) on the demo's text: two cores, minutes
sutskever2014-demo: ## Sutskever et al. (2014), likewise: two cores, 30 minutes
multi30k: ## Image captions: two cores, about 15 minutes
ablations: ## What the paper leaves open: two cores, 20 to 60 minutes
overnight: ## The paper's test set, with less text: two cores, one night
europarl: ## The paper's sizes, less text: one H100, an hour (estimated)
paper: ## The paper as written; for a cluster see docs/cluster.md
groundhog: ## The paper as its authors' code ran it
##@ Results
report: ## Build a run's report: make EXPERIMENT=FOLDER report
moses: ## Run Moses, too: make EXPERIMENT=experiments/multi30k moses
release: ## Collect what is published: make FOLDERS="..." release
results-page: ## Renew docs/results.md: make FOLDERS="..." results-page
##@ For developers
setup-dev: ## Also install what tests and linters need
format: ## Format code and rules; renew docs/settings.md
lint: ## Check style, types, and the order of imports
test: ## Test each part, and a small run: 6 to 11 minutes
test-slow: ## Test whole runs: killed, damaged, published
test-all: ## Run every test: before a release, some hours
fuzz: ## Test with random input: FUZZ_EXAMPLES=10000 make fuzz
test-docs: ## Test the commands of README and docs in a fresh clone
test-fresh: ## Test README on minimal systems (root, debootstrap, an hour)
test-slurm: ## Test on a real one-machine Slurm cluster (root)
test-moses: ## Test with the real Moses (the first time, it is built)
test-groundhog: ## Run the authors' own code, and compare with it
gpu-check: ## Check a GPU's results, speed and memory: five minutes
bench-training: ## Compare a training update with JoeyNMT and Sockeye
bench-decoding: ## Compare beam search with JoeyNMT and Marian
docs: ## Build the site of the docs and finished experiments
showcase: ## Renew README's pictures, playground, lecture from the demo
clean: ## Remove .venv and caches, keep results

help:
	@awk -F ':.*## ' '/^##@/ {print "\n" substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' Makefile

# A target that does not exist.
.DEFAULT:
	@names=$$(awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {print $$1}' Makefile); \
	    guess=$$(python3 -c 'import difflib, sys; print(*difflib.get_close_matches(*sys.argv[1:2], sys.argv[2:], 1))' \
	        '$(subst ','\'',$@)' $$names 2> /dev/null); \
	    printf 'error: %s: no such target%s; `make` lists them\n' '$(subst ','\'',$@)' "$${guess:+; did you mean \`$$guess\`?}" >&2; \
	    exit 2

setup: $(INSTALLED)
setup-dev: $(DEV)

# If TORCH names a build of PyTorch, it is installed now, and it stays.
$(INSTALLED) $(DEV): pyproject.toml uv.lock tools/setup.sh $(if $(TORCH)$(MOVED),always)
	@sh tools/setup.sh $(if $(filter $(DEV),$@),--group dev)
	@touch $(INSTALLED) $@
always: # never a file

demo multi30k overnight ablations europarl groundhog: $(INSTALLED)
	@$(RUN) experiments/$@ $(OPTIONS)

cho2014b-demo sutskever2014-demo: $(INSTALLED)
	@$(DEMO_FIRST)
	@$(RUN) experiments/$@ $(OPTIONS)

paper: $(INSTALLED)
	@$(RUN) . $(OPTIONS)

new: $(INSTALLED)
	@for name in EXPERIMENT SOURCE; do test -n "$${!name}" || { \
	    echo "error: $$name missing: make new EXPERIMENT=FOLDER SOURCE=FILE TARGET=FILE" >&2; exit 2; }; done
	@$(BIN)/nmt new $${LANGUAGES:+--languages $$LANGUAGES} $${UNITS:+--subwords "$$UNITS"} $(OPTIONS) -- "$$EXPERIMENT" "$$SOURCE" $${TARGET:+"$$TARGET"}

run: $(INSTALLED)
	@$(RUN) $(EXPERIMENT_OR_DEMO) $(OPTIONS)

report: $(INSTALLED)
	@$(RUN) $(EXPERIMENT_OR_DEMO) results/report.html $(OPTIONS)

showcase: $(DEV)
	MPLBACKEND= $(BIN)/python -m tools.showcase
	sed 's/Translate in the browser: demo/Why attention? Let a sentence grow/' experiments/demo/results/playground.html > docs/playground.html

lecture: $(INSTALLED)
	.uv/uv run --no-sync --with jupyterlab jupyter lab --notebook-dir docs --LabApp.default_url=/lab/tree/attention.ipynb $(OPTIONS)

moses: $(INSTALLED)
	@$(RUN) $(EXPERIMENT_OR_DEMO) --configfile workflow/moses.yaml $(OPTIONS)

results-page: $(INSTALLED)
	$(BIN)/python -m tools.results_page $$FOLDERS

release: $(DEV)
	bash tools/release.sh $$FOLDERS

test: $(DEV)
	@echo "tests are collected, which takes a minute or two without a line"
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not slow" $(PARALLEL) $(OPTIONS)

test-slow: $(DEV)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m slow $(PARALLEL) $(OPTIONS)

test-all:
	$(MAKE) --keep-going lint test test-slow test-slurm test-moses test-groundhog test-docs test-fresh fuzz docs

docs: $(DEV)
	@sh tools/setup.sh --group dev --group docs
	$(BIN)/python tools/site.py experiments/*

fuzz: $(DEV)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m fuzz \
	    --hypothesis-profile=long --hypothesis-show-statistics $(OPTIONS)

test-fresh: $(DEV)
	$(BIN)/python -m pytest tests/fresh $(OPTIONS)

test-docs: $(DEV)
	$(BIN)/python -m pytest tests/docs $(OPTIONS)

test-slurm: $(DEV)
	$(BIN)/python -m pytest tests/slurm $(OPTIONS)

test-moses: $(DEV)
	$(BIN)/python -m pytest tests/moses $(OPTIONS)

test-groundhog: $(DEV)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/groundhog $(OPTIONS)

lint: $(DEV)
	$(BIN)/ruff check nmt pipeline workflow tools tests benchmarks
	$(BIN)/ruff format --check nmt pipeline workflow tools tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint
	$(BIN)/snakemake --lint --directory experiments/demo

bench-training: $(DEV)
	$(BIN)/python -m benchmarks.training $(OPTIONS)

gpu-check: $(DEV)
	$(BIN)/python -m benchmarks.gpu_check $(OPTIONS)

bench-decoding: $(DEV)
	$(BIN)/python -m benchmarks.decoding $(OPTIONS)

format: $(DEV)
	$(BIN)/ruff check --fix nmt pipeline workflow tools tests benchmarks
	$(BIN)/ruff format nmt pipeline workflow tools tests benchmarks
	$(BIN)/snakefmt Snakefile workflow
	$(BIN)/python tools/settings_page.py

clean:
	rm -rf $(VENV) .uv site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis *.egg-info
