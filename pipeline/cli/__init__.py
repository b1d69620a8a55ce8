"""Subcommands of the pipeline, which `nmt` offers in a checkout of the project."""

# heading of the help -> subcommand -> where its function is
SECTIONS = {
    "Run an experiment": {
        "new": "pipeline.cli.new:new",
        "status": "pipeline.cli.monitor:status",
        "preflight": "pipeline.cli.monitor:preflight",
        "verify": "pipeline.cli.publish:verify",
    },
}
"""Subcommands for direct use."""
# group -> subcommand -> where its function is
GROUPS = {
    "data": {
        "download": "pipeline.cli.download:download",
        "extract": "pipeline.cli.download:extract",
        "generate": "pipeline.cli.synthetic:generate",
        "report": "pipeline.cli.statistics:data_report",
    },
    "moses": {
        "programs": "pipeline.cli.phrase_based:moses_programs",
        "text": "pipeline.cli.phrase_based:moses_text",
        "align": "pipeline.cli.phrase_based:moses_align",
        "phrases": "pipeline.cli.phrase_based:moses_phrases",
        "phrase-pairs": "pipeline.cli.phrase_based:moses_phrase_pairs",
        "phrase-scores": "pipeline.cli.phrase_based:moses_phrase_scores",
        "tune": "pipeline.cli.phrase_based:moses_tune",
        "decode": "pipeline.cli.phrase_based:moses_decode",
    },
    "figure": {"vectors": "pipeline.cli.figures:sentence_vectors"},
    "page": {"playground": "pipeline.cli.pages:playground"},
}
"""Subcommands that the workflow calls."""
