"""Make tables and figures from the replication package.

In:  REPLICATION_PACKAGE (package_files.smk), scores of all systems.
Out: results/: tables, figures, comparison.json.
"""

SCORES = []
for set_name in SETS:
    for system in plan.selected_systems + plan.text_only_systems[set_name]:
        SCORES.append(f"scores/{set_name}/{system}.json")


rule compare:
    """Compute confidence intervals of the scores, the significance of each pair's difference, and other metrics."""
    input:
        package=REPLICATION_PACKAGE,
        papers=list(PAPER_FILES.values()),
        scores=SCORES,
    output:
        files=["results/comparison.json"],
    log:
        "logs/results/compare.log",
    resources:
        mem_mb=4000,
        runtime=60,
    script:
        "../scripts/tables_and_figures.py"


rule tables:
    """Write every table, the alignment error rates, and one sentence with the headline result."""
    input:
        package=REPLICATION_PACKAGE,
        papers=list(PAPER_FILES.values()),
        scores=SCORES,
        comparison="results/comparison.json",
    output:
        files=[result_file(name, report_category="Tables") for name in OUTPUTS.table_files],
        provenance=f"results/{TABLES_PROVENANCE}",
    log:
        "logs/results/tables.log",
    localrule: True
    script:
        "../scripts/tables_and_figures.py"


use rule tables as figures with:
    output:
        files=[result_file(name, report_category="Figures") for name in OUTPUTS.figure_files],
    log:
        "logs/results/figures.log",
    localrule: True


if OUTPUTS.has_corpora:

    use rule tables as data_report with:
        input:
            counts=RESULTS.corpus_counts,
            papers=list(PAPER_FILES.values()),
            configuration=str(RESULTS.configuration),
        output:
            files=[result_file(name, report_category="Text") for name in OUTPUTS.data_files],
        log:
            "logs/results/data.log",
        localrule: True


# --- figures that need a model ----------------------------------------------------------------------------------------

if CONFIG.sentence_vectors:

    rule vectors:
        """Encode the sentences of a figure, and project them into a plane (Sutskever et al., 2014, Fig. 2)."""
        input:
            model=lambda wildcards: paths.model_files([wildcards.run]),
        output:
            coordinates="vectors/{run}.tsv",
        log:
            "logs/vectors/{run}.log",
        threads: jobs.model_threads
        resources:
            **jobs.model_resources,
        params:
            model=lambda wildcards: paths.model_folder(wildcards.run),
            # a line for each sentence, and an empty line between panels
            lines=literal_text("\n\n".join("\n".join(panel) for panel in CONFIG.sentence_vectors.panels)),
            rerun_if_models_change=jobs.pretrained_model_stamps,
            options=jobs.decoding_options,
        shell:
            "NMT_LOG={log:q} nmt vectors --tokenized --model {params.model:q} {params.options}"
            " --output-tsv {output.coordinates:q} <<< {params.lines:q} 2>&1 | tee -i {log:q}"


# Figure 6 of Cho et al. (2014b) is drawn from the model itself.
TREE_FILES = []
if CONFIG.artifacts.tree_model and any(TREE in paper.figures for paper in PAPERS.values()):
    TREE_FILES = [f"{TREE}.pdf", f"{TREE}.svg", f"{TREE}.png"]

if TREE_FILES:

    rule tree:
        """Figure 6 of Cho et al. (2014b): the tree that a grConv makes of a sentence, and its ten best translations."""
        input:
            text=f"{plan.models_folder}/{CONFIG.artifacts.tree_model}/text.json",
            model=paths.model_files([CONFIG.artifacts.tree_model]),
        output:
            [result_file(name, report_category="Figures") for name in TREE_FILES],
        log:
            "logs/results/tree.log",
        localrule: True
        params:
            model=no_rerun_if_changed(f"{plan.models_folder}/{CONFIG.artifacts.tree_model}"),
            sentence=literal_text(CONFIG.artifacts.tree_sentence),
            rerun_if_models_change=jobs.pretrained_model_stamps,
            outputs=lambda wildcards, output: options.format_options(("output", file) for file in output),
        shell:
            "NMT_LOG={log:q} nmt tree {params.sentence:q} --model {params.model:q} {params.outputs}"
            " 2>&1 | tee -i {log:q}"


# The tables and figures of a run, in the order of its page.
DATA_REPORT = [f"results/{name}" for name in OUTPUTS.data_files]
TABLES_AND_FIGURES = [
    f"results/{name}" for name in (*OUTPUTS.table_files, COMPARISON, *OUTPUTS.figure_files, *TREE_FILES)
] + DATA_REPORT
