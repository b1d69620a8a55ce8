"""The paper's figures and learning curves, from the scores, translations and histories of this run."""

# The figures that a run is for, each once, in the order of the papers; each is made as .pdf and .png. Some need a model.
LACKING = [
    *([] if CONFIG.artifacts.figure3_model else ["figure3"]),
    *([] if CONFIG.artifacts.tree_model and not KEPT else ["cho2014b_figure6"]),
]
FIGURES = [
    name
    for name in dict.fromkeys(name for paper in PAPERS.values() for name in paper.figures)
    if name not in LACKING
]


# Words in the longest sentences that the models of Figure 2 learned from.
TRAINED_UP_TO = sorted(
    {CONFIG.models[model].max_words for model in CONFIG.artifacts.figure2_models if model in CONFIG.models}
)


rule figure2:
    """Figure 2: BLEU against sentence length."""
    input:
        scores=scores_of([*CONFIG.artifacts.figure2_models, *BASELINE]),
    output:
        pdf="results/figure2.pdf",
        png=report("results/figure2.png", caption="../report/figure2.rst", category="Figures"),
    log:
        "logs/report/figure2.log",
    localrule: True
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=report_settings,
        scores=lambda wildcards, input: options.repeated("score", input.scores),
        limits=options.repeated("limit", TRAINED_UP_TO),
        seeds=constant(shown_seeds(CONFIG.artifacts.figure2_models)),
    shell:
        "nmt figure bleu-by-length {params.scores} {params.limits} --settings {params.settings:q}"
        " --output-pdf {output.pdf:q} --output-png {output.png:q} 2>&1 | tee -i {log:q}"


rule unknown_words:
    """BLEU against the number of unknown words in the source (Cho et al., 2014b, Fig. 4c)."""
    input:
        scores=scores_of([*CONFIG.artifacts.figure2_models, *BASELINE]),
    output:
        pdf="results/unknown_words.pdf",
        png=report("results/unknown_words.png", caption="../report/unknown_words.rst", category="Figures"),
    log:
        "logs/report/unknown_words.log",
    localrule: True
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=report_settings,
        scores=lambda wildcards, input: options.repeated("score", input.scores),
        seeds=constant(shown_seeds(CONFIG.artifacts.figure2_models)),
    shell:
        "nmt figure unknown-words {params.scores} --settings {params.settings:q}"
        " --output-pdf {output.pdf:q} --output-png {output.png:q} 2>&1 | tee -i {log:q}"


rule length_curves:
    """BLEU against length of source, reference and both, one panel per system (Cho et al., 2014b, Fig. 4 a, b and 5)."""
    input:
        scores=scores_of([*CONFIG.artifacts.figure2_models, *BASELINE]),
    output:
        pdf="results/length_curves.pdf",
        png=report("results/length_curves.png", caption="../report/length_curves.rst", category="Figures"),
    log:
        "logs/report/length_curves.log",
    localrule: True
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=report_settings,
        scores=lambda wildcards, input: options.repeated("score", input.scores),
        seeds=constant(shown_seeds(CONFIG.artifacts.figure2_models)),
    shell:
        "nmt figure length-curves {params.scores} --settings {params.settings:q}"
        " --output-pdf {output.pdf:q} --output-png {output.png:q} 2>&1 | tee -i {log:q}"


rule score_groups:
    """BLEU of equal groups of sentences by length and by rarity of words (Sutskever et al., 2014, Fig. 3)."""
    input:
        scores=scores_of([*CONFIG.artifacts.figure2_models, *BASELINE]),
        text=test_tokens(RANKED),
        vocabulary=vocabulary(RANKED),
    output:
        pdf="results/score_groups.pdf",
        png=report("results/score_groups.png", caption="../report/score_groups.rst", category="Figures"),
    log:
        "logs/report/score_groups.log",
    localrule: True
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=report_settings,
        scores=lambda wildcards, input: options.repeated("score", input.scores),
        seeds=constant(shown_seeds(CONFIG.artifacts.figure2_models)),
    shell:
        "nmt figure score-groups {params.scores} --text {input.text:q} --vocabulary {input.vocabulary:q}"
        " --settings {params.settings:q} --output-pdf {output.pdf:q} --output-png {output.png:q} 2>&1 | tee -i {log:q}"


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
    localrule: True
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=report_settings,
        seeds=constant(shown_seeds(filter(None, [CONFIG.artifacts.figure3_model]))),
    shell:
        "nmt figure attention --all {input.all:q} --no-unk {input.no_unk:q} --paper {input.paper:q}"
        " --settings {params.settings:q}"
        " --output-pdf {output.pdf:q} --output-png {output.png:q} 2>&1 | tee -i {log:q}"


rule learning_curves:
    """The learning curves of every run."""
    input:
        summaries=run_files(runs(CONFIG.use.models), "summary.json"),
        histories=run_files(runs(CONFIG.use.models), "history.jsonl"),
    output:
        pdf="results/learning_curves.pdf",
        png=report("results/learning_curves.png", caption="../report/learning_curves.rst", category="Figures"),
    log:
        "logs/report/learning_curves.log",
    localrule: True
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=report_settings,
        summaries=lambda wildcards, input: options.repeated("summary", input.summaries),
        histories=lambda wildcards, input: options.repeated("history", input.histories),
    shell:
        "nmt figure learning-curves {params.summaries} {params.histories} --settings {params.settings:q}"
        " --output-pdf {output.pdf:q} --output-png {output.png:q} 2>&1 | tee -i {log:q}"


rule cho2014b_figure6:
    """Figure 6 of Cho et al. (2014b): the tree that a grConv makes of a sentence, and its ten best translations."""
    input:
        text=f"{model_folder(CONFIG.artifacts.tree_model)}/text.json",
        model=model_files_of([CONFIG.artifacts.tree_model]),
    output:
        pdf="results/cho2014b_figure6.pdf",
        svg="results/cho2014b_figure6.svg",
        png=report(
            "results/cho2014b_figure6.png", caption="../report/cho2014b_figure6.rst", category="Figures"
        ),
    log:
        "logs/report/cho2014b_figure6.log",
    localrule: True
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        model=lambda wildcards, input: os.path.dirname(input.text),
        sentence=constant(CONFIG.artifacts.tree_sentence),
    shell:
        "nmt tree {params.sentence:q} --model {params.model:q} --output {output.pdf:q} --output {output.svg:q}"
        " --output {output.png:q} 2>&1 | tee -i {log:q}"
