"""`make setup` installs the lock file's packages, with the build of PyTorch that the machine can run."""

import hashlib
import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.running import ROOT
from tools import fetch_uv

UV = ROOT / ".uv" / "uv"


def test_lock_file_is_up_to_date():
    subprocess.run([UV, "lock", "--check", "--offline"], cwd=ROOT, check=True)


FAKE_UV = """#!/bin/sh
# Notes what it is asked to do; PyTorch's index is out of reach where INDEX is "no".
case "$1 $*" in
    export*) echo "torch==2.0.0 \\\\"; echo "    --hash=sha256:00" ;;
    *) echo "$*" >> asked ;;
esac
case "$*" in *--no-install-package*) exit 0 ;; sync*cpu*) [ "$INDEX" != no ] ;; esac
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with setup.sh, a uv that notes what it is asked, and no driver of NVIDIA's."""
    programs = {
        ".uv/uv": FAKE_UV,
        ".venv/bin/python": "#!/bin/sh\necho pip >> asked\n",
        "bin/nvidia-smi": "#!/bin/sh\nexit 9\n",
    }
    for name, text in programs.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "setup.sh").symlink_to(ROOT / "tools" / "setup.sh")
    return tmp_path


def run_setup(project: Path, *options: str, **variables: str) -> list[str]:
    """What setup.sh asks uv and pip to do."""
    path = f"{project / 'bin'}:/usr/bin:/bin"
    command = ["sh", str(project / "tools" / "setup.sh"), *options]
    subprocess.run(command, check=True, env={"PATH": path, "HOME": str(project)} | variables)
    calls = (project / "asked").read_text(encoding="utf-8").splitlines()
    (project / "asked").unlink()
    assert all("--frozen" in call and "--group workflow" in call for call in calls if call.startswith("sync"))
    return calls


def has_driver(project: Path, version: str) -> None:
    (project / "bin" / "nvidia-smi").write_text(f"#!/bin/sh\necho {version}\n", encoding="utf-8")


def test_pytorch_without_a_driver_has_no_cuda(project):
    rest, torch = run_setup(project, "--group", "dev")
    assert "--no-install-package torch" in rest and rest.endswith("--group dev")
    assert "--extra cpu" in torch and "--no-install-package" not in torch and torch.endswith("--group dev")


def test_without_pytorch_index_pip_installs(project):
    calls = run_setup(project, INDEX="no")
    assert [call.split()[0] for call in calls] == ["sync", "sync", "pip", "sync"]
    # bytecode is written once for the packages, and once for PyTorch
    assert ["--compile-bytecode" in call for call in calls] == [False, True, False, True]
    assert (project / ".venv" / "torch.txt").read_text() == "torch==2.0.0 \\\n    --hash=sha256:00\n"


def test_driver_decides_the_cuda_build(project):
    has_driver(project, "580.65.06")
    (everything,) = run_setup(project)
    assert "--extra" not in everything and "--no-install-package" not in everything
    has_driver(project, "550.54.14")
    rest, torch = run_setup(project)
    assert "--no-install-package torch" in rest
    assert torch.startswith("pip install") and torch.endswith("--torch-backend cu126 torch==2.0.0+cu126")


def test_full_disk_is_told_before_a_download(project):
    df = project / "bin" / "df"
    df.write_text("#!/bin/sh\necho title\necho disk 9999999 9 300000 9% /\n")
    df.chmod(0o755)
    with pytest.raises(subprocess.CalledProcessError) as error:
        run_setup(project)
    assert error.value.returncode == 2 and not (project / "asked").exists()


def test_requested_build_stays(project):
    assert "--extra" not in run_setup(project, TORCH="cuda")[0]
    packages = project / ".venv" / "lib" / "python3.11" / "site-packages"
    (packages / "torch-2.0.0+cpu.dist-info").mkdir(parents=True)
    has_driver(project, "580.65.06")
    assert "--extra cpu" in run_setup(project)[1]
    (packages / "torch-2.0.0+cpu.dist-info").rename(packages / "torch-2.0.0.dist-info")
    assert "--extra" not in run_setup(project, PYTHON="python3.12")[0]


def test_fetch_uv_checks_the_hash(tmp_path, monkeypatch):
    tags = ("manylinux_2_17_x86_64", "manylinux_2_17_aarch64", "macosx_11_0_arm64")
    wheels = [tmp_path / f"uv-1.0-py3-none-{tag}.whl" for tag in tags]
    for path in wheels:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("uv-1.0.data/scripts/uv", path.name)
    sums = {path.as_uri(): hashlib.sha256(path.read_bytes()).hexdigest() for path in wheels}
    lines = "".join(
        f'    {{ url = "{url}", hash = "sha256:{sha256}", size = 1 }},\n' for url, sha256 in sums.items()
    )
    lock = f'[[package]]\nname = "uv"\nversion = "1.0"\nwheels = [\n{lines}]\n\n[[package]]\n'
    (tmp_path / "uv.lock").write_text(lock, encoding="utf-8")
    monkeypatch.setattr(fetch_uv, "ROOT", tmp_path)
    monkeypatch.setattr(fetch_uv.platform, "system", lambda: "Linux")
    monkeypatch.setattr(fetch_uv.platform, "machine", lambda: "aarch64")
    fetch_uv.main(tmp_path / "uv")
    assert (tmp_path / "uv").read_text() == wheels[1].name and os.access(tmp_path / "uv", os.X_OK)
    wheels[1].write_bytes(b"another")
    with pytest.raises(OSError, match=r"its SHA-256 differs"):
        fetch_uv.main(tmp_path / "uv")
