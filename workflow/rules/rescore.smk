"""n-best lists of other systems, rescored (Sutskever et al., 2014, Table 2)."""

if CONFIG.use.rescored:
    RESCORED = {name: CONFIG.rescored[name] for name in CONFIG.use.rescored}
    RESCORING = [name for name, entry in RESCORED.items() if entry.members]

    # Files of lists: those that somebody gave, else what a system of this run has found.
    LISTS = {
        name: CONFIG.n_best_lists.get(entry.n_best_list)
        or str(FOLDER.translations("test", entry.n_best_list, "all"))
        for name, entry in RESCORED.items()
    }

    for name, entry in RESCORED.items():
        SETTINGS.add(f"rescore/{name}", entry)

    rule rescore:
        """Mix the members' log-probabilities into the scores of n-best lists."""
        input:
            settings="settings/rescore/{rescored}.json",
            model=lambda wildcards: model_files_of(RESCORED[wildcards.rescored].members),
            source=test_tokens(SOURCE),
            lists=lambda wildcards: LISTS[wildcards.rescored],
        output:
            best=f"rescored/{{rescored}}.{TARGET}",
            lists="rescored/{rescored}.nbest.gz",
        log:
            "logs/rescore/{rescored}.log",
        wildcard_constraints:
            rescored=options.any_of(RESCORING),
        threads: MODEL_CORES
        resources:
            **WITH_MODELS,
        params:
            model=lambda wildcards: model_options(RESCORED[wildcards.rescored]),
            weight=lambda wildcards: RESCORED[wildcards.rescored].weight,
            options=lambda wildcards, input: options.known(
                (name, getattr(CONFIG.decoding, name)) for name in ("threads", "device")
            ),
        shell:
            "nmt test-set rescore --model {params.model:q} --source {input.source:q} --lists {input.lists:q}"
            " --weight {params.weight} {params.options} --store store --output {output.best:q} --output-lists {output.lists:q}"
            " 2>&1 | tee -i {log:q}"

    rule oracle:
        """Choose the best of each n-best list, as one would who knows the reference."""
        input:
            source=test_tokens(SOURCE),
            reference=test_tokens(TARGET),
            lists=lambda wildcards: LISTS[wildcards.rescored],
        output:
            best=f"rescored/{{rescored}}.{TARGET}",
        log:
            "logs/rescore/{rescored}.log",
        wildcard_constraints:
            rescored=options.any_of(set(RESCORED) - set(RESCORING)),
        resources:
            mem_mb=memory(DATA_MEMORY),
            runtime=60,
        shell:
            "nmt test-set oracle --source {input.source:q} --lists {input.lists:q} --reference {input.reference:q}"
            " --output {output.best:q} 2>&1 | tee -i {log:q}"
