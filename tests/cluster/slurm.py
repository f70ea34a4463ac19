"""A Slurm of one node on this Debian machine, as long as it is needed: munged, slurmctld, slurmd.

All of it lies in one folder and listens on loopback, but for /etc/slurm/slurm.conf, which Slurm's
own commands read: it must not be there before, and is gone afterwards. Needs root, and the packages
slurm-wlm and munge.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType

CONF = Path("/etc/slurm/slurm.conf")
MARK = "# confee's test, process "
DAEMONS = ("munged", "slurmctld", "slurmd")

TEXT = """{mark}{pid}
ClusterName=confee
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/finished.txt
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
ReturnToService=2
KillWait=2
NodeName=localhost NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def lacking() -> str:
    """Why Slurm can't be brought up here; empty if it can."""
    if os.geteuid() != 0:
        return "not root"
    absent = [name for name in DAEMONS if not shutil.which(name)]
    if absent:
        return f"no {', '.join(absent)}: apt-get install slurm-wlm munge"
    if CONF.exists() and not _left_over():
        return f"{CONF} is there: this machine has a Slurm of its own"
    return ""


def _left_over() -> bool:
    """Whether the file is of a test that was killed."""
    first = CONF.read_text().partition("\n")[0]
    owner = first.removeprefix(MARK)
    return first.startswith(MARK) and not Path("/proc", owner).exists()


class Slurm:
    """`with Slurm(folder) as slurm:` in an empty folder; what is queued at the end is cancelled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Slurm:
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "munge.key").write_bytes(os.urandom(128))
        (self.folder / "munge.key").chmod(0o400)
        if CONF.exists() and _left_over():
            CONF.unlink()
        try:
            with CONF.open("x") as conf:
                conf.write(self._conf())
            self._start("munged", "-F", "--force", *self._munge())
            self._await("munge", "-n", "-S", str(self.folder / "munge.socket"))
            self._start("slurmctld", "-D", "-c")
            self._start("slurmd", "-D", "-c", "-N", "localhost")
            self._await("sh", "-c", "sinfo -h -o %T | grep -qx idle")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(["scancel", "--user=root"], capture_output=True, timeout=20)
            self._await("sh", "-c", '[ -z "$(squeue -h -t PD,R,CG -o %i)" ]')
        for daemon in reversed(self.running):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
        CONF.unlink(missing_ok=True)

    def finished(self) -> list[dict[str, str]]:
        """What Slurm says of each job that ended, by its own log of them."""
        log = self.folder / "finished.txt"
        lines = log.read_text().splitlines() if log.exists() else []
        return [dict(word.partition("=")[::2] for word in line.split(" ")) for line in lines]

    def _conf(self) -> str:
        with contextlib.ExitStack() as stack:
            free = [stack.enter_context(socket.socket()) for _ in range(2)]
            for one in free:
                one.bind(("127.0.0.1", 0))
            ports = [one.getsockname()[1] for one in free]
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
        return TEXT.format(
            mark=MARK,
            pid=os.getpid(),
            host=socket.gethostname(),
            folder=self.folder,
            ports=ports,
            cpus=os.cpu_count(),
            memory=memory,
        )

    def _munge(self) -> list[str]:
        names = {
            "key-file": "key",
            "socket": "socket",
            "pid-file": "pid",
            "log-file": "log",
            "seed-file": "seed",
        }
        return [f"--{option}={self.folder}/munge.{end}" for option, end in names.items()]

    def _start(self, *command: str) -> None:
        with (self.folder / f"{command[0]}.out").open("wb") as out:
            # In a session of its own: Ctrl-C is for the test, which then takes them down in order.
            self.running.append(
                subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
            )

    def _await(self, *command: str, seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while subprocess.run(command, capture_output=True, timeout=20).returncode:
            if time.monotonic() > deadline:
                said = " ".join(command)
                raise RuntimeError(f"{said}: not after {seconds:g} s; see {self.folder}")
            time.sleep(0.2)
