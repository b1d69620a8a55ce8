"""One job a run (a model at a seed), whose name stands for {model}. Only its settings, and those of its text, make it run again: never a comment, cores or paths."""


rule train:
    """Train a model, or go on with one that was stopped: checkpoints lie in state/, which no rule declares or deletes."""
    input:
        train=ancient(bitext("train")),
        dev=ancient(bitext("dev")),
        source_vocabulary=ancient(vocabularies()[0]),
        target_vocabulary=ancient(vocabularies()[1]),
        base=base_state,
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
    benchmark:
        "benchmarks/train/{model}.tsv"
    priority: lambda wildcards: urgency(wildcards.model)
    retries: training_retries()
    conda:
        "../../envs/train.yaml"
    threads: lambda wildcards: training_of(wildcards).threads
    resources:
        gpu=lambda wildcards: gpus(training_of(wildcards).device),
        mem_mb=1000 * CONFIG.resources.train_memory_gb,
        runtime=training_minutes,
    params:
        settings=model_run,
        data=data_settings,
        continue_from=continue_option,
        train=lambda wildcards, input: folder_of(input.train),
        dev=lambda wildcards, input: folder_of(input.dev),
    shell:
        # In a job of Slurm it stops in good order before its time is over; submitted again, it goes on.
        "nmt train --settings {params.settings:q} --train {params.train:q} --dev {params.dev:q}"
        " --source-vocabulary {input.source_vocabulary:q} --target-vocabulary {input.target_vocabulary:q}"
        " {params.continue_from} --state state/{wildcards.model} --output models/{wildcards.model} --if-locked wait"
        " --job-minutes {resources.runtime} 2>&1 | tee -i {log:q}"
