#!/bin/sh
# What `make setup` and the containers call: run install.py, whose options this takes, by any Python from 3.8 on.
#
# Usage: [PYTHON=python3.12] sh workflow/setup.sh [--dev] [--torch BUILD]
set -u
cd "$(dirname "$0")/.." || exit
UNFIT=3 # exit status of install.py: neither is there a Python for the project nor could uv bring one

advise() {
    ID=unknown ID_LIKE="" VERSION_ID=""
    # shellcheck disable=SC1091
    if [ -r /etc/os-release ]; then . /etc/os-release; fi
    case "$(uname -s) $ID $ID_LIKE $VERSION_ID" in
        Darwin*) install="brew install python@3.13" ;;
        *alpine*) install="nothing helps: PyTorch is not made for Alpine; use its container, or Debian's" ;;
        *" ubuntu"*22.04) install="sudo apt install python3.11" ;;
        *debian* | *ubuntu*) install="sudo apt install python3" ;;
        *fedora* | *rhel*) install="sudo dnf install python3.12" ;;
        *suse*\ 15*) install="sudo zypper install python311" ;;
        *suse*) install="sudo zypper install python313" ;;
        *arch*) install="sudo pacman -S python" ;;
        *) install="one of them" ;;
    esac
    echo "error: Python 3.11 to 3.14 needed, $1: $install (or install uv, which brings one: https://docs.astral.sh/uv)" >&2
    exit 2
}

program=${PYTHON:-python3}
if "$program" -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2> /dev/null; then
    "$program" workflow/install.py --python "${PYTHON:-}" "$@" || {
        status=$?
        [ "$status" != "$UNFIT" ] || advise "found $("$program" --version 2>&1)"
        exit "$status"
    }
    exit 0
fi
[ -z "${PYTHON:-}" ] || { echo "error: PYTHON=$PYTHON: no such program, or older than 3.8" >&2; exit 2; }
for uv in uv "$HOME/.local/bin/uv" "$HOME/.cargo/bin/uv"; do
    if command -v "$uv" > /dev/null; then
        exec "$uv" run --quiet --no-project --python '>=3.11,<3.15' workflow/install.py "$@"
    fi
done
advise "no python3 found"
