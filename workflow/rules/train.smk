"""One job per run (a model at a seed), whose name stands for {model}. Only its settings, and those of its text, make it run again: never a comment, cores or paths."""

from pipeline.monitor.forecast import training_minutes, training_retries
from workflow import cluster

# Nothing is sent again on this machine, where whoever calls sees the error, nor from inside a cluster's job: Snakemake
# would count the rule's attempts there once more.
RETRIES = 0
if SENDS_JOBS:
    RETRIES = training_retries(CONFIG, RUNS.values())
    cluster.use_own_programs()


rule train:
    """Train a model, or resume one that was stopped: checkpoints lie in state/, which no rule declares or deletes."""
    input:
        train=ancient(expand(f"{DATA}/binary/train/{{name}}", name=BITEXT_FILES)),
        dev=ancient(expand(f"{DATA}/binary/dev/{{name}}", name=BITEXT_FILES)),
        source_vocabulary=ancient(f"{DATA}/vocabulary/{SOURCE}.tsv"),
        target_vocabulary=ancient(f"{DATA}/vocabulary/{TARGET}.tsv"),
        base=lambda wildcards: (
            ancient(f"models/{RUNS[wildcards.model].base}/final_state.safetensors")
            if RUNS[wildcards.model].base
            else []
        ),
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
        runtime=lambda wildcards: training_minutes(CONFIG, RUNS[wildcards.model], Path()),
        time_setting="train_hours",
        # Jobs are sent in any order: in the queue the less urgent are nicer.
        slurm_extra=lambda wildcards: (
            f"--nice={10 * (cluster.MOST_URGENT - cluster.urgency(CONFIG, RUNS[wildcards.model]))}"
        ),
    params:
        # Snakemake compares only parameters whose function does not take `input`: here `weights` and `data`.
        settings=lambda wildcards, input: training_settings(wildcards),
        weights=lambda wildcards: as_recorded(wildcards, training_settings(wildcards), recorded.of_training),
        data=lambda wildcards: as_recorded(wildcards, job_settings.data_settings(CONFIG), recorded.of_text),
        continue_from=lambda wildcards, input: (
            options.option("continue-from", input.base) if input.get("base") else ""
        ),
        train=lambda wildcards, input: os.path.dirname(input.train[0]),
        dev=lambda wildcards, input: os.path.dirname(input.dev[0]),
    shell:
        # In a job of Slurm it stops cleanly before its time limit; submitted again, it resumes.
        "nmt train --settings {params.settings:q} --train {params.train:q} --dev {params.dev:q}"
        " --source-vocabulary {input.source_vocabulary:q} --target-vocabulary {input.target_vocabulary:q}"
        " {params.continue_from} --state state/{wildcards.model} --output models/{wildcards.model} --if-locked wait"
        " --job-minutes {resources.runtime} 2>&1 | tee -i {log:q}"
