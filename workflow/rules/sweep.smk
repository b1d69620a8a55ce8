"""What the decoding settings that the paper leaves open are worth; only for the target `sweep`."""


# Seconds of work: it would wait longer in a cluster's queue.
localrules:
    decoding_sweep,


# What the target `sweep` is for, which a plain run does not make; and what there is of it when this run begins. That is no
# input of anything, or a plain run would make it again whenever a model has changed.
SWEEP = expand("results/decoding_sweep.{form}", form=["csv", "md", "tex", "pdf", "png", "sha256"])
SWEEP_MADE = [file for file in SWEEP if Path(file).is_file()]


rule sweep_model:
    """Score a model under every combination of decoding settings."""
    input:
        model=(
            model_files
            if not KEPT
            else lambda wildcards: refuse(
                [
                    f"released.results: {CONFIG.released.results} holds no models, which a sweep needs; give `released.models`"
                ]
            )
        ),
        source=test_tokens(SOURCE),
        reference=test_tokens(TARGET),
    output:
        scores="sweep/{model}.json",
    log:
        "logs/sweep/{model}.log",
    benchmark:
        "benchmarks/sweep/{model}.tsv"
    conda:
        "../../envs/translate.yaml"
    threads: cores_of(CONFIG.decoding.threads)
    resources:
        gpu=gpu_of(CONFIG.decoding.device),
        mem_mb=memory(DATA_MEMORY),
        runtime=math.ceil(60 * CONFIG.resources.sweep_hours),
        limited_by="sweep_hours",
    params:
        model=lambda wildcards: model_folder(wildcards.model),
        settings=lambda wildcards: projections.sweep_settings(CONFIG),
    shell:
        "nmt sweep --model {params.model:q} --source {input.source:q} --reference {input.reference:q}"
        " --settings {params.settings:q} --output {output.scores:q} 2>&1 | tee -i {log:q}"


rule decoding_sweep:
    """Table and figure of the sweep: BLEU against the beam's width under each combination."""
    input:
        sweeps=expand("sweep/{model}.json", model=CONFIG.sweep.models),
    output:
        csv=report("results/decoding_sweep.csv", caption="../report/decoding_sweep.rst", category="Tables"),
        md="results/decoding_sweep.md",
        tex="results/decoding_sweep.tex",
        pdf="results/decoding_sweep.pdf",
        png=report("results/decoding_sweep.png", caption="../report/decoding_sweep.rst", category="Figures"),
        sums="results/decoding_sweep.sha256",
    log:
        "logs/report/decoding_sweep.log",
    benchmark:
        "benchmarks/report/decoding_sweep.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        sweeps=lambda wildcards, input: options.paired("sweep", CONFIG.sweep.models, input.sweeps),
        decoding=constant(CONFIG.decoding),
        settings=report_settings,
        seeds=constant(shown_seeds(CONFIG.sweep.models)),
    shell:
        "nmt decoding-sweep {params.sweeps} --decoding {params.decoding:q} --settings {params.settings:q}"
        " --output-csv {output.csv:q} --output-md {output.md:q} --output-tex {output.tex:q}"
        " --output-pdf {output.pdf:q} --output-png {output.png:q} --output-sums {output.sums:q} 2>&1 | tee -i {log:q}"
