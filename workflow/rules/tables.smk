"""The paper's tables and what else is measured, from the scores and summaries of this run."""


# Seconds of work each: they would wait longer in a cluster's queue.
localrules:
    significance,
    table1,
    table2,
    table3,
    tables_document,


# The tables that a run is for; each is made as .csv, .md and .tex.
TABLES = ["table1", "significance", "table2", "table3"] + (
    ["ablations"] if CONFIG.artifacts.ablations else []
)


rule compare:
    """How sure the scores are: intervals, paired significance of each pair of models, and today's metrics."""
    input:
        translations=translations_of(COMPARED),
        source=test_tokens(SOURCE),
        reference=test_tokens(TARGET),
        raw_reference=[raw_reference()] if raw_reference() else [],
        given=[CONFIG.artifacts.moses_translations] if CONFIG.artifacts.moses_translations else [],
    output:
        comparison="results/comparison.json",
    log:
        "logs/report/compare.log",
    benchmark:
        "benchmarks/report/compare.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        settings=report_settings,
        models=lambda wildcards, input: options.compared(CONFIG, input.translations),
        others=lambda wildcards, input: options.given(input.given),
        raw_reference=lambda wildcards, input: options.repeated("raw-reference", input.raw_reference),
    shell:
        "nmt compare {params.models} {params.others} {params.raw_reference} --source {input.source:q} --reference {input.reference:q}"
        " --settings {params.settings:q} --output {output.comparison:q} 2>&1 | tee -i {log:q}"


rule significance:
    """Each pair of models: its difference in BLEU, and how likely chance makes it."""
    input:
        comparison="results/comparison.json",
    output:
        csv=report("results/significance.csv", caption="../report/significance.rst", category="Tables"),
        md="results/significance.md",
        tex="results/significance.tex",
    log:
        "logs/report/significance.log",
    benchmark:
        "benchmarks/report/significance.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=report_settings,
    shell:
        "nmt significance --comparison {input.comparison:q} --settings {params.settings:q}"
        " --output-csv {output.csv:q} --output-md {output.md:q} --output-tex {output.tex:q} 2>&1 | tee -i {log:q}"


rule table1:
    """Table 1: BLEU of every model, All and No UNK."""
    input:
        scores=expand("scores/{run}.json", run=runs(CONFIG.use.models)),
        summaries=run_files(runs(CONFIG.use.models), "summary.json"),
        comparison="results/comparison.json",
        paper=PAPER,
    output:
        csv=report("results/table1.csv", caption="../report/table1.rst", category="Tables"),
        md="results/table1.md",
        tex="results/table1.tex",
    log:
        "logs/report/table1.log",
    benchmark:
        "benchmarks/report/table1.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=report_settings,
        scores=lambda wildcards, input: options.repeated("score", input.scores),
        summaries=lambda wildcards, input: options.repeated("summary", input.summaries),
    shell:
        "nmt table1 {params.scores} {params.summaries} --comparison {input.comparison:q} --paper {input.paper:q}"
        " --settings {params.settings:q} --output-csv {output.csv:q} --output-md {output.md:q} --output-tex {output.tex:q}"
        " 2>&1 | tee -i {log:q}"


rule table2:
    """Table 2: updates, epochs, hours and negative log-likelihoods of every model."""
    input:
        summaries=run_files(runs(CONFIG.use.models), "summary.json"),
        paper=PAPER,
    output:
        csv=report("results/table2.csv", caption="../report/table2.rst", category="Tables"),
        md="results/table2.md",
        tex="results/table2.tex",
    log:
        "logs/report/table2.log",
    benchmark:
        "benchmarks/report/table2.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=report_settings,
        summaries=lambda wildcards, input: options.repeated("summary", input.summaries),
    shell:
        "nmt table2 {params.summaries} --paper {input.paper:q} --settings {params.settings:q}"
        " --output-csv {output.csv:q} --output-md {output.md:q} --output-tex {output.tex:q} 2>&1 | tee -i {log:q}"


rule table3:
    """Table 3: long sentences, their reference, and what the models make of them."""
    input:
        translations=[translated(model, "all") for model in CONFIG.artifacts.table3_models],
        reference=test_tokens(TARGET),
        paper=PAPER,
    output:
        csv=report("results/table3.csv", caption="../report/table3.rst", category="Tables"),
        md="results/table3.md",
        tex="results/table3.tex",
    log:
        "logs/report/table3.log",
    benchmark:
        "benchmarks/report/table3.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=report_settings,
        translations=lambda wildcards, input: options.paired(
            "translations", CONFIG.artifacts.table3_models, input.translations
        ),
        seeds=shown_seeds(CONFIG.artifacts.table3_models),
    shell:
        "nmt table3 {params.translations} --reference {input.reference:q} --paper {input.paper:q}"
        " --settings {params.settings:q} --output-csv {output.csv:q} --output-md {output.md:q}"
        " --output-tex {output.tex:q} 2>&1 | tee -i {log:q}"


rule tables_document:
    """A LaTeX document of all tables, which compiles by itself."""
    input:
        tables=expand("results/{table}.tex", table=TABLES),
    output:
        tex="results/tables.tex",
    log:
        "logs/report/tables_document.log",
    benchmark:
        "benchmarks/report/tables_document.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        tables=lambda wildcards, input: options.repeated("table", input.tables),
    shell:
        "nmt tables-document {params.tables} --output {output.tex:q} 2>&1 | tee -i {log:q}"


if CONFIG.artifacts.ablations:

    localrules:
        ablations,

    rule ablations:
        """Ambiguous details of the paper: each interpretation against its baseline."""
        input:
            scores=expand("scores/{run}.json", run=runs(experiment.compared_models(CONFIG))),
            summaries=run_files(runs(experiment.compared_models(CONFIG)), "summary.json"),
            settings=run_files(runs(experiment.compared_models(CONFIG)), "settings.json"),
        output:
            csv=report("results/ablations.csv", caption="../report/ablations.rst", category="Tables"),
            md="results/ablations.md",
            tex="results/ablations.tex",
        log:
            "logs/report/ablations.log",
        benchmark:
            "benchmarks/report/ablations.tsv"
        conda:
            "../../envs/report.yaml"
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            settings=report_settings,
            scores=lambda wildcards, input: options.repeated("score", input.scores),
            summaries=lambda wildcards, input: options.repeated("summary", input.summaries),
            run_settings=lambda wildcards, input: options.repeated("run-settings", input.settings),
        shell:
            "nmt ablations {params.scores} {params.summaries} {params.run_settings} --settings {params.settings:q}"
            " --output-csv {output.csv:q} --output-md {output.md:q} --output-tex {output.tex:q} 2>&1 | tee -i {log:q}"


if gold_alignments():

    localrules:
        alignment_error_rate,

    rule alignment_error_rate:
        """Compare a model's alignments with known ones, and a plain diagonal with them too."""
        input:
            alignments=lambda wildcards: aligned(wildcards.model),
            gold=gold_alignments(),
        output:
            rate=report(
                "results/alignment_error_rate/{model}.json",
                caption="../report/alignment_error_rate.rst",
                category="Alignments",
            ),
        log:
            "logs/report/alignment_error_rate/{model}.log",
        benchmark:
            "benchmarks/report/alignment_error_rate/{model}.tsv"
        conda:
            "../../envs/report.yaml"
        resources:
            mem_mb=2000,
            runtime=30,
        shell:
            "nmt alignment-error-rate --model {wildcards.model} --alignments {input.alignments:q}"
            " --gold {input.gold:q} --output {output.rate:q} 2>&1 | tee -i {log:q}"
