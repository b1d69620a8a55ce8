#!/bin/sh
# Install the packages that the project needs, each checked against its hash in uv.lock, and KenLM's programs into a Debian
# with Python. Dockerfile and nmt.def call this.
#
# Usage, from a folder that holds the project: sh container/install.sh
# TORCH: the build of PyTorch (tools/setup.sh). The default has CUDA, because the image may be built on a machine without GPU.
# MOSES=yes: also Moses and its word aligner, for the phrase-based system, which take about 20 core-minutes to compile.
set -eu

export PIP_NO_CACHE_DIR=1 UV_NO_CACHE=1
TORCH="${TORCH:-cuda}" sh tools/setup.sh
PATH="$PWD/.venv/bin:$PATH"

# KenLM's programs contain the libraries that they need, so the packages that build them are removed again at the end.
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

# Only workflow/defaults.yaml has the address of Moses' source. Perl stays, because Moses' scripts need it.
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
