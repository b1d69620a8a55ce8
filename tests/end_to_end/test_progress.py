"""What a run tells a person, as Snakemake's logger comes to tell it."""

import os
import pty
import re
import subprocess

from tests.running import ROOT, make_demo, run, run_command


def test_a_terminal_sees_what_runs_in_its_last_line(tmp_path):
    overlay = make_demo(tmp_path)
    near, far = pty.openpty()
    command = run_command(tmp_path, "--configfile", str(overlay), "--", "data")
    with subprocess.Popen(command, cwd=ROOT, stdin=far, stdout=far, stderr=far) as process:
        os.close(far)
        seen = b""
        while True:
            try:
                chunk = os.read(near, 4096)
            except OSError:  # its last writer has gone
                break
            seen += chunk
        assert process.wait() == 0, seen.decode()
    assert b"\r\x1b[Ktime left " in seen
    plain = [line.rpartition("\x1b[K")[2].strip() for line in seen.decode().split("\n")]
    assert [line.split()[-2] for line in plain if line.endswith(" done")] != []
    assert len([line for line in plain if line]) < 20, plain


def test_a_failure_is_told_in_our_words(tmp_path):
    overlay = make_demo(tmp_path)
    text = tmp_path / "data" / "raw" / "demo-dev" / "0.en.zst"
    target = str(text.relative_to(tmp_path))
    assert run(run_command(tmp_path, "--configfile", str(overlay), "--", target)).returncode == 0
    text.write_bytes(b"damaged")
    # one job at a time: none ends after the one that fails
    result = run(run_command(tmp_path, "--cores", "1", "--configfile", str(overlay), "--", "data"))
    assert result.returncode == 1
    log = os.path.relpath(tmp_path / "logs" / "prepare" / "demo-dev" / "0.log", ROOT)
    failure = result.stdout[result.stdout.index("\nFAILED: ") :]
    assert re.fullmatch(rf"\nFAILED: prepare demo-dev/0\nerror: .*0.en.zst.*\nlog: {log}\n\n", failure)
    for chatter in ("rule ", "Select jobs", "jobid", "Building DAG", "reason:", "Traceback"):
        assert chatter not in result.stdout, result.stdout
