"""Train models: one job per run, which is a model at a seed.

In:  data/binary, data/vocabulary.
Out: models/RUN/: weights, settings, history, summary, vocabularies.
"""

from pipeline.monitor.forecast import count_training_retries, request_training_minutes

# Only the Snakemake that submits jobs to a cluster repeats a failed training. On one machine the user sees the error, and
# the Snakemake that runs inside a submitted job would repeat the training as often once more.
RETRIES = count_training_retries(CONFIG, plan.runs.values()) if SUBMITS_JOBS else 0

SHARED_STORES = " ".join(options.format_option("shared-store", store) for store in FOLDER.shared_stores)


rule train:
    """Train a model, or resume its training, in store/, and copy it from there. No rule has files of store/ as outputs.

    If the settings of the model or its text change, the job is repeated. It ends in seconds if the store has the model.
    A job of Slurm stops before its time limit, is submitted again, and resumes the training.
    """
    input:
        **VOCABULARIES,
        train=BITEXT["train"],
        dev=BITEXT["dev"],
        base=jobs.base_files,
        initial_model=jobs.initial_model_files,
    output:
        model="models/{run}/model.safetensors",
        final_state="models/{run}/final_state.safetensors",
        summary="models/{run}/summary.json",
        history="models/{run}/history.jsonl",
        settings="models/{run}/settings.json",
        source_vocabulary="models/{run}/source.tsv",
        target_vocabulary="models/{run}/target.tsv",
    log:
        "logs/train/{run}.log",
    priority: lambda wildcards: cluster.get_priority(CONFIG, plan.runs[wildcards.run])
    retries: RETRIES
    threads: lambda wildcards: jobs.count_cores(jobs.get_training(wildcards.run).threads)
    resources:
        gpu=lambda wildcards: count_gpus(jobs.get_training(wildcards.run).device),
        mem_mb=1000 * CONFIG.resources.train_memory_gb,
        runtime=lambda wildcards: request_training_minutes(CONFIG, plan.runs[wildcards.run]),
        # Slurm starts jobs with a lower nice value first, whatever the order in which they are submitted.
        slurm_extra=jobs.nice_option,
    params:
        rerun_if_settings_change=lambda wildcards: job_settings.get_training_settings(
            CONFIG, plan.runs[wildcards.run]
        ),
        # all settings; Snakemake does not compare them, since the function takes `input`
        settings_json=lambda wildcards, input: get_run_settings(
            CONFIG, plan.runs[wildcards.run]
        ).model_dump_json(),
        train=lambda wildcards, input: os.path.dirname(input.train[0]),
        dev=lambda wildcards, input: os.path.dirname(input.dev[0]),
        continue_from=lambda wildcards, input: format_folder_option("continue-from", input.get("base")),
        init_from=lambda wildcards, input: format_folder_option("init-from", input.get("initial_model")),
        shared_stores=no_rerun_if_changed(SHARED_STORES),
    shell:
        "NMT_LOG={log:q} nmt train --settings {params.settings_json:q} --train {params.train:q} --dev {params.dev:q}"
        " --source-vocabulary {input.source_vocabulary:q} --target-vocabulary {input.target_vocabulary:q}"
        " {params.continue_from} {params.init_from} --store store {params.shared_stores} --output models/{wildcards.run}"
        " --if-locked wait --job-minutes {resources.runtime} 2>&1 | tee -i {log:q}"
