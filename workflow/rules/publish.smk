"""What makes results worth publishing: the parts that they were made of, where they come from, model cards, releases."""


localrules:
    parts,
    model_card,


rule parts:
    """Keep translations, test text, summaries and settings beside the tables, which can be made again of them."""
    input:
        translations=translations_of(runs(CONFIG.use.models)),
        making=making_of(runs(CONFIG.use.models)),
        files=[run_files(runs(CONFIG.use.models), name) for name in RUN_FILES],
        source=test_tokens(SOURCE),
        reference=test_tokens(TARGET),
        raw_reference=raw_reference(),
        given=CONFIG.artifacts.moses_translations or [],
        gold=GOLD or [],
        alignments=[aligned(run) for run in measured_runs()],
        paper=PAPER,
    output:
        translations=kept_translations(),
        making=kept_making(),
        alignments=kept_alignments(),
        files=kept_run_files(),
        text=kept_text(),
        configuration=RESULTS.configuration,
        paper=RESULTS.paper,
    log:
        "logs/publish/parts.log",
    benchmark:
        "benchmarks/publish/parts.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        configuration=configuration,
        runs=kept_runs,
        options=kept_options,
        attention=CONFIG.artifacts.figure3_model,
    shell:
        "nmt keep {params.runs} --test {input.source:q} {input.reference:q} --attention {params.attention}"
        " {params.options} --paper {input.paper:q} --configuration {params.configuration:q} --output results 2>&1 | tee -i {log:q}"


rule provenance:
    """Record where the results come from, last of all: code, settings, text, models, and the sum of every file."""
    input:
        files=[*artifacts(), "results/comparison.json", *parts_kept()],
    output:
        record="results/ro-crate-metadata.json",
    log:
        "logs/publish/provenance.log",
    benchmark:
        "benchmarks/publish/provenance.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        # of the sweep, which the page shows where it was made, as it was when this run began
        files=lambda wildcards, input: repeated("--file", [*input.files, *sweep_made()]),
        archives=f"{DATA}/archives",
    shell:
        "nmt provenance results {params.files} --archives {params.archives:q} 2>&1 | tee -i {log:q}"


rule model_card:
    """Write a model's card once there are scores."""
    input:
        summary="models/{model}/summary.json",
        settings="models/{model}/settings.json",
        scores="scores/{model}.json",
    output:
        card="models/{model}/README.md",
    log:
        "logs/publish/{model}.card.log",
    benchmark:
        "benchmarks/publish/{model}.card.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        text=card_options,
    shell:
        "nmt model-card --model models/{wildcards.model} --scores {input.scores:q} {params.text} 2>&1 | tee -i {log:q}"


rule release:
    """Pack a model for others."""
    input:
        model=[f"models/{{model}}/{name}" for name in RELEASE_FILES],
    output:
        archive="releases/{model}.tar.zst",
    log:
        "logs/publish/{model}.release.log",
    benchmark:
        "benchmarks/publish/{model}.release.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    shell:
        "nmt release --model models/{wildcards.model} --output {output.archive:q} 2>&1 | tee -i {log:q}"
