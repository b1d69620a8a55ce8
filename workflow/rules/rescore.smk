"""Rescore n-best lists of other systems (Sutskever et al., 2014, Table 2).

In:  n-best lists of the test text: files in the settings `n_best_lists`, or translations of a system of this run.
Out: rescored/NAME.LANGUAGE, the best translations; rescored/NAME.nbest.gz, the new lists.
"""

if CONFIG.use.rescored:

    for name in CONFIG.use.rescored:
        SETTINGS_FILES.add(f"rescore/{name}", CONFIG.rescored[name])

    # An entry without models is an oracle.
    ORACLES = [name for name in CONFIG.use.rescored if not CONFIG.rescored[name].members]

    rule rescore:
        """Interpolate the models' log-probabilities with the scores of n-best lists."""
        input:
            settings="settings/rescore/{rescored}.json",
            model=rescoring_models,
            source=set_file("test", SOURCE),
            n_best_lists=n_best_list,
            file_stamps=FILE_STAMPS,
        output:
            best=f"rescored/{{rescored}}.{TARGET}",
            n_best_lists="rescored/{rescored}.nbest.gz",
        log:
            "logs/rescore/{rescored}.log",
        wildcard_constraints:
            rescored=options.match_any(set(CONFIG.use.rescored) - set(ORACLES)),
        threads: MODEL_JOB_THREADS
        resources:
            **MODEL_JOB_RESOURCES,
        params:
            model_arguments=rescoring_arguments,
            weight=rescoring_weight,
            options=not_tracked(
                options.format_options(
                    [("threads", CONFIG.decoding.threads), ("device", CONFIG.decoding.device)]
                )
            ),
        shell:
            "NMT_LOG={log:q} nmt test-set rescore --model {params.model_arguments:q} --source {input.source:q}"
            " --lists {input.n_best_lists:q} --weight {params.weight} {params.options} --store store"
            " --output {output.best:q} --output-lists {output.n_best_lists:q} 2>&1 | tee -i {log:q}"

    rule oracle:
        """Choose the best of each n-best list by comparison with the reference."""
        input:
            source=set_file("test", SOURCE),
            reference=set_file("test", TARGET),
            n_best_lists=n_best_list,
            file_stamps=FILE_STAMPS,
        output:
            best=f"rescored/{{rescored}}.{TARGET}",
        log:
            "logs/rescore/{rescored}.log",
        wildcard_constraints:
            rescored=options.match_any(ORACLES),
        resources:
            mem_mb=scale_memory(DATA_MEMORY),
            runtime=60,
        shell:
            "NMT_LOG={log:q} nmt test-set oracle --source {input.source:q} --lists {input.n_best_lists:q}"
            " --reference {input.reference:q} --output {output.best:q} 2>&1 | tee -i {log:q}"
