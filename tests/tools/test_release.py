"""What a version publishes: a package that holds what it needs, and finished experiments alone."""

import shutil
import subprocess
import tarfile
import zipfile

from tests.running import ROOT


def test_release_has_package_and_refuses_unfinished_runs(tmp_path):
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in [name for name in files.splitlines() if (ROOT / name).is_file()]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for name in (".uv", ".venv"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "experiments/demo/results").mkdir()
    (tmp_path / "experiments/demo/results/report.html").touch()  # its models are gone
    command = ["bash", "tools/release.sh"]
    ended = subprocess.run(
        [*command, "experiments/demo"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2 and "experiments/demo: not finished" in ended.stderr, ended.stderr
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    (wheel,), (source,) = (tmp_path / "release").glob("*.whl"), (tmp_path / "release").glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info" not in name}
    assert names == {
        name for name in files.splitlines() if name.startswith("nmt/") and (ROOT / name).is_file()
    }
    with tarfile.open(source) as packed:
        held = {name.partition("/")[2] for name in packed.getnames()}
    assert {"pyproject.toml", "setup.py", "README.md", "LICENSE", *names} <= held
