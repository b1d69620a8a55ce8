"""The paper's tables and figures, from the scores and summaries of this run."""


# Seconds of work each: they would wait longer in a cluster's queue.
localrules:
    significance,
    table1,
    table2,
    table3,
    figure2,
    unknown_words,
    figure3,
    learning_curves,
    explorer,
    report,


rule compare:
    """How sure the scores are: intervals, paired significance of each pair of models, and today's metrics."""
    input:
        translations=translations_of(runs(CONFIG.use.models)),
        source=test_tokens(SOURCE),
        reference=test_tokens(TARGET),
        raw_reference=raw_reference(),
        given=CONFIG.artifacts.moses_translations or [],
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
        systems=comparison_options,
    shell:
        "nmt compare {params.systems} --source {input.source:q} --reference {input.reference:q}"
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
        scores=scores(runs(CONFIG.use.models)),
        summaries=summaries(runs(CONFIG.use.models)),
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
        scores=lambda wildcards, input: repeated("--score", input.scores),
        summaries=lambda wildcards, input: repeated("--summary", input.summaries),
    shell:
        "nmt table1 {params.scores} {params.summaries} --comparison {input.comparison:q} --paper {input.paper:q}"
        " --settings {params.settings:q} --output-csv {output.csv:q} --output-md {output.md:q} --output-tex {output.tex:q}"
        " 2>&1 | tee -i {log:q}"


rule table2:
    """Table 2: updates, epochs, hours and negative log-likelihoods of every model."""
    input:
        summaries=summaries(runs(CONFIG.use.models)),
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
        summaries=lambda wildcards, input: repeated("--summary", input.summaries),
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
        translations=table3_options,
        seeds=shown_seeds(CONFIG.artifacts.table3_models),
    shell:
        "nmt table3 {params.translations} --reference {input.reference:q} --paper {input.paper:q}"
        " --settings {params.settings:q} --output-csv {output.csv:q} --output-md {output.md:q}"
        " --output-tex {output.tex:q} 2>&1 | tee -i {log:q}"


rule figure2:
    """Figure 2: BLEU against sentence length."""
    input:
        scores=scores(CONFIG.artifacts.figure2_models),
    output:
        pdf="results/figure2.pdf",
        png=report("results/figure2.png", caption="../report/figure2.rst", category="Figures"),
    log:
        "logs/report/figure2.log",
    benchmark:
        "benchmarks/report/figure2.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=report_settings,
        scores=lambda wildcards, input: repeated("--score", input.scores),
        seeds=shown_seeds(CONFIG.artifacts.figure2_models),
    shell:
        "nmt figure2 {params.scores} --settings {params.settings:q}"
        " --output-pdf {output.pdf:q} --output-png {output.png:q} 2>&1 | tee -i {log:q}"


rule unknown_words:
    """BLEU against the number of unknown words in the source (Cho et al., 2014b, Fig. 4c)."""
    input:
        scores=scores(CONFIG.artifacts.figure2_models),
    output:
        pdf="results/unknown_words.pdf",
        png=report("results/unknown_words.png", caption="../report/unknown_words.rst", category="Figures"),
    log:
        "logs/report/unknown_words.log",
    benchmark:
        "benchmarks/report/unknown_words.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=report_settings,
        scores=lambda wildcards, input: repeated("--score", input.scores),
        seeds=shown_seeds(CONFIG.artifacts.figure2_models),
    shell:
        "nmt unknown-words {params.scores} --settings {params.settings:q}"
        " --output-pdf {output.pdf:q} --output-png {output.png:q} 2>&1 | tee -i {log:q}"


rule figure3:
    """Figure 3: four alignments."""
    input:
        all=translated(CONFIG.artifacts.figure3_model, "all"),
        no_unk=translated(CONFIG.artifacts.figure3_model, "no_unk"),
        paper=PAPER,
    output:
        pdf="results/figure3.pdf",
        png=report("results/figure3.png", caption="../report/figure3.rst", category="Figures"),
    log:
        "logs/report/figure3.log",
    benchmark:
        "benchmarks/report/figure3.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=report_settings,
        seeds=shown_seeds([CONFIG.artifacts.figure3_model]),
    shell:
        "nmt figure3 --all {input.all:q} --no-unk {input.no_unk:q} --paper {input.paper:q}"
        " --settings {params.settings:q}"
        " --output-pdf {output.pdf:q} --output-png {output.png:q} 2>&1 | tee -i {log:q}"


rule learning_curves:
    """The learning curves of every run."""
    input:
        summaries=summaries(runs(CONFIG.use.models)),
        histories=histories(runs(CONFIG.use.models)),
    output:
        pdf="results/learning_curves.pdf",
        png=report("results/learning_curves.png", caption="../report/learning_curves.rst", category="Figures"),
    log:
        "logs/report/learning_curves.log",
    benchmark:
        "benchmarks/report/learning_curves.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=report_settings,
        summaries=lambda wildcards, input: repeated("--summary", input.summaries),
        histories=lambda wildcards, input: repeated("--history", input.histories),
    shell:
        "nmt learning-curves {params.summaries} {params.histories} --settings {params.settings:q}"
        " --output-pdf {output.pdf:q} --output-png {output.png:q} 2>&1 | tee -i {log:q}"


rule explorer:
    """A page to explore the translations of every model in use and what each word attended to, in one file."""
    input:
        translations=translations(CONFIG.use.models),
        reference=test_tokens(TARGET),
    output:
        page=report("results/explorer.html", caption="../report/explorer.rst", category="Translations"),
    log:
        "logs/report/explorer.log",
    benchmark:
        "benchmarks/report/explorer.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        translations=lambda wildcards, input: labelled(CONFIG.use.models, input.translations),
        title=f"Translations of {TEST}",
        seeds=shown_seeds(CONFIG.use.models),
    shell:
        "nmt explorer {params.translations} --reference {input.reference:q} --title {params.title:q}"
        " --output {output.page:q} 2>&1 | tee -i {log:q}"


if CONFIG.artifacts.ablations:

    localrules:
        ablations,

    rule ablations:
        """Ambiguous details of the paper: each interpretation against its baseline."""
        input:
            scores=scores(runs(compared_models())),
            summaries=summaries(runs(compared_models())),
            settings=settings_files(runs(compared_models())),
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
            scores=lambda wildcards, input: repeated("--score", input.scores),
            summaries=lambda wildcards, input: repeated("--summary", input.summaries),
            run_settings=lambda wildcards, input: repeated("--run-settings", input.settings),
        shell:
            "nmt ablations {params.scores} {params.summaries} {params.run_settings} --settings {params.settings:q}"
            " --output-csv {output.csv:q} --output-md {output.md:q} --output-tex {output.tex:q} 2>&1 | tee -i {log:q}"


if GOLD:

    localrules:
        alignment_error_rate,

    rule alignment_error_rate:
        """Compare a model's alignments with known ones, and a plain diagonal with them too."""
        input:
            alignments=lambda wildcards: aligned(wildcards.model),
            gold=GOLD,
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


rule report:
    """All of a run's results as one page that needs nothing else."""
    input:
        artifacts=shown_artifacts(),
        captions=str(ROOT / "workflow" / "report"),
    output:
        page="results/report.html",
    log:
        "logs/report/report.log",
    benchmark:
        "benchmarks/report/report.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        title=f"Neural machine translation by attention: {experiment()}",
        artifacts=lambda wildcards, input: repeated("--artifact", [*input.artifacts, *dict(shown_sweep())]),
        sweep=shown_sweep(),
        seeds=shown_seeds(CONFIG.artifacts.figure2_models),
        configuration=constant(shown_settings()),
    shell:
        "nmt report --title {params.title:q} {params.artifacts} --captions {input.captions:q} --seeds={params.seeds:q}"
        " --configuration {params.configuration:q} --benchmarks benchmarks --output {output.page:q} 2>&1 | tee -i {log:q}"
