# SPDX-License-Identifier: Apache-2.0
"""An installation on a lab's hosts, as administrators have it: inventories, and Ansible by SSH.

The collection is the file that `ansible-galaxy collection build` made of ansible/, installed from
that file. Packages come from a signed repository that the controller serves on the bridge.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.rollout.lab import NETWORK, Lab, Machine
from tests.rollout.packages import Signer

ROOT = Path(__file__).resolve().parents[2]
REALM = "ROLLOUT.TEST"
# TKDC_ROLLOUT_SERVERS=2: a realm on two servers.
TWO = os.environ.get("TKDC_ROLLOUT_SERVERS") == "2"
SERVERS = ("server0", "server1") if TWO else ("server0", "server1", "server2")
KDCS = ("kdc0", "kdc1")
HOSTS = {**{name: 10 + party for party, name in enumerate(SERVERS)},
         "kdc0": 20, "kdc1": 21, "client": 30}
PLAY_TIMEOUT_S = 1800
HTTP_PORT = 8000
CLIENT_KRB5 = f"""\
[libdefaults]
    default_realm = {REALM}
    dns_lookup_kdc = false
    dns_canonicalize_hostname = false
[realms]
    {REALM} = {{
        kdc = kdc0.rollout.test
        kdc = kdc1.rollout.test
        admin_server = kdc0.rollout.test
    }}
"""


class StepError(AssertionError):
    """A step that did not do what it should; its text says what was seen."""


def until(what: str, condition: Callable[[], bool], timeout_s: float = 120,
          every_s: float = 0.5) -> float:
    """Seconds until it held."""
    start = time.monotonic()
    while not condition():
        if time.monotonic() - start > timeout_s:
            raise StepError(f"not within {timeout_s:.0f} s: {what}")
        time.sleep(every_s)
    return time.monotonic() - start


class Play:
    """What a run of a playbook said."""

    def __init__(self, done: subprocess.CompletedProcess):
        self.status, self.said = done.returncode, done.stdout + done.stderr
        recap = re.findall(r"^(\S+) +: ok=\d+ +changed=(\d+) +unreachable=(\d+) +failed=(\d+)",
                           self.said, re.M)
        self.changed = sum(int(line[1]) for line in recap)
        self.hosts = [line[0] for line in recap]


class Site:
    def __init__(self, lab: Lab, repositories: list[Path]):
        """`repositories`: of what is installed, and last of what it is upgraded to."""
        self.lab, self.folder = lab, lab.folder / "site"
        self.folder.mkdir()
        self.served = self.folder / "www"
        self.signer = Signer()
        self.repositories = repositories
        self.serve(repositories[0])
        self.http = subprocess.Popen(
            ["ip", "netns", "exec", lab.prefix, "/usr/bin/python3", "-m", "http.server",
             str(HTTP_PORT), "--bind", f"{NETWORK}.1", "--directory", str(self.served)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.primary, self.variables = "kdc0", {}
        # What a step has counted, for its line.
        self.notes: list[str] = []
        # What each run of a playbook has said, for as long as the lab is there.
        self.logs = self.folder / "logs"
        self.logs.mkdir()
        # None of the machine's own.
        (self.folder / "ansible.cfg").write_text("[defaults]\n")
        self._install_collection()

    def close(self) -> None:
        self.http.terminate()
        self.http.wait(30)
        self.signer.close()

    def note(self, text: str) -> None:
        self.notes.append(text)

    def taken_notes(self) -> list[str]:
        notes, self.notes = self.notes, []
        return notes

    def host(self, name: str) -> Machine:
        return self.lab.hosts[name]

    @property
    def client(self) -> Machine:
        return self.host("client")

    def serve(self, repository: Path) -> None:
        """These packages from now on, signed by one key as in a repository that goes on."""
        made = self.folder / "repository"
        self.signer.sign(repository, made)
        self.served.mkdir(exist_ok=True)
        for path in self.served.iterdir():
            path.unlink()
        for path in made.iterdir():
            shutil.copy(path, self.served)
        shutil.rmtree(made)

    def _install_collection(self) -> None:
        built = self.folder / "built"
        for command in (["collection", "build", str(ROOT / "ansible"), "--output-path", str(built)],
                        ["collection", "install", "--offline", "-p",
                         str(self.folder / "collections"), "FILE"]):
            files = [str(path) for path in built.glob("*.tar.gz")]
            argv = [files[0] if one == "FILE" else one for one in command]
            done = subprocess.run(["ansible-galaxy", *argv], env=self.environment(), text=True,
                                  capture_output=True, check=False)
            if done.returncode != 0:
                raise StepError(f"ansible-galaxy {argv}: {done.stdout}{done.stderr}")

    def environment(self) -> dict[str, str]:
        return {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.folder), "LANG": "C.UTF-8",
            "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
            "ANSIBLE_CONFIG": str(self.folder / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": str(self.folder / "collections"),
            "ANSIBLE_NOCOLOR": "1", "ANSIBLE_PIPELINING": "1", "ANSIBLE_FORKS": "6",
            "ANSIBLE_LOCALHOST_WARNING": "0", "ANSIBLE_TIMEOUT": "60",
        }

    def make_backup_key(self) -> Path:
        """The public half, for the inventory; the secret one lies beside it. As `tkdc backup key`
        makes them, where no package is installed yet: by OpenSSL."""
        key = self.folder / "backup.key"
        public = key.with_suffix(".pub")
        der = subprocess.run(["openssl", "genpkey", "-algorithm", "X25519", "-outform", "DER"],
                             capture_output=True, check=True).stdout
        derived = subprocess.run(["openssl", "pkey", "-inform", "DER", "-pubout", "-outform",
                                  "DER"], input=der, capture_output=True, check=True).stdout
        for path, half, octets in ((key, "secret", der), (public, "public", derived)):
            path.write_text(f"tkdc backup {half} key 1\n{octets[-32:].hex()}\n")
            path.chmod(0o600)
        return public

    # ---- inventories

    def _common(self, exchange: Path) -> dict:
        return {
            "ansible_user": "root", "ansible_python_interpreter": "/usr/bin/python3",
            "ansible_ssh_private_key_file": str(self.lab.folder / "ssh.key"),
            "ansible_ssh_common_args": f"-o UserKnownHostsFile={self.lab.folder}/known_hosts "
                                       "-o StrictHostKeyChecking=yes",
            "tkdc_realm": REALM, "tkdc_exchange": str(exchange),
            "tkdc_members": [*SERVERS, *(f"{kdc}-{role}" for kdc in KDCS
                                         for role in ("kdc", "admin"))],
            "tkdc_repository": f"http://{NETWORK}.1:{HTTP_PORT}/",
            "tkdc_repository_key": str(self.served / "tkdc.gpg"),
            "tkdc_primary": self.primary, **self.variables,
        }

    def _variables_of(self, name: str) -> dict:
        out = {"ansible_host": self.host(name).address, "tkdc_address": self.host(name).address}
        if name in SERVERS:
            return out | {"tkdc_party": int(name[-1])}
        return out | {"tkdc_fqdn": Lab.fqdn(name), "tkdc_ldap_id": 1 + int(name[-1]),
                      "tkdc_agents": {role: f"{name}-{role}" for role in ("kdc", "admin")}}

    def inventory(self, owner: str, hosts: tuple[str, ...], extra: dict | None = None) -> Path:
        """`owner`'s own: his hosts, and a folder for the introductions that he has."""
        folder = self.folder / owner
        (folder / "introductions").mkdir(parents=True, exist_ok=True)
        groups = {"tkdc_servers": [h for h in hosts if h in SERVERS],
                  "tkdc_kdcs": [h for h in hosts if h in KDCS]}
        document = {"all": {
            "vars": {key: value for key, value in (
                self._common(folder / "introductions") | (extra or {})).items()
                if value is not None},
            "children": {group: {"hosts": {h: self._variables_of(h) for h in members}}
                         for group, members in groups.items() if members}}}
        path = folder / "inventory.json"
        path.write_text(json.dumps(document, indent=1))
        return path

    def joint(self, **extra) -> Path:
        return self.inventory("joint", (*SERVERS, *KDCS), {"tkdc_joint": True, **extra})

    # ---- Ansible

    def new_log(self, name: str) -> Path:
        return self.logs / f"{len(list(self.logs.iterdir())):03}-{name}.log"

    def play(self, name: str, inventory: Path, *options: str, expect: int | None = 0) -> Play:
        done = self.lab.controller(
            ["ansible-playbook", "-i", str(inventory), f"tkdc.appliance.{name}", *options],
            env=self.environment(), capture_output=True, timeout=PLAY_TIMEOUT_S)
        play = Play(done)
        self.new_log(name).write_text(play.said)
        if expect is not None and play.status != expect:
            raise StepError(f"{name}: exit status {play.status}\n{play.said[-6000:]}")
        return play

    def killed_play(self, name: str, inventory: Path, when: Callable[[], bool]) -> None:
        """The controller dies amid it, with all its processes."""
        log = self.new_log(name)
        with log.open("w") as said, subprocess.Popen(
                ["ip", "netns", "exec", self.lab.prefix, "ansible-playbook", "-i", str(inventory),
                 f"tkdc.appliance.{name}"], env=self.environment(), stdout=said,
                stderr=subprocess.STDOUT, start_new_session=True) as controller:
            def so_far() -> bool:
                if controller.poll() is not None:
                    raise StepError(f"{name} ended with {controller.returncode} before it was "
                                    f"killed\n{log.read_text()[-6000:]}")
                return when()

            try:
                until(f"the run of {name} is so far", so_far, PLAY_TIMEOUT_S)
            finally:
                os.killpg(controller.pid, signal.SIGKILL)

    # ---- a client's commands

    def kinit(self, user: str = "alice", password: str = "secret of alice") -> bool:
        return self.client.run(f"kinit {user}", stdin=password + "\n", check=False).returncode == 0

    def healthy(self) -> bool:
        return self.host(self.primary).run(
            "tkdc status --config /etc/tkdc/agent-kdc/agent.toml", check=False).returncode == 0

    def wait_healthy(self, what: str, timeout_s: float = 180) -> float:
        return until(f"all servers in session after {what}", self.healthy, timeout_s)

    def wait_login(self, what: str, timeout_s: float = 180) -> float:
        return until(f"a login after {what}", self.kinit, timeout_s)
