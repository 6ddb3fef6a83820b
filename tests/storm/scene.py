# SPDX-License-Identifier: Apache-2.0
"""A realm under load: tests/support's realm with users, as a stage of tkdc-storm.

Everything is on loopback. The realm is stopped by its context manager, by pid.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from tests.storm.stage import NAME, PASSWORD, PATTERN, Stage, new_folder
from tests.support.kerberos import find_program, free_base_port
from tests.support.process import Daemon, RealmError
from tests.support.realm import KDC_TIMEOUT_S, Realm

SERVICE = "host/service.test"
USERS = 100
TIMESTAMP = 1  # key usage of the preauthentication, RFC 4120


@dataclass(frozen=True)
class Terms:
    """What a scenario may be told beside its length."""

    minutes: float = 60
    principals: int = 100_000
    rtt_ms: float = 5


class Scene(Stage, Realm):
    """The realm, with the KDC's configuration that docs/operations.md recommends under load, and
    the servers' own limits as they are by default."""

    def __init__(self, *, stock: bool = False, workers: int = 0, lanes: int = 2,
                 binaries: Path | None = None, users: int = USERS, terms: Terms | None = None):
        super().__init__(new_folder(), NAME, free_base_port(), lanes=lanes, stock=stock,
                         binaries=binaries)
        self.workers, self.users, self.terms = workers, users, terms or Terms()

    def create(self) -> None:
        super().create()
        self.write_password()

    def write_kerberos_configuration(self) -> None:
        super().write_kerberos_configuration()
        self.add_to_kdc_conf("disable_lockout = true")

    def add_to_kdc_conf(self, line: str) -> None:
        """In the database module's section."""
        conf = self.directory / "kdc.conf"
        conf.write_text(conf.read_text().replace(
            "disable_last_success = true", f"disable_last_success = true\n        {line}"))

    def start_kdc(self) -> Daemon:
        options = ["-w", str(self.workers)] if self.workers else []
        daemon = self._daemon("krb5kdc", [find_program("krb5kdc"), "-n", *options],
                              self.kdc_env())
        daemon.start()
        daemon.wait_port(self.ports.kdc, KDC_TIMEOUT_S)
        return daemon

    def start(self) -> None:
        super().start()
        queries = [f'addprinc -pw "{PASSWORD}" {PATTERN % n}' for n in range(self.users)]
        queries += [f"addprinc -randkey {SERVICE}", f"ktadd -k {self.keytab('service')} {SERVICE}"]
        done = self.try_admin_tool("kadmin.local", stdin="\n".join(queries) + "\n",
                                   timeout_s=600)
        if not done.ok or not self.keytab("service").exists():
            raise RealmError(f"kadmin.local: {done.errors.strip()[-500:]}")

    def kdc_port(self) -> int:
        return self.ports.kdc

    def processes(self) -> dict[str, list[int]]:
        """Pids that work for logins, by name; krb5kdc with its workers."""
        found = {}
        for name, pid in self.pids().items():
            if name in ("kadmind", "agent-admin"):
                continue
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            found[name] = [pid, *map(int, children)]
        return found

    def generator(self, who: list[str], *options: str) -> list[str]:
        ask = [] if self.stock else [f"--agent={self.agent_socket('kdc')}"]
        return super().generator(who, "--fresh-tickets", *ask, *options)

    def status(self) -> dict:
        """What the agent and the servers say of themselves."""
        return json.loads(self.tool("tkdc", "status", "--json", "--socket",
                                    str(self.agent_socket("kdc"))))

    def limited(self) -> int:
        """Operations that the strictest server has refused for its [limits] since it started."""
        return max(server["keys_limited"] + server["agents_limited"]
                   for server in self.status()["servers"])

    def audited(self) -> list[dict]:
        """Events of server 0's audit log, oldest first."""
        lines = (self.server_directory(0) / "audit.jsonl").read_text().splitlines()
        return [json.loads(line)["event"] for line in lines]

    def sessions(self) -> int:
        """How many sessions server 0 has seen."""
        return sum("epoch" in event for event in self.audited())

    def users_seen(self) -> int:
        """How many different users have sent a timestamp, as server 0 has it."""
        return len({event["principal"] for event in self.audited()
                    if event.get("operation") == "open" and event["usage"] == TIMESTAMP})
