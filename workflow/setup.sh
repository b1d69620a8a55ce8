#!/bin/sh
# Install what uv.lock names into .venv, by uv. `make setup` and the containers call this.
#
# Usage: [PYTHON=python3.12] [TORCH=BUILD] sh workflow/setup.sh [option of `uv sync`]...
#
# BUILD is one of PyTorch: cpu, cuda (what PyPI has; on a Mac without CUDA), or another of PyTorch's index such as cu126,
# whose hash is not checked. Without TORCH, the installed build stays; the first installation takes the one that the
# machine's NVIDIA driver can run (docs/cluster.md#gpus). uv's own choice, `--torch-backend=auto`, takes Intel's XPU build
# for any graphics of Intel, and for drivers below 560 an index that has no such version.
set -eu
cd "$(dirname "$0")/.."
uv=.uv/uv
quiet=--quiet
[ ! -t 2 ] || quiet= # on a terminal uv shows its progress
export UV_PROJECT_ENVIRONMENT=.venv
unset VIRTUAL_ENV PYTHONPATH PYTHONHOME

# The user's uv if it can read the lock file, else a copy of the version in the lock file.
reads_lock() { "$1" export --quiet --frozen --only-group setup > /dev/null 2>&1; }
if ! reads_lock "$uv"; then
    rm -f "$uv"
    mkdir -p .uv
    for found in uv "${HOME:-}/.local/bin/uv" "${HOME:-}/.cargo/bin/uv"; do
        [ -e "$uv" ] || ! reads_lock "$found" || ln -s "$(command -v "$found")" "$uv"
    done
    if [ ! -e "$uv" ] && ! "${PYTHON:-python3}" workflow/fetch_uv.py "$uv"; then
        echo "error: no uv: install Python (Debian, Ubuntu: apt install python3; macOS: xcode-select --install)" \
            "or uv itself (https://docs.astral.sh/uv), and check the network" >&2
        exit 2
    fi
fi

# Bytecode now: where Python writes none later (images set PYTHONDONTWRITEBYTECODE, folders are read-only), each of the
# hundreds of processes of a run would compile PyTorch or pandas anew.
sync() {
    # shellcheck disable=SC2086
    "$uv" sync $quiet --frozen --inexact --compile-bytecode --no-default-groups --group workflow \
        ${PYTHON:+--python "$PYTHON"} "$@"
}

# The locked requirement of PyTorch, with its hashes.
torch() { "$uv" export --quiet --frozen --no-default-groups "$@" | sed -n '/^torch==/,/[^\\]$/p'; }

installed() {
    for found in .venv/lib/python*/site-packages/torch-*.dist-info; do
        case $found in
            *+*) found=${found##*+} && echo "${found%.dist-info}" ;;
            *[0-9].dist-info) echo cuda ;;
        esac
    done
}

fitting() {
    [ "$(uname)" = Linux ] || { echo cuda && return; }
    driver=$(timeout 20 nvidia-smi --query-gpu=driver_version --format=csv,noheader 2> /dev/null | sed -n '1s/\..*//p')
    case $driver in
        '' | *[!0-9]*) echo cpu ;; # no driver, or one that does not answer
        *) [ "$driver" -ge 580 ] && echo cuda || echo cu126 ;;
    esac
}

build=${TORCH:-$(installed)}
build=${build:-$(fitting)}
# An environment names its folder in each program and in its link to this checkout, so one that was moved is made anew.
if [ -e .venv/bin/activate ]; then
    made_at=$(sed -n "s/^VIRTUAL_ENV=['\"]*\([^'\"]*\).*/\1/p" .venv/bin/activate)
    if [ ! "$made_at" -ef .venv ]; then
        echo "setup: .venv was made as $made_at: it is made anew here"
        rm -rf .venv
    fi
fi
echo "setup: PyTorch's build $build (another: make setup TORCH=cpu, cuda or cu126)"
echo "setup: packages are fetched and compiled to bytecode, a minute or two without a line"
case $build in
    cuda) sync "$@" ;;
    cpu)
        sync --extra cpu --no-install-package torch "$@"
        if ! sync --extra cpu "$@" 2> .venv/setup.log; then
            echo "setup: PyTorch's index does not answer (.venv/setup.log): pip is asked, else it comes with CUDA (2.7 GB)"
            torch --extra cpu > .venv/torch.txt
            .venv/bin/python -m pip install -qqq --no-deps --require-hashes -r .venv/torch.txt || sync "$@"
        fi
        ;;
    *)
        sync --extra cpu --no-install-package torch "$@"
        version=$(torch --no-hashes | sed -n 's/^torch==\([0-9.]*\).*/\1/p')
        # shellcheck disable=SC2086
        "$uv" pip install $quiet --python .venv --torch-backend "$build" "torch==$version+$build"
        ;;
esac
# Snakemake imports packages before it reads the Snakefile; those of a cluster's modules would be others (nmt/environment.py).
for packages in .venv/lib/python*/site-packages; do
    [ ! -d "$packages" ] || cat > "$packages/nmt_environment.pth" << 'END'
import os; exec("try:\n import nmt.environment as own; own.prepare()\nexcept ImportError: pass") if os.environ.get("PYTHONPATH") else None
END
done
echo "setup: done"
