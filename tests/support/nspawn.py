# SPDX-License-Identifier: Apache-2.0
"""A host with a systemd of its own, on this machine: one Debian image, an overlay for each host.

systemd-nspawn runs in a mount namespace with its own cgroup2, in a network namespace of its own. As
root only. Without --system-call-filter=bpf IPAddressDeny= is silently not enforced, without
CAP_IPC_LOCK every mlock fails.
"""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

BOOT_TIMEOUT_S = 60
RUN_TIMEOUT_S = 120
# $1 image folder, $2 the host's folder, $3 its name; behind them what else systemd-nspawn is told.
# It ends when its standard input does.
START = r"""
set -e
mount -t tmpfs tkdc "$2"
mkdir "$2/upper" "$2/work" "$2/root"
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
mount -t cgroup2 none /sys/fs/cgroup
mkdir "/sys/fs/cgroup/$3"
echo $$ >"/sys/fs/cgroup/$3/cgroup.procs"
systemd-nspawn -D "$2/root" -b --register=no --keep-unit --network-namespace-path="/run/netns/$3" \
  --system-call-filter=bpf --capability=CAP_IPC_LOCK --console=pipe --hostname="$3" \
  "${@:4}" </dev/null &
host=$!
echo "pid $host"
read -r _ || true
kill -TERM $host
for _ in $(seq 100); do kill -0 $host 2>/dev/null || break; sleep 0.1; done
kill -KILL $host 2>/dev/null || true
wait $host || true
echo $$ >/sys/fs/cgroup/cgroup.procs
find "/sys/fs/cgroup/$3" -depth -type d -exec rmdir {} \;
"""


def missing() -> str:
    """Why no host can be started here; empty when one can."""
    if os.geteuid() != 0:
        return "needs root"
    for program in ("systemd-nspawn", "mmdebstrap", "ip", "unshare", "nsenter"):
        if shutil.which(program) is None:
            return f"needs {program}: ./bootstrap --packages installs it"
    return ""


class Host:
    """As a context manager: booted, and gone afterwards, with everything that was written to it."""

    def __init__(self, image: Path, name: str, environment: dict[str, str] | None = None):
        """`environment`: of its systemd."""
        self.image, self.name = image, name
        self.more = [f"--setenv={key}={value}" for key, value in (environment or {}).items()]
        self.process: subprocess.Popen | None = None
        self.leader = 0

    def __enter__(self) -> "Host":
        self.folder = Path(tempfile.mkdtemp(prefix="tkdc-host-"))
        subprocess.run(["ip", "netns", "add", self.name], check=True)
        subprocess.run(["ip", "-n", self.name, "link", "set", "lo", "up"], check=True)
        self.log = (self.folder.parent / f"{self.folder.name}.log").open("w+")
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "bash", "-c", START, "host",
             str(self.image), str(self.folder), self.name, *self.more],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)
        try:
            self._wait_for_boot()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _wait_for_boot(self) -> None:
        line = self.process.stdout.readline()
        if not line.startswith("pid "):
            raise RuntimeError(f"no host: {self.said()}")
        children = Path(f"/proc/{line.split()[1]}/task/{line.split()[1]}/children")
        deadline = time.monotonic() + BOOT_TIMEOUT_S
        while time.monotonic() < deadline:
            try:
                self.leader = int((children.read_text().split() or ["0"])[0])
            except FileNotFoundError as gone:
                raise RuntimeError(f"the host ended: {self.said()}") from gone
            if self.leader and self.run("systemctl is-system-running", check=False).stdout.strip() \
                    in ("running", "degraded"):
                return
            time.sleep(0.2)
        raise RuntimeError(f"the host does not boot: {self.said()}")

    def __exit__(self, *_exc) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(BOOT_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
        subprocess.run(["ip", "netns", "del", self.name], check=False)
        self.log.close()
        Path(self.log.name).unlink()
        self.folder.rmdir()

    def said(self) -> str:
        self.log.flush()
        return Path(self.log.name).read_text()[-2000:]

    def run(self, command: str, *, check: bool = True, stdin: str = "",
            timeout_s: float = RUN_TIMEOUT_S) -> subprocess.CompletedProcess:
        """By root's shell on the host, without a terminal."""
        done = subprocess.run(
            ["nsenter", "-t", str(self.leader), "--all", "env", "-i", "HOME=/root",
             "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
             "DEBIAN_FRONTEND=noninteractive", "sh", "-c", f"cd /root; {command}"],
            input=stdin, text=True, capture_output=True, timeout=timeout_s, check=False)
        if check and done.returncode != 0:
            journal = self.run("journalctl --no-pager -n 15", check=False).stdout
            raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}\n"
                                 f"{journal}")
        return done

    def write(self, path: str, text: str) -> None:
        self.run(f"mkdir -p $(dirname {path}) && cat >{path}", stdin=text)

    def copy(self, source: Path, folder: str) -> None:
        with source.open("rb") as octets:
            subprocess.run(["nsenter", "-t", str(self.leader), "--all", "sh", "-c",
                            f"mkdir -p {folder} && cat >{folder}/{source.name}"], stdin=octets,
                           check=True)
