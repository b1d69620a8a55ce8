"""Complete the models' folders, and pack models for others.

In:  models/RUN, scores/test/RUN.json.
Out: models/RUN/text.json, models/RUN/README.md, releases/RUN.tar.zst.
"""


rule text_settings:
    """Complete a model's folder with languages, tokenization and decoding, so that it can translate raw text."""
    input:
        model=lambda wildcards: paths.model_files([wildcards.run]),
    output:
        text="models/{run}/text.json",
    log:
        "logs/package/{run}.log",
    localrule: True
    params:
        settings=literal_text(json.dumps(TEXT_SETTINGS_OF_MODELS)),
    shell:
        "NMT_LOG={log:q} nmt model package --model models/{wildcards.run} --settings {params.settings:q}"
        " 2>&1 | tee -i {log:q}"


rule model_card:
    """Write a model's card once there are scores."""
    input:
        summary="models/{run}/summary.json",
        settings="models/{run}/settings.json",
        scores="scores/test/{run}.json",
    output:
        card="models/{run}/README.md",
    log:
        "logs/results/{run}.card.log",
    localrule: True
    params:
        corpora={"languages": (SOURCE, TARGET), **CONFIG.use.model_dump(include={"train", "dev", "test"})},
    script:
        "../scripts/model_card.py"


rule release:
    """Pack a model for others."""
    input:
        model=[f"models/{{run}}/{name}" for name in (*RELEASED_FILES, TEXT_SETTINGS)],
    output:
        archive="releases/{run}.tar.zst",
    log:
        "logs/results/{run}.release.log",
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        bits=options.format_option("bits", CONFIG.release.bits),
    shell:
        "NMT_LOG={log:q} nmt model release --model models/{wildcards.run} {params.bits} --output {output.archive:q}"
        " 2>&1 | tee -i {log:q}"
