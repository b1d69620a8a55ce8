"""Fetch the program uv from PyPI: the version and the hash of uv.lock. Runs on Python 3.8 and later, without packages.

Usage: python tools/fetch_uv.py FILE
"""

import hashlib
import io
import platform
import re
import sys
import urllib.request
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main(target: Path) -> None:
    """Write the program uv for this machine to the file `target`, atomically.

    Raises:
        OSError: there is none for this machine, or it cannot be downloaded.
    """
    # 1. the block of uv in the lock file, with a wheel for each system and processor: {address: SHA-256}
    lock = (ROOT / "uv.lock").read_text(encoding="utf-8")
    (block,) = re.findall(r'^name = "uv"\n(?:.+\n)*', lock, flags=re.MULTILINE)
    hashes = dict(re.findall(r'url = "(\S+\.whl)", hash = "sha256:(\w+)"', block))

    # 2. the wheel for this machine, such as .../uv-0.13.9-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl
    system = {"Linux": "manylinux", "Darwin": "macosx"}.get(platform.system(), platform.system())
    suffix = rf"-{system}.*_{platform.machine()}\.whl$"
    urls = [url for url in hashes if re.search(suffix, url)]
    if not urls:
        raise OSError(f"uv: none for {platform.system()} on {platform.machine()}")
    with urllib.request.urlopen(urls[0], timeout=60) as response:
        wheel = response.read()
    if hashlib.sha256(wheel).hexdigest() != hashes[urls[0]]:
        raise OSError(f"{urls[0]}: its SHA-256 differs from uv.lock")

    # 3. the program in it
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".data/scripts/uv")]
        program = archive.read(name)
    temporary_file = target.with_name("part")
    temporary_file.write_bytes(program)
    temporary_file.chmod(0o755)
    temporary_file.replace(target)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except OSError as error:
        sys.exit(f"error: {error}")
