"""Sentence vectors: what an encoder hands to its decoder, in a plane (Sutskever et al., 2014, Fig. 2)."""

# Vectors are a model's own: with translations alone there are none.
if CONFIG.sentence_vectors and not KEPT:

    FIGURES.append("sentence_vectors")

    rule vectors:
        """Encode the sentences of the figure, and project them into a plane."""
        input:
            model=model_files,
        output:
            coordinates="vectors/{model}.tsv",
        log:
            "logs/vectors/{model}.log",
        threads: cores_of(CONFIG.decoding.threads)
        resources:
            gpu=gpu_of(CONFIG.decoding.device),
            mem_mb=memory(DATA_MEMORY),
            runtime=30,
        params:
            model=lambda wildcards: model_folder(wildcards.model),
            # a function, or Snakemake would take braces in it for wildcards
            lines=lambda wildcards: "\n\n".join(map("\n".join, CONFIG.sentence_vectors.panels)),
            options=options.known(
                (name.replace("_", "-"), getattr(CONFIG.decoding, name))
                for name in ("batch_size", "threads", "device")
            ),
        shell:
            "nmt vectors --tokenized --model {params.model:q} {params.options} --output-tsv {output.coordinates:q}"
            " <<< {params.lines:q} 2>&1 | tee -i {log:q}"

    rule sentence_vectors:
        """The figure of sentence vectors: a panel for each group of sentences."""
        input:
            coordinates=f"vectors/{CONFIG.sentence_vectors.model}.tsv",
        output:
            pdf="results/sentence_vectors.pdf",
            png=report(
                "results/sentence_vectors.png", caption="../report/sentence_vectors.rst", category="Figures"
            ),
        log:
            "logs/report/sentence_vectors.log",
        localrule: True
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            seeds=constant(shown_seeds([CONFIG.sentence_vectors.model])),
        shell:
            "nmt figure vectors --coordinates {input.coordinates:q}"
            " --output-pdf {output.pdf:q} --output-png {output.png:q} 2>&1 | tee -i {log:q}"
