"""One job per run (a model at a seed), whose name stands for {model}. Only its settings, and those of its text, make it run again: never a comment, cores or paths."""

from pipeline.monitor.forecast import request_training_minutes, count_training_retries
from workflow import cluster

# Nothing is repeated on this machine, where whoever calls sees the error, nor from inside a cluster's job: Snakemake
# would count the rule's attempts there once more.
RETRIES = 0
if SUBMITS_JOBS:
    RETRIES = count_training_retries(CONFIG, RUNS.values())
    cluster.use_own_programs()

SHARED_STORES = " ".join(options.option("shared-store", store) for store in FOLDER.shared_stores)

for run in RUNS.values():
    SETTINGS.add(f"train/{run.name}", run_settings(CONFIG, run))


rule train:
    """Train a model, resume its training, or link to it in store/, which no rule declares or deletes."""
    input:
        settings="settings/train/{model}.json",
        train=expand(f"{DATA}/binary/train/{{name}}", name=BITEXT_FILES),
        dev=expand(f"{DATA}/binary/dev/{{name}}", name=BITEXT_FILES),
        source_vocabulary=f"{DATA}/vocabulary/{SOURCE}.tsv",
        target_vocabulary=f"{DATA}/vocabulary/{TARGET}.tsv",
        base=base_files,
    output:
        model="models/{model}/model.safetensors",
        final_state="models/{model}/final_state.safetensors",
        summary="models/{model}/summary.json",
        history="models/{model}/history.jsonl",
        settings="models/{model}/settings.json",
        source_vocabulary="models/{model}/source.tsv",
        target_vocabulary="models/{model}/target.tsv",
    log:
        "logs/train/{model}.log",
    wildcard_constraints:
        model=options.any_of(RUNS),
    priority: lambda wildcards: cluster.urgency(CONFIG, RUNS[wildcards.model])
    retries: RETRIES
    threads: lambda wildcards: cores_of(CONFIG.models[RUNS[wildcards.model].model].training.threads)
    resources:
        gpu=lambda wildcards: gpu_of(CONFIG.models[RUNS[wildcards.model].model].training.device),
        mem_mb=1000 * CONFIG.resources.train_memory_gb,
        runtime=lambda wildcards: request_training_minutes(CONFIG, RUNS[wildcards.model], Path()),
        time_setting="train_hours",
        # Jobs are submitted in any order: in the queue the less urgent ones have a lower priority.
        slurm_extra=lambda wildcards: (
            f"--nice={10 * (cluster.MOST_URGENT - cluster.urgency(CONFIG, RUNS[wildcards.model]))}"
        ),
    params:
        train=lambda wildcards, input: os.path.dirname(input.train[0]),
        dev=lambda wildcards, input: os.path.dirname(input.dev[0]),
        continue_from=lambda wildcards, input: (
            options.option("continue-from", os.path.dirname(input.base[0])) if input.get("base") else ""
        ),
        shared_stores=lambda wildcards, input: SHARED_STORES,
    shell:
        # In a job of Slurm it stops cleanly before its time limit; submitted again, it resumes.
        "nmt train --settings {input.settings:q} --train {params.train:q} --dev {params.dev:q}"
        " --source-vocabulary {input.source_vocabulary:q} --target-vocabulary {input.target_vocabulary:q}"
        " {params.continue_from} --store store {params.shared_stores} --output models/{wildcards.model}"
        " --if-locked wait --job-minutes {resources.runtime} 2>&1 | tee -i {log:q}"
