"""Rescore n-best lists of other systems (Sutskever et al., 2014, Table 2).

In:  n-best lists of the test text: files in the settings `n_best_lists`, or translations of a system of this run.
Out: rescored/NAME.LANGUAGE, the best translations; rescored/NAME.nbest.gz, the new lists.
"""

if CONFIG.use.rescored:

    # An entry without models is an oracle.
    ORACLES = [name for name in CONFIG.use.rescored if not CONFIG.rescored[name].members]

    rule rescore:
        """Interpolate the models' log-probabilities with the scores of n-best lists."""
        input:
            model=lambda wildcards: paths.model_files(CONFIG.rescored[wildcards.rescored].members),
            source=paths.evaluation_file("test", SOURCE),
            n_best_lists=lambda wildcards: paths.n_best_list(wildcards.rescored),
        output:
            best=f"rescored/{{rescored}}.{TARGET}",
            n_best_lists="rescored/{rescored}.nbest.gz",
        log:
            "logs/rescore/{rescored}.log",
        wildcard_constraints:
            rescored=options.match_any(set(CONFIG.use.rescored) - set(ORACLES)),
        threads: jobs.model_threads
        resources:
            **jobs.model_resources,
        params:
            model_arguments=lambda wildcards: jobs.list_model_arguments(CONFIG.rescored[wildcards.rescored]),
            weight=lambda wildcards: CONFIG.rescored[wildcards.rescored].weight,
            rerun_if_files_change=jobs.user_file_stamps,
            rerun_if_models_change=jobs.pretrained_model_stamps,
            options=no_rerun_if_changed(
                options.format_options(CONFIG.decoding.model_dump(include={"threads", "device"}).items())
            ),
        shell:
            "NMT_LOG={log:q} nmt test-set rescore --model {params.model_arguments:q} --source {input.source:q}"
            " --lists {input.n_best_lists:q} --weight {params.weight} {params.options}"
            " --output {output.best:q} --output-lists {output.n_best_lists:q} 2>&1 | tee -i {log:q}"

    rule oracle:
        """Choose the best of each n-best list by comparison with the reference."""
        input:
            source=paths.evaluation_file("test", SOURCE),
            reference=paths.evaluation_file("test", TARGET),
            n_best_lists=lambda wildcards: paths.n_best_list(wildcards.rescored),
        output:
            best=f"rescored/{{rescored}}.{TARGET}",
        log:
            "logs/rescore/{rescored}.log",
        wildcard_constraints:
            rescored=options.match_any(ORACLES),
        resources:
            mem_mb=scale_memory(jobs.data_memory),
            runtime=60,
        params:
            rerun_if_files_change=jobs.user_file_stamps,
        shell:
            "NMT_LOG={log:q} nmt test-set oracle --source {input.source:q} --lists {input.n_best_lists:q}"
            " --reference {input.reference:q} --output {output.best:q} 2>&1 | tee -i {log:q}"
