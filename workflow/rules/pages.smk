"""Write the pages of a run.

In:  TABLES_AND_FIGURES (tables.smk), models, the test text.
Out: RESULT_FILES; results/report.html, results/playground.html.
"""

EXPERIMENT = "the paper" if Path.cwd() == ROOT else Path.cwd().name
PLAYGROUND = ["results/playground.html"] if plan.playground_runs else []

# The results of a run: tables, figures and pages.
RESULT_FILES = [*TABLES_AND_FIGURES, "results/report.html", *PLAYGROUND]


if PLAYGROUND:

    rule playground:
        """Write the page in which models translate typed text, in one file."""
        input:
            models=paths.model_files(plan.playground_runs),
            source=paths.evaluation_file("test", SOURCE),
            reference=paths.evaluation_file("test", TARGET),
        output:
            page=result_file("playground.html", report_category="Translations"),
        log:
            "logs/results/playground.log",
        localrule: True
        params:
            text_settings=TEXT_SETTINGS_OF_MODELS,
            rerun_if_models_change=jobs.pretrained_model_stamps,
            model_folders=[f"{plan.models_folder}/{run}" for run in plan.playground_runs],
            size_of_weights=CONFIG.playground.model_dump(include={"megabytes", "bits"}),
            title=literal_text(f"Translate in the browser: {EXPERIMENT}"),
        script:
            "../scripts/playground.py"


rule report:
    """Write one page with the headline, figures, tables, settings and versions of the run."""
    input:
        # the comparison of all systems is not a table for readers
        artifacts=[
            file
            for file in TABLES_AND_FIGURES
            if file.endswith((".txt", ".md", ".png", ".json")) and not file.endswith(COMPARISON)
        ],
    output:
        page="results/report.html",
    log:
        "logs/results/report.log",
    localrule: True
    params:
        # the page shows no addresses of archives
        settings={key: value for key, value in get_published_settings(CONFIG).items() if key != "archives"},
        title=literal_text(f"Neural machine translation: {EXPERIMENT}"),
        other_pages=[os.path.basename(page) for page in PLAYGROUND],
        captions_file=str(CAPTIONS_FILE),
    script:
        "../scripts/report.py"
