"""Translate the test and development text, read off alignments, and compute perplexity and BLEU.

In:  models/RUN, tokenized text of the sets.
Out: translations/SET/SYSTEM.MODE.jsonl, alignments/RUN.jsonl, perplexity/SYSTEM.json, scores/SET/SYSTEM.json.
"""

for system in plan.systems.values():
    SETTINGS_FILES.add(f"translate/{system.name}", system.decoding)

if "dev" in SETS:

    rule dev_text:
        """Join one side of the development corpora, to be translated as one text."""
        input:
            tokens=dev_tokens,
        output:
            text="data/dev.{language}.zst",
        log:
            "logs/translate/dev_text.{language}.log",
        localrule: True
        # sync: as in package_settings
        shell:
            "(cat {input.tokens:q} > {output.text:q} && sync {output.text:q}) 2> {log:q}"


rule translate:
    """Translate a set. Mode `all`: all sentences. Mode `no_unk`: those without unknown words, and [UNK] is forbidden."""
    input:
        settings="settings/translate/{system}.json",
        model=member_models,
        source=source_of_set,
        reference=reference_of_set,
    output:
        translations="translations/{set}/{system}.{mode}.jsonl",
        provenance="translations/{set}/{system}.{mode}.provenance.json",
    log:
        "logs/translate/{set}/{system}.{mode}.log",
    threads: translation_threads
    resources:
        gpu=translation_gpus,
        mem_mb=scale_memory(DATA_MEMORY, per_input_mb=1),
        runtime=math.ceil(60 * CONFIG.resources.translate_hours),
        time_limit_key="translate_hours",
    params:
        model_arguments=member_arguments,
    shell:
        "NMT_LOG={log:q} nmt test-set decode --model {params.model_arguments:q} --source {input.source:q}"
        " --reference {input.reference:q} --mode {wildcards.mode} --settings {input.settings:q} --store store"
        " --output {output.translations:q} 2>&1 | tee -i {log:q}"


rule align:
    """Write a model's attention while it reads the reference of the test set instead of translating (forced decoding)."""
    input:
        model=model_of_run,
        source=set_file("test", SOURCE),
        target=set_file("test", TARGET),
    output:
        alignments="alignments/{run}.jsonl",
    log:
        "logs/align/{run}.log",
    wildcard_constraints:
        run=options.match_any(
            name for name, run in plan.runs.items() if CONFIG.models[run.model].has_attention
        ),
    threads: MODEL_JOB_THREADS
    resources:
        **MODEL_JOB_RESOURCES,
    params:
        model=model_folder_of_run,
        options=not_tracked(DECODING_OPTIONS),
    shell:
        "NMT_LOG={log:q} nmt test-set align --model {params.model:q} --source {input.source:q} --target {input.target:q}"
        " {params.options} --store store --output {output.alignments:q} 2>&1 | tee -i {log:q}"


rule perplexity:
    """Measure the perplexity of the test set's reference (Sutskever et al., 2014, Sec. 3.3)."""
    input:
        model=member_models,
        source=set_file("test", SOURCE),
        reference=set_file("test", TARGET),
    output:
        perplexity="perplexity/{system}.json",
    log:
        "logs/perplexity/{system}.log",
    threads: MODEL_JOB_THREADS
    resources:
        **MODEL_JOB_RESOURCES,
    params:
        model_arguments=member_arguments,
        name_and_seed=system_options,
        options=not_tracked(DECODING_OPTIONS),
    shell:
        "NMT_LOG={log:q} nmt test-set perplexity --model {params.model_arguments:q} {params.name_and_seed}"
        " --source {input.source:q} --reference {input.reference:q} {params.options} --store store"
        " --output {output.perplexity:q} 2>&1 | tee -i {log:q}"


rule bleu:
    """Compute BLEU on tokens, All and No UNK, with signature and by sentence length."""
    input:
        all="translations/{set}/{system}.all.jsonl",
        no_unk="translations/{set}/{system}.no_unk.jsonl",
        source=source_of_set,
        reference=reference_of_set,
    output:
        scores="scores/{set}/{system}.json",
    log:
        "logs/score/{set}/{system}.log",
    localrule: True
    params:
        model=system_model,
        seed=system_seed,
    script:
        "../scripts/bleu.py"


# The systems, of all sets, that have only the text of their translations.
TEXT_ONLY_SYSTEMS = []
for systems_of_set in plan.text_only_systems.values():
    TEXT_ONLY_SYSTEMS += systems_of_set


rule bleu_of_text:
    """Compute the same scores from a plain text: of Moses, measured here or given, or of rescored n-best lists."""
    input:
        text=text_of_system,
        file_stamps=FILE_STAMPS,
        # the sentences without unknown words are those of the first model
        no_unk=f"translations/{{set}}/{plan.selected_runs[0]}.no_unk.jsonl",
        source=source_of_set,
        reference=reference_of_set,
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
    script:
        "../scripts/bleu.py"


ruleorder: bleu_of_text > bleu
