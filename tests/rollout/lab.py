# SPDX-License-Identifier: Apache-2.0
"""Hosts on a bridge: each with a systemd, an sshd, a disk and an address of its own.

The bridge lies in a network namespace that has no way out, and the controller's commands run in
there. A host's disk (an overlay on a tmpfs) outlives its reboots and its loss of power; it goes
with the lab. A holder keeps the mount namespace in which the host's disk and cgroup are.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from tests.support import nspawn

NETWORK = "10.119.0"
BOOT_TIMEOUT_S = 180
# $1 image, $2 folder, $3 name of the cgroup. It ends when its standard input does.
HOLD = r"""
set -e
mount -t tmpfs -o size=2g tkdc "$2"
mkdir "$2/upper" "$2/work" "$2/root"
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
mount -t cgroup2 none /sys/fs/cgroup
mkdir "/sys/fs/cgroup/$3"
echo ready
read -r _ || true
echo 1 >"/sys/fs/cgroup/$3/cgroup.kill"
for _ in $(seq 100); do
  grep -q 'populated 0' "/sys/fs/cgroup/$3/cgroup.events" && break
  sleep 0.1
done
find "/sys/fs/cgroup/$3" -depth -type d -exec rmdir {} \;
"""
# $1 folder, $2 namespace and cgroup, $3 host name
BOOT = r"""
echo $$ >"/sys/fs/cgroup/$2/cgroup.procs"
exec systemd-nspawn -D "$1/root" -b --register=no --keep-unit \
  --network-namespace-path="/run/netns/$2" --system-call-filter=bpf \
  --capability=CAP_IPC_LOCK,CAP_NET_ADMIN --console=pipe --hostname="$3"
"""


def missing() -> str:
    """Why no lab can be made here; empty when one can."""
    if reason := nspawn.missing():
        return reason
    for program in ("ansible-playbook", "nft", "ssh", "apt-ftparchive", "gpg"):
        if shutil.which(program) is None:
            return f"needs {program}: ./bootstrap --rollout installs it"
    return ""


class Machine(nspawn.Host):
    """One host. `run` goes by the namespaces, past the network; Ansible takes SSH."""

    def __init__(self, lab: "Lab", name: str, address: str):
        super().__init__(lab.image, f"{lab.prefix}-{name}")
        self.lab, self.host_name, self.address = lab, name, address
        self.holder: subprocess.Popen | None = None

    def make(self) -> None:
        """A disk and a cable."""
        self.folder = self.lab.folder / self.host_name
        self.folder.mkdir()
        self.log = (self.lab.folder / f"{self.host_name}.console").open("w+")
        ip = ["ip", "-n", self.lab.prefix]
        subprocess.run(["ip", "netns", "add", self.name], check=True)
        subprocess.run([*ip, "link", "add", self.host_name, "type", "veth", "peer", "name", "eth0",
                        "netns", self.name], check=True)
        subprocess.run([*ip, "link", "set", self.host_name, "master", "bridge", "up"], check=True)
        for command in (["addr", "add", f"{self.address}/24", "dev", "eth0"],
                        ["link", "set", "eth0", "up"], ["link", "set", "lo", "up"]):
            subprocess.run(["ip", "-n", self.name, *command], check=True)
        self.holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "bash", "-c", HOLD, "hold",
             str(self.image), str(self.folder), self.name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)
        if self.holder.stdout.readline() != "ready\n":
            raise RuntimeError(f"no disk for {self.host_name}: {self.said()}")

    def power_on(self) -> None:
        self.process = subprocess.Popen(
            ["nsenter", "-t", str(self.holder.pid), "--mount", "bash", "-c", BOOT, "boot",
             str(self.folder), self.name, self.host_name],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def wait_up(self) -> None:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        deadline = time.monotonic() + BOOT_TIMEOUT_S
        while time.monotonic() < deadline:
            try:
                self.leader = int((children.read_text().split() or ["0"])[0])
            except FileNotFoundError as gone:
                raise RuntimeError(f"{self.host_name} ended: {self.said()}") from gone
            if self.leader and self.run("systemctl is-system-running", check=False).stdout.strip() \
                    in ("running", "degraded"):
                return
            time.sleep(0.2)
        raise RuntimeError(f"{self.host_name} does not boot: {self.said()}")

    def cut_power(self) -> None:
        """All its processes end at once, as when the plug is pulled."""
        subprocess.run(["nsenter", "-t", str(self.holder.pid), "--mount", "sh", "-c",
                        f"echo 1 >/sys/fs/cgroup/{self.name}/cgroup.kill"], check=True)
        self.process.wait(BOOT_TIMEOUT_S)

    def reboot(self) -> None:
        """systemctl reboot, and the firmware's part."""
        self.run("systemctl reboot", check=False)
        try:
            self.process.wait(BOOT_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.cut_power()
        self.power_on()
        self.wait_up()

    def nft(self, rules: str) -> None:
        """In the host's network, beside what the host has itself."""
        subprocess.run(["ip", "netns", "exec", self.name, "nft", "-f", "-"], input=rules, text=True,
                       check=True)

    def cut_off(self) -> None:
        """A partition: nothing comes in, nothing goes out."""
        self.nft("table inet cut {\n"
                 " chain i { type filter hook input priority -200; iif != lo drop; }\n"
                 " chain o { type filter hook output priority -200; oif != lo drop; }\n}\n")

    def reconnect(self) -> None:
        self.nft("delete table inet cut\n")

    def end(self) -> None:
        if self.holder is not None:
            self.holder.stdin.close()
            try:
                self.holder.wait(BOOT_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.holder.kill()
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        subprocess.run(["ip", "netns", "del", self.name], check=False)
        self.log.close()


class Lab:
    """From `start` to `end` all hosts are up, with SSH keys of their own. Then nothing is left."""

    def __init__(self, image: Path, names: dict[str, int]):
        """`names`: the last octet of each host's address."""
        self.image = image
        self.prefix = f"tkdc{os.getpid()}"
        self.folder = Path(tempfile.mkdtemp(prefix="tkdc-lab-"))
        self.hosts = {name: Machine(self, name, f"{NETWORK}.{octet}")
                      for name, octet in names.items()}

    def start(self) -> None:
        try:
            self._wire()
            for host in self.hosts.values():
                host.make()
                host.power_on()
            for host in self.hosts.values():
                host.wait_up()
            self._give_keys()
        except BaseException:
            self.end()
            raise

    def _wire(self) -> None:
        subprocess.run(["ip", "netns", "add", self.prefix], check=True)
        for command in (["link", "set", "lo", "up"], ["link", "add", "bridge", "type", "bridge"],
                        ["addr", "add", f"{NETWORK}.1/24", "dev", "bridge"],
                        ["link", "set", "bridge", "up"]):
            subprocess.run(["ip", "-n", self.prefix, *command], check=True)

    def _give_keys(self) -> None:
        """The controller's key to each host, each host's to the controller; names to all."""
        key = self.folder / "ssh.key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
        public = (self.folder / "ssh.key.pub").read_text()
        names = "127.0.0.1 localhost\n" + "".join(
            f"{host.address} {self.fqdn(name)} {name}\n" for name, host in self.hosts.items())
        known = ""
        for host in self.hosts.values():
            host.run("ssh-keygen -q -A && mkdir -p /root/.ssh && systemctl reset-failed ssh && "
                     "systemctl restart ssh")
            host.write("/root/.ssh/authorized_keys", public)
            host.run("umask 22; cat >/etc/hosts", stdin=names)
            known += f"{host.address} {host.run('cat /etc/ssh/ssh_host_ed25519_key.pub').stdout}"
        (self.folder / "known_hosts").write_text(known)

    @staticmethod
    def fqdn(name: str) -> str:
        return f"{name}.rollout.test"

    def controller(self, argv: list[str], **options) -> subprocess.CompletedProcess:
        """A command on the bridge, beside the hosts."""
        return subprocess.run(["ip", "netns", "exec", self.prefix, *argv], text=True, check=False,
                              **options)

    def end(self) -> None:
        for host in self.hosts.values():
            if hasattr(host, "log"):
                host.end()
        subprocess.run(["ip", "netns", "del", self.prefix], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)
