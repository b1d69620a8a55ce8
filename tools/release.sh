#!/usr/bin/env bash
# Put all files that a version publishes into the folder release/: the package, and the models, results and playground of each
# finished experiment. SHA256SUMS lists all files, and EXPERIMENT.sha256 the files of one experiment. Nothing is trained.
# `make release` calls this. A second call with other experiments adds their files.
#
# Usage: [OPTIONS=...] bash tools/release.sh EXPERIMENT...
#
# OPTIONS are the options of Snakemake that the runs had, as for `make`, such as --config 'seeds=[1, 2, 3]'.
set -euo pipefail
cd "$(dirname "$0")/.."
eval "snakemake=(.venv/bin/snakemake --cores 1 ${OPTIONS:-} --directory)"
for experiment; do
    echo "release: $experiment: check that it is finished"
    # it is not finished if it has no results, or if a dry-run shows a training
    jobs="rule train"
    if [ -f "$experiment/results/report.html" ]; then
        jobs=$("${snakemake[@]}" "$experiment" --dry-run releases)
    fi
    if grep --quiet "^rule train" <<< "$jobs"; then
        echo "error: $experiment: not finished; make EXPERIMENT=$experiment run" >&2
        exit 2
    fi
done
echo "release: build the package"
mkdir -p release
rm -f release/SHA256SUMS release/*.whl release/*.tar.gz
.uv/uv build --quiet --no-create-gitignore --out-dir release
.uv/uv tool run --quiet twine@6.2.0 check --strict release/*.whl release/*.tar.gz
(cd docs/assignment && "$OLDPWD/.venv/bin/python" -m zipfile --create ../../release/assignment.zip README.md ./*.py ./*.ipynb text)
for experiment; do
    name=$(basename "$experiment")
    echo "release: $experiment: pack its models, which takes minutes"
    # two runs: where text is made again, Snakemake leaves out what comes after finished trainings until the next run
    for target in all releases; do "${snakemake[@]}" "$experiment" --quiet all -- "$target" 2> >(grep --invert-match '^Using ' >&2); done
    files=()
    for archive in "$experiment"/releases/*.tar.zst; do
        files+=("$name-$(basename "$archive")")
        cp "$archive" "release/${files[-1]}"
    done
    .venv/bin/python -m zipfile --create "release/$name-results.zip" "$experiment/results"
    files+=("$name-results.zip")
    if [ -f "$experiment/results/playground.html" ]; then
        cp "$experiment/results/playground.html" "release/$name-playground.html"
        files+=("$name-playground.html")
    fi
    (cd release && sha256sum -- "${files[@]}" > "$name.sha256")
done
cd release
sha256sum -- * > SHA256SUMS
ls -l
