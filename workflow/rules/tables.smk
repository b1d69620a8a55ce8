"""The papers' tables and what else is measured, from the scores and summaries of this run."""

SCORE_TABLES, OTHER_TABLES = tables_of("scores"), {
    **tables_of("perplexity"),
    **tables_of("training"),
    **tables_of("sentences"),
}

# The tables that a run is for; each is made as .csv, .md and .tex.
TABLES = [
    *SCORE_TABLES,
    "significance",
    *OTHER_TABLES,
    *(["ablations"] if CONFIG.artifacts.ablations else []),
]


rule compare:
    """How sure the scores are: intervals, paired significance of each pair of models, and today's metrics."""
    input:
        translations=translations_of(COMPARED),
        source=test_tokens(SOURCE),
        reference=test_tokens(TARGET),
        raw_reference=[raw_reference()] if raw_reference() else [],
        given=list(GIVEN.get("test", {}).values()),
    output:
        comparison="results/comparison.json",
    log:
        "logs/report/compare.log",
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        settings=report_settings,
        models=lambda wildcards, input: options.compared(CONFIG, input.translations),
        others=lambda wildcards, input: options.paired("given", GIVEN.get("test", {}), input.given),
        raw_reference=lambda wildcards, input: options.repeated("raw-reference", input.raw_reference),
    shell:
        "nmt table compare {params.models} {params.others} {params.raw_reference} --source {input.source:q} --reference {input.reference:q}"
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
    localrule: True
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=report_settings,
    shell:
        "nmt table significance --comparison {input.comparison:q} --settings {params.settings:q}"
        " --output-csv {output.csv:q} --output-md {output.md:q} --output-tex {output.tex:q} 2>&1 | tee -i {log:q}"


for table, (described, paper) in SCORE_TABLES.items():

    rule:
        """BLEU of every system on the sets and kinds of sentences that a paper's table has."""
        name:
            table
        input:
            scores=[
                file
                for set_ in described.sets
                for file in scores_of([*COMPARED, *GIVEN.get(set_, {})], set_)
            ],
            summaries=run_files(USED, "summary.json"),
            comparison="results/comparison.json",
            paper=paper,
        output:
            csv=report(f"results/{table}.csv", caption=f"../report/{table}.rst", category="Tables"),
            md=f"results/{table}.md",
            tex=f"results/{table}.tex",
        log:
            f"logs/report/{table}.log",
        localrule: True
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            table=table,
            settings=report_settings,
            scores=lambda wildcards, input: options.scores(input.scores),
            summaries=lambda wildcards, input: options.repeated("summary", input.summaries),
        shell:
            "nmt table scores --table {params.table} {params.scores} {params.summaries} --comparison {input.comparison:q} --paper {input.paper:q}"
            " --settings {params.settings:q} --output-csv {output.csv:q} --output-md {output.md:q}"
            " --output-tex {output.tex:q} 2>&1 | tee -i {log:q}"


for table, (described, paper) in tables_of("training").items():

    rule:
        """Updates, epochs, hours and negative log-likelihoods of every model."""
        name:
            table
        input:
            summaries=run_files(USED, "summary.json"),
            paper=paper,
        output:
            csv=report(f"results/{table}.csv", caption=f"../report/{table}.rst", category="Tables"),
            md=f"results/{table}.md",
            tex=f"results/{table}.tex",
        log:
            f"logs/report/{table}.log",
        localrule: True
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            table=table,
            settings=report_settings,
            summaries=lambda wildcards, input: options.repeated("summary", input.summaries),
        shell:
            "nmt table training --table {params.table} {params.summaries} --paper {input.paper:q} --settings {params.settings:q}"
            " --output-csv {output.csv:q} --output-md {output.md:q} --output-tex {output.tex:q} 2>&1 | tee -i {log:q}"


for table, (described, paper) in tables_of("sentences").items():

    rule:
        """Sentences, their reference, and what the systems make of them."""
        name:
            table
        input:
            translations=[
                translated(model, "no_unk" if described.known else "all")
                for model in CONFIG.artifacts.table3_models
            ],
            others=[option[-1] for option in beside_models(described)],
            reference=test_tokens(TARGET),
            paper=paper,
        output:
            csv=report(f"results/{table}.csv", caption=f"../report/{table}.rst", category="Tables"),
            md=f"results/{table}.md",
            tex=f"results/{table}.tex",
        log:
            f"logs/report/{table}.log",
        localrule: True
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            table=table,
            settings=report_settings,
            translations=lambda wildcards, input: options.paired(
                "translations", CONFIG.artifacts.table3_models, input.translations
            ),
            others=" ".join(options.option(*option) for option in beside_models(described)),
            seeds=constant(shown_seeds(CONFIG.artifacts.table3_models)),
        shell:
            "nmt table sentences --table {params.table} {params.translations} {params.others} --reference {input.reference:q} --paper {input.paper:q}"
            " --settings {params.settings:q} --output-csv {output.csv:q} --output-md {output.md:q}"
            " --output-tex {output.tex:q} 2>&1 | tee -i {log:q}"


for table, (described, paper) in tables_of("perplexity").items():

    rule:
        """Perplexity of every system on the test set."""
        name:
            table
        input:
            perplexities=perplexities().values(),
            paper=paper,
        output:
            csv=report(f"results/{table}.csv", caption=f"../report/{table}.rst", category="Tables"),
            md=f"results/{table}.md",
            tex=f"results/{table}.tex",
        log:
            f"logs/report/{table}.log",
        localrule: True
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            table=table,
            settings=report_settings,
            perplexities=lambda wildcards, input: options.repeated("perplexity", input.perplexities),
        shell:
            "nmt table perplexity --table {params.table} {params.perplexities} --paper {input.paper:q}"
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
    localrule: True
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        tables=lambda wildcards, input: options.repeated("table", input.tables),
    shell:
        "nmt table document {params.tables} --output {output.tex:q} 2>&1 | tee -i {log:q}"


if CONFIG.artifacts.ablations:

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
        localrule: True
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            settings=report_settings,
            scores=lambda wildcards, input: options.repeated("score", input.scores),
            summaries=lambda wildcards, input: options.repeated("summary", input.summaries),
            run_settings=lambda wildcards, input: options.repeated("run-settings", input.settings),
        shell:
            "nmt table ablations {params.scores} {params.summaries} {params.run_settings} --settings {params.settings:q}"
            " --output-csv {output.csv:q} --output-md {output.md:q} --output-tex {output.tex:q} 2>&1 | tee -i {log:q}"


if gold_alignments():

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
        localrule: True
        resources:
            mem_mb=2000,
            runtime=30,
        shell:
            "nmt test-set alignment-error-rate --model {wildcards.model} --alignments {input.alignments:q}"
            " --gold {input.gold:q} --output {output.rate:q} 2>&1 | tee -i {log:q}"
