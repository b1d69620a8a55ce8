#!/bin/sh
# Install what uv.lock names into .venv, by uv. `make setup` and the containers call this.
#
# Usage: [PYTHON=python3.12] [TORCH=BUILD] sh tools/setup.sh [option of `uv sync`]...
#
# BUILD is a build of PyTorch: cpu, cuda (the build on PyPI; on a Mac it has no CUDA), or a different build in PyTorch's index
# such as cu126, whose hash is not checked. Without TORCH, an installed build stays, and the first installation chooses the
# build that the machine's NVIDIA driver can run (docs/cluster.md#gpus). uv could choose by itself (`--torch-backend=auto`),
# but it would choose Intel's XPU build for any graphics of Intel, and for drivers below 560 an index without this version.
set -eu
cd "$(dirname "$0")/.."
uv=.uv/uv
quiet=--quiet
[ ! -t 2 ] || quiet= # on a terminal uv shows its progress
export UV_PROJECT_ENVIRONMENT=.venv
unset VIRTUAL_ENV PYTHONPATH PYTHONHOME

# Print the installed build, or nothing: cpu of torch-2.0.0+cpu.dist-info, cuda of torch-2.0.0.dist-info.
print_installed_build() {
    for folder in .venv/lib/python*/site-packages/torch-*.dist-info; do
        case $folder in
            *+*) build_of_folder=${folder##*+} && echo "${build_of_folder%.dist-info}" ;;
            *[0-9].dist-info) echo cuda ;;
        esac
    done
}

# Print the build that the machine's NVIDIA driver can run.
print_build_for_driver() {
    [ "$(uname)" = Linux ] || { echo cuda && return; }
    driver=$(timeout 20 nvidia-smi --query-gpu=driver_version --format=csv,noheader 2> /dev/null | sed -n '1s/\..*//p')
    case $driver in
        '' | *[!0-9]*) echo cpu ;; # no driver, or one that does not answer
        *) [ "$driver" -ge 580 ] && echo cuda || echo cu126 ;;
    esac
}

installed_build=$(print_installed_build)
build=${TORCH:-$installed_build}
build=${build:-$(print_build_for_driver)}

# Exit if the disk of a folder has less than GB free: check_space FOLDER GB WHAT ADVICE. The folder need not exist yet.
check_space() {
    existing_folder=$1
    while [ ! -d "$existing_folder" ]; do existing_folder=$(dirname "$existing_folder"); done
    free=$(df -Pk "$existing_folder" 2> /dev/null | awk 'NR == 2 { printf "%.1f", $4 / 1e6 }')
    if [ "$free" ] && awk "BEGIN { exit !($free < $2) }"; then
        echo "error: $1: $3 needs $2 GB of disk, $free GB are free: $4" >&2
        exit 2
    fi
}

if [ "$build" != "$installed_build" ]; then
    if [ "$build" = cpu ]; then
        gigabytes=2 cache_gigabytes=1
    else
        gigabytes=6 cache_gigabytes=6
    fi
    check_space "$PWD" "$gigabytes" "the installation" "make room"
    check_space "${UV_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/uv}" "$cache_gigabytes" "the cache of downloads" \
        "make room, or name a different folder: export UV_CACHE_DIR=/scratch/\$USER/uv"
fi

# The user's uv if it can read the lock file, else a copy of the version in the lock file.
reads_lock() { "$1" export --quiet --frozen --only-group setup > /dev/null 2>&1; }
if ! reads_lock "$uv"; then
    rm -f "$uv"
    mkdir -p .uv
    for users_uv in uv "${HOME:-}/.local/bin/uv" "${HOME:-}/.cargo/bin/uv"; do
        if [ ! -e "$uv" ] && reads_lock "$users_uv"; then
            ln -s "$(command -v "$users_uv")" "$uv"
        fi
    done
    if [ ! -e "$uv" ] && ! "${PYTHON:-python3}" tools/fetch_uv.py "$uv"; then
        echo "error: no uv: install Python (Debian, Ubuntu: apt install python3; macOS: xcode-select --install)" \
            "or uv itself (https://docs.astral.sh/uv), and check the network" >&2
        exit 2
    fi
fi

sync() {
    # shellcheck disable=SC2086
    "$uv" sync $quiet --frozen --inexact --no-default-groups --group workflow ${PYTHON:+--python "$PYTHON"} "$@"
}
# The last step of an installation compiles all packages to bytecode. Python itself cannot always do that later (images set
# PYTHONDONTWRITEBYTECODE, folders are read-only), and then each of a run's hundreds of processes would compile PyTorch anew.
announce_last_step() {
    [ "$build" = "$(print_installed_build)" ] ||
        echo "setup: PyTorch is fetched, then all is compiled to bytecode: minutes without a line"
}

# Print the locked requirement of PyTorch, with its hashes.
print_torch_requirement() {
    "$uv" export --quiet --frozen --no-default-groups "$@" | sed -n '/^torch==/,/[^\\]$/p'
}

# An environment names its folder in each program and in its link to this checkout. If it was moved, it is made anew.
if [ -e .venv/bin/activate ]; then
    made_at=$(sed -n "s/^VIRTUAL_ENV=['\"]*\([^'\"]*\).*/\1/p" .venv/bin/activate)
    if [ ! "$made_at" -ef .venv ]; then
        echo "setup: .venv was made as $made_at: it is made anew here"
        rm -rf .venv
    fi
fi
echo "setup: PyTorch's build $build (another: make setup TORCH=cpu, cuda or cu126)"
case $build in
    cuda) announce_last_step && sync --compile-bytecode "$@" ;;
    cpu)
        sync --extra cpu --no-install-package torch "$@"
        announce_last_step
        if ! sync --compile-bytecode --extra cpu "$@" 2> .venv/setup.log; then
            echo "setup: PyTorch's index does not answer (.venv/setup.log): pip is asked, else it comes with CUDA (2.7 GB)"
            print_torch_requirement --extra cpu > .venv/torch.txt
            if .venv/bin/python -m pip install -qqq --no-deps --require-hashes -r .venv/torch.txt; then
                sync --compile-bytecode --extra cpu --no-install-package torch "$@"
            else
                sync --compile-bytecode "$@"
            fi
        fi
        ;;
    *)
        sync --extra cpu --no-install-package torch "$@"
        announce_last_step
        version=$(print_torch_requirement --no-hashes | sed -n 's/^torch==\([0-9.]*\).*/\1/p')
        # shellcheck disable=SC2086
        "$uv" pip install $quiet --compile-bytecode --python .venv --torch-backend "$build" "torch==$version+$build"
        ;;
esac
# Snakemake imports packages before it reads the Snakefile. This file prevents that they come from the modules of a cluster
# (nmt/environment.py).
for packages in .venv/lib/python*/site-packages; do
    [ ! -d "$packages" ] || cat > "$packages/nmt_environment.pth" << 'END'
import os; exec("try:\n import nmt.environment as own; own.prepare()\nexcept ImportError: pass") if os.environ.get("PYTHONPATH") else None
END
done
echo "setup: done"
