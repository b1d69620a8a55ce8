#!/bin/sh
# What both recipes, Dockerfile and nmt.def, install into a Debian with Python: the package and everything that it
# depends on, each file with a hash of constraints.txt, and KenLM's programs lmplz and build_binary.
#
# Usage, from a folder that holds the project: sh container/install.sh
# TORCH: the build of PyTorch (workflow/install.py); with CUDA unless told, as where it is built says nothing of GPUs.
# MOSES=yes: Moses and its word aligner, too, for the phrase-based system; compiling them takes about 20 core-minutes.
set -eu

BUILD="build-essential cmake libboost-program-options-dev libboost-system-dev libboost-test-dev libboost-thread-dev"
BUILD="$BUILD libeigen3-dev"

apt-get update
# shellcheck disable=SC2086  # a list
apt-get install --yes --no-install-recommends $BUILD

export PIP_NO_CACHE_DIR=1 UV_NO_CACHE=1 UV_COMPILE_BYTECODE=1
python workflow/install.py --torch "${TORCH:-cuda}"

# The source archive of the Python module holds the programs too; linked statically, they outlive the packages above.
sources=$(mktemp -d)
sed -n '/^kenlm==/,/[^\\]$/p' constraints.txt > "$sources/kenlm.txt"
python -m pip download --disable-pip-version-check --require-hashes --no-deps --no-binary kenlm --no-build-isolation \
    --dest "$sources" -r "$sources/kenlm.txt"
tar -xzf "$sources"/kenlm-*.tar.gz -C "$sources" --one-top-level=kenlm --strip-components=1
cmake -S "$sources/kenlm" -B "$sources/build" -DCMAKE_BUILD_TYPE=Release -DFORCE_STATIC=ON
cmake --build "$sources/build" --parallel --target lmplz build_binary
install -m 755 "$sources/build/bin/lmplz" "$sources/build/bin/build_binary" /usr/local/bin/
rm -rf "$sources"

# The commit and its address stand in config.yaml alone; what the programs need stays.
if [ "${MOSES:-}" = yes ]; then
    apt-get install --yes --no-install-recommends g++ make perl curl libboost-all-dev zlib1g-dev libbz2-dev liblzma-dev
    url=$(sed -n 's,.*url: \(.*/mosesdecoder/archive/.*\),\1,p' config.yaml)
    curl --fail --location --output /tmp/moses.tar.gz "$url"
    python -m nmt moses-programs --source /tmp/moses.tar.gz --jobs "$(nproc)" --output /opt/moses
    rm /tmp/moses.tar.gz
fi

# shellcheck disable=SC2086  # a list
apt-get purge --yes --auto-remove $BUILD
rm -rf /var/lib/apt/lists/*

nmt --version
snakemake --version
command -v lmplz build_binary
