#!/bin/sh
# What both recipes, Dockerfile and nmt.def, install into a Debian with Python: the package and everything that it
# depends on, each file with a hash of uv.lock, and KenLM's programs.
#
# Usage, from a folder that holds the project: sh container/install.sh
# TORCH: the build of PyTorch (tools/setup.sh); with CUDA unless told, as where it is built says nothing of GPUs.
# MOSES=yes: Moses and its word aligner, too, for the phrase-based system; compiling them takes about 20 core-minutes.
set -eu

export PIP_NO_CACHE_DIR=1 UV_NO_CACHE=1
TORCH="${TORCH:-cuda}" sh tools/setup.sh
PATH="$PWD/.venv/bin:$PATH"

# The libraries that KenLM's programs need end up inside them, so what builds them goes again.
BUILD="cmake g++ make libboost-program-options-dev libboost-system-dev libboost-test-dev libboost-thread-dev"
apt-get update
# gcc stays: PyTorch compiles kernels with it (`kernels: compiled`).
# shellcheck disable=SC2086  # a list
apt-get install --yes --no-install-recommends gcc libc6-dev $BUILD
python - << END
from pathlib import Path
from pipeline.kenlm import provide_programs
provide_programs(Path("/opt/kenlm"), $(nproc))
END

# The commit and its address stand in workflow/defaults.yaml alone; what the programs need stays.
if [ "${MOSES:-}" = yes ]; then
    apt-get install --yes --no-install-recommends g++ make perl curl libboost-all-dev zlib1g-dev libbz2-dev liblzma-dev
    url=$(sed -n 's,.*url: \(.*/mosesdecoder/archive/.*\),\1,p' workflow/defaults.yaml)
    curl --fail --location --output /tmp/moses.tar.gz "$url"
    python - << END
import shutil
from functools import partial
from pathlib import Path
from pipeline.moses.programs import provide_programs
provide_programs(Path("/opt/moses"), partial(shutil.move, "/tmp/moses.tar.gz"), $(nproc))
END
    rm /opt/moses/source.tar.gz
fi

# shellcheck disable=SC2086  # a list
apt-get purge --yes --auto-remove $BUILD
rm -rf /var/lib/apt/lists/* .uv

nmt --version
snakemake --version
/opt/kenlm/lmplz --help > /dev/null 2>&1 || test $? -eq 1
