#!/usr/bin/env bash
# Put all that a version publishes into the folder release/: the package, and of each finished experiment its models,
# results and playground; SHA256SUMS names every file. Nothing is trained. `make release` calls this. Another call adds
# its experiments.
#
# Usage: bash workflow/release.sh EXPERIMENT...   OPTIONS: Snakemake's, as the runs had them, such as --config seeds=[1,2,3]
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck disable=SC2206
snakemake=(.venv/bin/snakemake --cores 1 ${OPTIONS:-} --directory)
for experiment; do
    # without results all trainings are missing
    jobs="rule train"
    if [ -f "$experiment/results/report.html" ]; then
        jobs=$("${snakemake[@]}" "$experiment" --dry-run releases)
    fi
    if grep --quiet "^rule train" <<< "$jobs"; then
        echo "error: $experiment: not finished; make EXPERIMENT=$experiment run" >&2
        exit 2
    fi
done
mkdir -p release
rm -f release/SHA256SUMS release/*.whl release/*.tar.gz
.uv/uv build --quiet --no-create-gitignore --out-dir release
.uv/uv tool run --quiet twine@6.2.0 check --strict release/*.whl release/*.tar.gz
(cd docs/assignment && "$OLDPWD/.venv/bin/python" -m zipfile --create ../../release/assignment.zip README.md ./*.py ./*.ipynb text)
for experiment; do
    name=$(basename "$experiment")
    # two runs: where text is made again, Snakemake leaves out what comes after finished trainings until the next run
    for target in all releases; do "${snakemake[@]}" "$experiment" --quiet all -- "$target"; done
    for archive in "$experiment"/releases/*.tar.zst; do
        cp "$archive" "release/$name-$(basename "$archive")"
    done
    .venv/bin/python -m zipfile --create "release/$name-results.zip" "$experiment/results"
    [ ! -f "$experiment/results/playground.html" ] || cp "$experiment/results/playground.html" "release/$name-playground.html"
done
cd release
sha256sum -- * > SHA256SUMS
ls -l
