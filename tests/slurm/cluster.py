"""A real Slurm on one machine: munge, a controller, a node with two GPU devices that need not exist.

The executor's job step drops SLURM_CONF, so the configuration must lie in /etc/slurm: it is refused where there is one
already, and taken away again at the end.
"""

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import psutil
import pytest

ETC = Path("/etc/slurm")
CONFIGURATION = ("slurm.conf", "gres.conf", "slurmdbd.conf")
MARK = "# Made by tests/slurm for process "
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo")
DATABASE_PROGRAMS = ("mariadbd", "mariadb-install-db", "slurmdbd", "sacctmgr", "sacct")
PATIENCE = 60.0
"""Seconds in which a daemon must be up, or a job seen."""

# A job that a test holds still may run over its limit (OverTimeLimit): a trainer stops by itself.
SLURM_CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/controller
SlurmdSpoolDir={folder}/node
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=1,sched_interval=2,bf_interval=5
MinJobAge=600
KillWait=5
SlurmdTimeout=6
ReturnToService=2
OverTimeLimit=10
MpiDefault=none
GresTypes=gpu
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 RealMemory=100000 Gres=gpu:2 State=UNKNOWN
PartitionName=cpu Nodes={host} Default=YES MaxTime=1-0 State=UP
PartitionName=gpu Nodes={host} MaxTime=1-0 PreemptMode=CANCEL State=UP
PartitionName=urgent Nodes={host} MaxTime=1-0 PriorityTier=10 State=UP
"""
WITHOUT_ACCOUNTING = "AccountingStorageType=accounting_storage/none"
WITH_ACCOUNTING = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={database_port}
AccountingStoragePass={folder}/munge.socket
AccountingStorageEnforce=associations,limits
JobAcctGatherType=jobacct_gather/none"""
GRES_CONF = "AutoDetect=off\nNodeName={host} Name=gpu File={folder}/gpu[0-1]\n"
SLURMDBD_CONF = """\
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={database_port}
SlurmUser=root
PidFile={folder}/slurmdbd.pid
LogFile={folder}/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={mariadb_port}
StorageUser=slurm
StoragePass={password}
StorageLoc=slurm
"""
ACCOUNTS_SQL = """\
CREATE DATABASE slurm;
CREATE USER slurm@localhost IDENTIFIED BY '{password}';
GRANT ALL ON slurm.* TO slurm@localhost;
"""


def explain_missing_slurm(accounting: bool = False) -> str | None:
    """Why no cluster can be started here, in one line; None if one can."""
    needed = PROGRAMS + (DATABASE_PROGRAMS if accounting else ())
    absent = [program for program in needed if not shutil.which(program)]
    if absent:
        packages = "slurm-wlm munge" + (" slurmdbd mariadb-server" if accounting else "")
        return f"not installed: {', '.join(absent)} (Debian, Ubuntu: apt install {packages})"
    if os.geteuid() != 0:
        return "Slurm's daemons and its configuration in /etc/slurm need root"
    held = [str(ETC / name) for name in CONFIGURATION if belongs_to_others(ETC / name)]
    return f"a Slurm is configured here: {', '.join(held)}" if held else None


def skip_or_fail(problem: str) -> NoReturn:
    """Skip a test that needs a cluster; with REQUIRE_SLURM=1, as where Slurm was just installed, let it fail."""
    if os.environ.get("REQUIRE_SLURM") == "1":
        pytest.fail(f"REQUIRE_SLURM=1, but no cluster can be started: {problem}", pytrace=False)
    pytest.skip(problem)


def belongs_to_others(path: Path) -> bool:
    """Whether a configuration is that of a real cluster, or of another test that still runs."""
    if not path.exists():
        return path.is_symlink()
    first = path.read_text(encoding="utf-8").split("\n")[0]
    return not first.startswith(MARK) or psutil.pid_exists(int(first.removeprefix(MARK)))


JANITOR = """\
trap '' INT TERM HUP
cat > /dev/null
rm -f {files}
for name in slurmd slurmctld slurmdbd munge mariadb; do
    test -s {folder}/$name.pid && kill -KILL "$(cat {folder}/$name.pid)"
done
"""
"""Takes away what a test leaves that is itself killed: with a configuration and no controller, every call of Snakemake
on the machine takes ten seconds longer."""


class Cluster:
    """The daemons, and what tests do to them."""

    def __init__(self, folder: Path, accounting: bool = False) -> None:
        self.folder, self.accounting = folder, accounting
        self.host = socket.gethostname().split(".")[0]
        controller, node, database, mariadb = find_free_ports(4)
        self.ports = {
            "controller_port": controller,
            "node_port": node,
            "database_port": database,
            "mariadb_port": mariadb,
        }
        self.values = {"folder": folder, "host": self.host, "password": secrets.token_hex(16), **self.ports}
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}
        self.written: list[Path] = []
        self.janitor: subprocess.Popen[bytes] | None = None

    # Life --------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Write the configuration and start the daemons, each when the one before it answers."""
        for name in ("node", "controller"):
            (self.folder / name).mkdir()
        for number in range(2):
            os.mknod(self.folder / f"gpu{number}", 0o020666, os.makedev(1, 3))
        self._start_janitor()
        self._start_munge()
        if self.accounting:
            self._start_database()
        accounting = WITH_ACCOUNTING if self.accounting else WITHOUT_ACCOUNTING
        self._configure("slurm.conf", SLURM_CONF + accounting)
        self._configure("gres.conf", GRES_CONF)
        if self.accounting:
            self._start("slurmdbd", "-D")
            self.wait(lambda: is_listening(self.ports["database_port"]), "slurmdbd")
            for entry in ("cluster test", "account users", "user root account=users"):
                run("sacctmgr", "--immediate", "add", *entry.split())
        self._start("slurmctld", "-D", "-c")
        self.wait(lambda: run("scontrol", "ping").returncode == 0, "slurmctld")
        self.start_node()

    def _start_janitor(self) -> None:
        files = " ".join(str(ETC / name) for name in CONFIGURATION)
        script = JANITOR.format(files=files, folder=self.folder)
        self.janitor = subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE, start_new_session=True)

    def _configure(self, name: str, template: str) -> None:
        ETC.mkdir(exist_ok=True)
        self.written.append(ETC / name)
        text = f"{MARK}{os.getpid()}\n{template.format_map(self.values)}\n"
        (ETC / name).write_text(text, encoding="utf-8")
        (ETC / name).chmod(0o600)

    def _start(self, program: str, *options: str) -> None:
        with (self.folder / f"{program}.out").open("ab") as out:
            command = [shutil.which(program) or program, *options]
            self.daemons[program] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
            )

    def _start_munge(self) -> None:
        (self.folder / "munge.key").write_bytes(secrets.token_bytes(128))
        (self.folder / "munge.key").chmod(0o600)
        files = {
            "key-file": "key",
            "socket": "socket",
            "pid-file": "pid",
            "log-file": "log",
            "seed-file": "seed",
        }
        options = [f"--{option}={self.folder}/munge.{file}" for option, file in files.items()]
        self._start("munged", "--foreground", "--force", *options)
        self.wait((self.folder / "munge.socket").exists, "munged")

    def _start_database(self) -> None:
        own = ["--no-defaults", f"--datadir={self.folder}/mariadb", "--user=root"]
        subprocess.run(["mariadb-install-db", *own, "--skip-test-db"], check=True, capture_output=True)
        accounts = self.folder / "accounts.sql"
        accounts.write_text(ACCOUNTS_SQL.format_map(self.values), encoding="utf-8")
        files = [f"--socket={self.folder}/mariadb.socket", f"--pid-file={self.folder}/mariadb.pid"]
        listening = [f"--port={self.ports['mariadb_port']}", "--bind-address=127.0.0.1"]
        self._start("mariadbd", *own, *files, *listening, f"--init-file={accounts}")
        self.wait(lambda: is_listening(self.ports["mariadb_port"]), "mariadbd")
        self._configure("slurmdbd.conf", SLURMDBD_CONF)

    def start_node(self) -> None:
        """Start slurmd; returns when jobs can be sent to it."""
        self._start("slurmd", "-D")
        self.wait(lambda: self.node_state() in ("idle", "mixed", "allocated", "completing"), "slurmd")

    def stop_node(self) -> None:
        """Kill slurmd; its jobs' processes are left to themselves, as when a node loses its connection."""
        self.daemons["slurmd"].kill()
        self.daemons["slurmd"].wait()

    def stop(self) -> None:
        """End every job and daemon and take the configuration away."""
        try:
            if "slurmctld" in self.daemons:
                run("scancel", f"--user={os.geteuid()}")
                self.wait(lambda: not self.jobs(), "the end of all jobs")
        finally:
            for daemon in reversed(self.daemons.values()):
                daemon.terminate()
            for daemon in self.daemons.values():
                end_daemon(daemon)
            for path in self.written:
                path.unlink(missing_ok=True)
            if self.janitor is not None:
                self.janitor.kill()
                self.janitor.wait()

    # Looking -----------------------------------------------------------------------------------------------------

    def node_state(self) -> str:
        """What the controller says of the node; `*` stands for no answer from it."""
        return run("sinfo", "--noheader", "--partition=cpu", "--format=%T").stdout.strip()

    def jobs(self, *options: str) -> list[list[str]]:
        """Jobs that wait or run, by default: id, state and comment of each, which names rule and wildcards."""
        lines = run("squeue", "--noheader", "--format=%i|%T|%k", *options).stdout.split("\n")
        return [line.split("|") for line in lines if line]

    def wait(self, done: Callable[[], object], what: str, patience: float = PATIENCE) -> None:
        """Wait until something is so; TimeoutError, with the daemons' logs, if it does not come."""
        deadline = time.monotonic() + patience
        while not done():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what}: not within {patience:.0f} s\n{self.logs()}")
            time.sleep(0.1)

    def logs(self) -> str:
        """The ends of the daemons' logs."""
        files = sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")])
        return "\n".join(f"--- {file.name}\n{file.read_text(errors='replace')[-2000:]}" for file in files)


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run one of Slurm's programs."""
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)


def end_daemon(daemon: subprocess.Popen[bytes]) -> None:
    """Wait for a daemon that was told to end, or kill it."""
    try:
        daemon.wait(timeout=10)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def is_listening(port: int) -> bool:
    """Whether somebody listens at a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def find_free_ports(number: int) -> list[int]:
    """So many ports that nobody listens at."""
    probes = [socket.socket() for _ in range(number)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


@contextmanager
def start_cluster(accounting: bool = False) -> Iterator[Cluster]:
    """A cluster in a folder of its own, stopped at the end whatever happens."""
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        cluster = Cluster(Path(folder), accounting)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()
