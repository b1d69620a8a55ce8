"""Beam search, alignments and BLEU."""

if "dev" in SETS:

    rule dev_text:
        """Join one side of the development corpora, to be translated as one text."""
        input:
            tokens=lambda wildcards: tokens(CONFIG.use.dev, wildcards.language),
        output:
            text="data/dev.{language}.zst",
        log:
            "logs/translate/dev_text.{language}.log",
        localrule: True
        shell:
            "cat {input.tokens:q} 2> {log:q} > {output.text:q}"


for system in SYSTEMS.values():
    SETTINGS.add(f"translate/{system.name}", system.decoding)


rule translate:
    """Translate a set: all of it, or only the sentences without unknown words and then without [UNK]."""
    input:
        settings="settings/translate/{model}.json",
        model=model_files,
        source=lambda wildcards: set_tokens(wildcards.set, SOURCE),
        reference=lambda wildcards: set_tokens(wildcards.set, TARGET),
    output:
        translations="translations/{set}/{model}.{mode}.jsonl",
        record="translations/{set}/{model}.{mode}.provenance.json",
    log:
        "logs/translate/{set}/{model}.{mode}.log",
    threads: lambda wildcards: cores_of(SYSTEMS[wildcards.model].decoding.threads)
    resources:
        gpu=lambda wildcards: gpu_of(SYSTEMS[wildcards.model].decoding.device),
        mem_mb=memory(DATA_MEMORY, per_input=1),
        runtime=math.ceil(60 * CONFIG.resources.translate_hours),
        time_setting="translate_hours",
    params:
        model=lambda wildcards: model_options(SYSTEMS[wildcards.model]),
    shell:
        "nmt test-set decode --model {params.model:q} --source {input.source:q} --reference {input.reference:q}"
        " --mode {wildcards.mode} --settings {input.settings:q} --store store --output {output.translations:q}"
        " 2>&1 | tee -i {log:q}"


rule align:
    """Read off the attention of a model while it is made to write the reference."""
    input:
        model=model_files,
        source=test_tokens(SOURCE),
        target=test_tokens(TARGET),
    output:
        alignments="alignments/{model}.jsonl",
    log:
        "logs/align/{model}.log",
    wildcard_constraints:
        model=options.any_of(run for run in RUNS if CONFIG.models[RUNS[run].model].aligns),
    threads: MODEL_CORES
    resources:
        **WITH_MODELS,
    params:
        model=lambda wildcards: f"{MODELS}/{wildcards.model}",
        options=lambda wildcards, input: MODEL_OPTIONS,
    shell:
        "nmt test-set align --model {params.model:q} --source {input.source:q} --target {input.target:q}"
        " {params.options} --store store --output {output.alignments:q} 2>&1 | tee -i {log:q}"


rule perplexity:
    """Measure the perplexity of the test set's reference (Sutskever et al., 2014, Sec. 3.3)."""
    input:
        model=model_files,
        source=test_tokens(SOURCE),
        reference=test_tokens(TARGET),
    output:
        perplexity="perplexity/{model}.json",
    log:
        "logs/perplexity/{model}.log",
    threads: MODEL_CORES
    resources:
        **WITH_MODELS,
    params:
        model=lambda wildcards: model_options(SYSTEMS[wildcards.model]),
        run=lambda wildcards: options.known(
            [("name", SYSTEMS[wildcards.model].model), ("seed", SYSTEMS[wildcards.model].seed)]
        ),
        options=lambda wildcards, input: MODEL_OPTIONS,
    shell:
        "nmt test-set perplexity --model {params.model:q} {params.run} --source {input.source:q} --reference {input.reference:q}"
        " {params.options} --store store --output {output.perplexity:q} 2>&1 | tee -i {log:q}"


rule score:
    """Compute BLEU on tokens, All and No UNK, with signature and by sentence length."""
    input:
        all="translations/{set}/{model}.all.jsonl",
        no_unk="translations/{set}/{model}.no_unk.jsonl",
        source=lambda wildcards: set_tokens(wildcards.set, SOURCE),
        reference=lambda wildcards: set_tokens(wildcards.set, TARGET),
    output:
        scores="scores/{set}/{model}.json",
    log:
        "logs/score/{set}/{model}.log",
    localrule: True
    params:
        model=lambda wildcards: SYSTEMS[wildcards.model].model,
        seed=lambda wildcards: SYSTEMS[wildcards.model].seed,
    script:
        "../scripts/score.py"


rule score_text:
    """Compute the same scores of a system that is no model: Moses, measured here or given, and rescored lists."""
    input:
        text=lambda wildcards: OTHER_SYSTEMS[wildcards.set][wildcards.system],
        no_unk=f"translations/{{set}}/{RUNS_IN_USE[0]}.no_unk.jsonl",
        source=lambda wildcards: set_tokens(wildcards.set, SOURCE),
        reference=lambda wildcards: set_tokens(wildcards.set, TARGET),
    output:
        scores="scores/{set}/{system}.json",
    log:
        "logs/score/{set}/{system}.log",
    wildcard_constraints:
        system=options.any_of(system for files in OTHER_SYSTEMS.values() for system in files),
    localrule: True
    params:
        model="{system}",
        seed=None,
    script:
        "../scripts/score.py"


ruleorder: score_text > score


rule package:
    """Complete a model's folder with languages, tokenization and decoding, so that it can translate raw text."""
    input:
        model=model_files,
        settings=SETTINGS.add("text", job_settings.get_text_settings(CONFIG)),
    output:
        text="models/{model}/text.json",
    log:
        "logs/package/{model}.log",
    localrule: True
    shell:
        "nmt model package --model models/{wildcards.model} --settings {input.settings:q} 2>&1 | tee -i {log:q}"
