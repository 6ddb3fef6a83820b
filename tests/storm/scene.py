# SPDX-License-Identifier: Apache-2.0
"""A realm under load: tests/support's realm with users, and tkdc-storm pointed at it.

Everything is on loopback. The generator ends by itself; the realm is stopped by its context
manager, by pid.
"""

import json
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.support.kerberos import find_program, free_base_port
from tests.support.process import Daemon, RealmError
from tests.support.realm import KDC_TIMEOUT_S, ROOT, Realm

NAME = "STORM.REALM"
SERVICE = "host/service.test"
USERS = 100
PATTERN = "user%03d"
PASSWORD = "the common password of the load generator's users"
GENERATOR_EXTRA_S = 90  # over its planned time


@dataclass(frozen=True)
class Terms:
    """What a scenario may be told beside its length."""

    minutes: float = 60
    principals: int = 100_000
    rtt_ms: float = 5


class Scene(Realm):
    """The realm, with the KDC's configuration that docs/operations.md recommends under load, and
    the servers' own limits as they are by default."""

    def __init__(self, *, stock: bool = False, workers: int = 0, lanes: int = 2,
                 binaries: Path | None = None, users: int = USERS, terms: Terms | None = None):
        # Unix socket paths are short: not below a long temporary folder.
        folder = tempfile.mkdtemp(prefix="storm-", dir=os.environ.get("STORM_DIR", "/tmp"))
        super().__init__(Path(folder), NAME, free_base_port(), lanes=lanes, stock=stock,
                         binaries=binaries)
        self.workers, self.users, self.terms = workers, users, terms or Terms()

    def create(self) -> None:
        super().create()
        self.password_file.write_text(PASSWORD + "\n")

    def _write_kerberos_configuration(self) -> None:
        super()._write_kerberos_configuration()
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

    @property
    def password_file(self) -> Path:
        return self.directory / "password"

    def processes(self) -> dict[str, list[int]]:
        """Pids that work for logins, by name; krb5kdc with its workers."""
        found = {}
        for name, pid in self.pids().items():
            if name in ("kadmind", "agent-admin"):
                continue
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            found[name] = [pid, *map(int, children)]
        return found

    def who(self) -> list[str]:
        """The generator's users."""
        return ["--user", PATTERN, "--users", str(self.users),
                "--password-file", str(self.password_file)]

    def generator(self, who: list[str], *options: str) -> list[str]:
        watch = [f"--watch={name}=" + "+".join(map(str, pids))
                 for name, pids in self.processes().items()]
        if not self.stock:
            watch.append(f"--agent={self.agent_socket('kdc')}")
        return [str(self.bin / "tkdc-storm"), "--kdc", f"127.0.0.1:{self.ports.kdc}",
                "--realm", self.name, "--fresh-tickets", *who, *watch, *options]

    def status(self) -> dict:
        """What the agent and the servers say of themselves."""
        return json.loads(self.tool("tkdc", "status", "--json", "--socket",
                                    str(self.agent_socket("kdc"))))

    def limited(self) -> int:
        """Operations that the strictest server has refused for its [limits] since it started."""
        return max(server["keys_limited"] + server["agents_limited"]
                   for server in self.status()["servers"])

    def storm(self, *options: str, duration_s: float, report: str = "") -> dict:
        """Runs the generator; its JSON, with its exit status as "status"."""
        time.sleep(1)  # late answers of a run before, to ports that are given out again
        return self.finish_storm(self.start_storm(*options, duration_s=duration_s, report=report),
                                 duration_s)

    def start_storm(self, *options: str, duration_s: float, report: str = "",
                    name: str = "storm", who: list[str] | None = None) -> subprocess.Popen:
        """`name`: two generators at once have different ones. `who`: other users."""
        results = self.directory / f"{name}.json"
        where = [f"--json={results}", f"--duration={duration_s}"]
        if report:
            folder = ROOT / "build" / "storm"
            folder.mkdir(parents=True, exist_ok=True)
            where += [f"--html={folder / report}.html", f"--title={report}"]
        results.unlink(missing_ok=True)
        return subprocess.Popen(self.generator(who or self.who(), *where, *options),
                                env=self.env(), stdin=subprocess.DEVNULL)

    def finish_storm(self, process: subprocess.Popen, duration_s: float,
                     name: str = "storm") -> dict:
        results = self.directory / f"{name}.json"
        try:
            status = process.wait(duration_s + GENERATOR_EXTRA_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        if not results.exists():
            raise RealmError(f"tkdc-storm gave no results (exit status {status})")
        return {**json.loads(results.read_text()), "status": status}


def cpu_per_answer_us(result: dict) -> dict[str, float]:
    answers = result["counts"]["ok"] + result["counts"]["refused"]
    return {name: 1e6 * process["cpu_s"] / max(1, answers)
            for name, process in result["processes"].items()}
