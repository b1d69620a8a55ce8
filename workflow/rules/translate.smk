"""Translate the test and development text, read off alignments, and compute perplexity and BLEU.

In:  models/RUN, tokenized text of the sets.
Out: translations/SET/SYSTEM.MODE.jsonl, alignments/RUN.jsonl, perplexity/SYSTEM.json, scores/SET/SYSTEM.json.
"""

if "dev" in SETS:

    rule dev_text:
        """Join one side of the development corpora, to be translated as one text."""
        input:
            tokens=lambda wildcards: paths.token_files(CONFIG.use.dev, wildcards.language),
        output:
            text="data/dev.{language}.zst",
        log:
            "logs/translate/dev_text.{language}.log",
        localrule: True
        params:
            rerun_if_order_changes=CONFIG.use.dev,
        # Without sync, a power cut could leave an empty file, which Snakemake would take for complete.
        shell:
            "(cat {input.tokens:q} > {output.text:q} && sync {output.text:q}) 2> {log:q}"


rule translate:
    """Translate a set. Mode `all`: all sentences. Mode `no_unk`: sentences without unknown words, without any [UNK]."""
    input:
        model=lambda wildcards: paths.model_files(plan.systems[wildcards.system].members),
        source=lambda wildcards: paths.evaluation_file(wildcards.set, SOURCE),
        reference=lambda wildcards: paths.evaluation_file(wildcards.set, TARGET),
    output:
        translations="translations/{set}/{system}.{mode}.jsonl",
        provenance="translations/{set}/{system}.{mode}.provenance.json",
    log:
        "logs/translate/{set}/{system}.{mode}.log",
    threads: lambda wildcards: jobs.count_cores(plan.systems[wildcards.system].decoding.threads)
    resources:
        gpu=lambda wildcards: count_gpus(plan.systems[wildcards.system].decoding.device),
        mem_mb=scale_memory(jobs.data_memory, per_input_mb=1),
        runtime=math.ceil(60 * CONFIG.resources.translate_hours),
    params:
        rerun_if_settings_change=lambda wildcards: plan.systems[wildcards.system].decoding.deciding_fields(),
        # all settings; Snakemake does not compare them, since the function takes `input`
        settings_json=lambda wildcards, input: plan.systems[wildcards.system].decoding.model_dump_json(),
        model_arguments=lambda wildcards: jobs.list_model_arguments(plan.systems[wildcards.system]),
        rerun_if_models_change=jobs.pretrained_model_stamps,
    shell:
        "NMT_LOG={log:q} nmt test-set decode --model {params.model_arguments:q} --source {input.source:q}"
        " --reference {input.reference:q} --mode {wildcards.mode} --settings {params.settings_json:q}"
        " --output {output.translations:q} 2>&1 | tee -i {log:q}"


rule align:
    """Write a model's attention while it scores the references of the test set (forced decoding)."""
    input:
        model=lambda wildcards: paths.model_files([wildcards.run]),
        source=paths.evaluation_file("test", SOURCE),
        target=paths.evaluation_file("test", TARGET),
    output:
        alignments="alignments/{run}.jsonl",
    log:
        "logs/align/{run}.log",
    wildcard_constraints:
        run=options.match_any(
            name for name, run in plan.runs.items() if CONFIG.models[run.model].has_attention
        ),
    threads: jobs.model_threads
    resources:
        **jobs.model_resources,
    params:
        model=lambda wildcards: paths.model_folder(wildcards.run),
        rerun_if_models_change=jobs.pretrained_model_stamps,
        options=jobs.decoding_options,
    shell:
        "NMT_LOG={log:q} nmt test-set align --model {params.model:q} --source {input.source:q} --target {input.target:q}"
        " {params.options} --output {output.alignments:q} 2>&1 | tee -i {log:q}"


rule perplexity:
    """Measure the perplexity of the test set's reference (Sutskever et al., 2014, Sec. 3.3)."""
    input:
        model=lambda wildcards: paths.model_files(plan.systems[wildcards.system].members),
        source=paths.evaluation_file("test", SOURCE),
        reference=paths.evaluation_file("test", TARGET),
    output:
        perplexity="perplexity/{system}.json",
    log:
        "logs/perplexity/{system}.log",
    threads: jobs.model_threads
    resources:
        **jobs.model_resources,
    params:
        model_arguments=lambda wildcards: jobs.list_model_arguments(plan.systems[wildcards.system]),
        name_and_seed=jobs.system_options,
        rerun_if_models_change=jobs.pretrained_model_stamps,
        options=jobs.decoding_options,
    shell:
        "NMT_LOG={log:q} nmt test-set perplexity --model {params.model_arguments:q} {params.name_and_seed}"
        " --source {input.source:q} --reference {input.reference:q} {params.options}"
        " --output {output.perplexity:q} 2>&1 | tee -i {log:q}"


rule bleu:
    """Compute BLEU on tokens, All and No UNK, with signature and by sentence length."""
    input:
        all="translations/{set}/{system}.all.jsonl",
        no_unk="translations/{set}/{system}.no_unk.jsonl",
        source=lambda wildcards: paths.evaluation_file(wildcards.set, SOURCE),
        reference=lambda wildcards: paths.evaluation_file(wildcards.set, TARGET),
    output:
        scores="scores/{set}/{system}.json",
    log:
        "logs/score/{set}/{system}.log",
    localrule: True
    params:
        model=lambda wildcards: plan.systems[wildcards.system].model,
        seed=lambda wildcards: plan.systems[wildcards.system].seed,
    script:
        "../scripts/bleu.py"


# The systems, of all sets, that have only the text of their translations.
TEXT_ONLY_SYSTEMS = []
for systems_of_set in plan.text_only_systems.values():
    TEXT_ONLY_SYSTEMS += systems_of_set


rule bleu_of_text:
    """Compute BLEU of translations in a plain text: Moses', made here or by the user, or the best of n-best lists."""
    input:
        text=lambda wildcards: paths.plain_text_translations(wildcards.set, wildcards.system),
        # the sentences without unknown words are those of the first model
        no_unk=f"translations/{{set}}/{plan.selected_runs[0]}.no_unk.jsonl",
        source=lambda wildcards: paths.evaluation_file(wildcards.set, SOURCE),
        reference=lambda wildcards: paths.evaluation_file(wildcards.set, TARGET),
    output:
        scores="scores/{set}/{system}.json",
    log:
        "logs/score/{set}/{system}.log",
    wildcard_constraints:
        system=options.match_any(TEXT_ONLY_SYSTEMS),
    localrule: True
    params:
        model="{system}",
        seed=None,
        rerun_if_files_change=jobs.user_file_stamps,
    script:
        "../scripts/bleu.py"


ruleorder: bleu_of_text > bleu
