# SPDX-License-Identifier: Apache-2.0
"""A whole realm in one directory: tkdc-servers, two agents, krb5kdc and kadmind.

Everything listens on 127.0.0.1 or on Unix sockets below the directory. Used by the demo and
by the integration tests, as a context manager: what was started is stopped in order, by pid,
whatever happens. There are three servers, or two with `servers=2`. `stock=True` leaves tkdc out:
the same realm with Debian's db2 alone.
"""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.support.kerberos import (
    KDC_CONF,
    KRB5_CONF,
    STOCK_MODULE,
    TKDC_MODULE,
    Client,
    Outcome,
    Ports,
    find_program,
    run_program,
)
from tests.support.process import Daemon, RealmError, ports_free

ROOT = Path(__file__).resolve().parents[2]
SERVER_TIMEOUT_S = 30.0
KDC_TIMEOUT_S = 30.0
ADMIN_TIMEOUT_S = 120.0
MASTER_PASSWORD = "the realm's master password, which protects handles only"


# TKDC_TEST_SERVERS=2 runs what is tested of a realm on one that two servers have.
SERVERS = int(os.environ.get("TKDC_TEST_SERVERS", "3"))


def default_bin() -> Path:
    return Path(os.environ.get("TKDC_BIN", ROOT / "build" / "dev" / "bin"))


class Realm:
    """See the top of this file. `say` is called with each step, for a human to read."""

    def __init__(self, directory: Path, name: str, base_port: int, *, lanes: int | None = None,
                 servers: int = SERVERS, stock: bool = False, binaries: Path | None = None,
                 say: Callable[[str], None] = lambda text: None):
        self.directory, self.name, self.servers, self.stock, self.say = (
            directory.resolve(), name, servers, stock, say)
        self.lanes = lanes or (1 if servers == 2 else 2)
        self.bin = (binaries or default_bin()).resolve()
        self.ports = Ports(base_port)
        self.logs = self.directory / "log"
        self.daemons: dict[str, Daemon] = {}
        self.server_env: dict[int, dict[str, str]] = {}  # beyond env(), by party
        self.server_programs = ["tkdc-server"] * servers  # by party, perhaps ones of tests
        self.limits: dict[str, int] = {}  # of the servers' [limits], where not as the product sets

    # -- life cycle ----------------------------------------------------------------------

    def __enter__(self) -> "Realm":
        try:
            self.create()
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_exc) -> None:
        self.stop()

    def create(self) -> None:
        """An empty realm: keys and configuration of all parties, database, master key."""
        if not ports_free(self.ports.all()):
            raise RealmError(f"ports {self.ports.base} to {self.ports.gss} on 127.0.0.1 are not "
                             "free: stop what uses them, or choose another base port "
                             "(the demo: TKDC_DEMO_PORT=N)")
        shutil.rmtree(self.directory, ignore_errors=True)
        self.logs.mkdir(parents=True, mode=0o700)
        self.directory.chmod(0o700)
        self.write_kerberos_configuration()
        if not self.stock:
            self._init_installation()

    def _init_installation(self) -> None:
        number = {2: "two", 3: "three"}[self.servers]
        self.say(f"tkdc init: configuration and keys of {number} servers and two agents")
        self.tool("tkdc", "init", "--out", str(self.installation), "--realm", self.name,
                  "--base-port", str(self.ports.base), "--lanes", str(self.lanes),
                  *(["--servers", "2"] if self.servers == 2 else []))  # releases of before lack it
        if self.limits:
            for party in range(self.servers):
                with (self.server_directory(party) / "tkdc.toml").open("a") as config:
                    config.write("\n[limits]\n")
                    config.writelines(f"{name} = {most}\n" for name, most in self.limits.items())
        if backend := os.environ.get("TKDC_TEST_BACKEND"):
            for party in range(self.servers):
                self._compute_on(backend, party)

    def _compute_on(self, backend: str, party: int) -> None:
        """With a GPU, which the three servers share: whatever is computed, however little."""
        path = self.server_directory(party) / "tkdc.toml"
        path.write_text(path.read_text().replace('backend = "auto"\n', f'backend = "{backend}"\n')
                        + "\n[cuda]\nallow_shared = true\nmin_cohort_blocks = 1\n"
                          "min_cohort_compressions = 1\n")

    def put_tkdc_before_database(self) -> None:
        """A stopped stock realm's next start() is with tkdc, on the same database."""
        self.stock = False
        self.write_kerberos_configuration()
        self._init_installation()

    def take_tkdc_away(self) -> None:
        """Everything of ours goes: servers, agents, module, preload library; a stock KDC serves
        the database as it is."""
        self.stop()
        self.stock = True
        self.write_kerberos_configuration()
        self.start_kdc()
        self.start_kadmind()

    def start(self) -> None:
        if not self.stock:
            for party in range(self.servers):
                self.start_server(party, wait=False)
            for party in range(self.servers):
                self.daemons[f"server{party}"].wait_notified(SERVER_TIMEOUT_S)
                self.say(f"tkdc-server {party} is up (pid {self.daemons[f'server{party}'].pid})")
            for role in ("kdc", "admin"):
                self.start_agent(role)
                self.say(f"tkdc-agent ({role}) is up (pid {self.daemons[f'agent-{role}'].pid})")
        if not (self.directory / "principal").exists():
            self.say("kdb5_util create: the realm's database and its first keys")
            self.admin_tool("kdb5_util", "create", "-s", "-P", MASTER_PASSWORD)
        self.start_kdc()
        self.say(f"krb5kdc is up (pid {self.daemons['krb5kdc'].pid})")
        self.start_kadmind()
        self.say(f"kadmind is up (pid {self.daemons['kadmind'].pid})")

    def stop(self) -> None:
        """Users of a service before the service."""
        for name in ("kadmind", "krb5kdc", "agent-admin", "agent-kdc",
                     *(f"server{party}" for party in reversed(range(self.servers)))):
            if name in self.daemons:
                self.daemons[name].stop()

    # -- programs ------------------------------------------------------------------------

    @property
    def installation(self) -> Path:
        return self.directory / "tkdc"

    def agent_socket(self, role: str) -> Path:
        return self.installation / f"agent-{role}" / "agent.sock"

    def server_directory(self, party: int) -> Path:
        return self.installation / f"server{party}"

    def set_data(self, party: int, key: str, value: str) -> None:
        """In [data] of a server's tkdc.toml, from its next start on."""
        config = self.server_directory(party) / "tkdc.toml"
        text = config.read_text()
        assert text.count("[data]\n") == 1 and f"\n{key} =" not in text
        config.write_text(text.replace("[data]\n", f"[data]\n{key} = {value}\n"))

    def start_server(self, party: int, wait: bool = True) -> Daemon:
        config = self.server_directory(party) / "tkdc.toml"
        program = self.bin / self.server_programs[party]
        daemon = self._daemon(f"server{party}", [str(program), "--config", str(config)],
                              {**self.env(), **self.server_env.get(party, {})})
        daemon.start()
        if wait:
            daemon.wait_notified(SERVER_TIMEOUT_S)
        return daemon

    def start_agent(self, role: str) -> Daemon:
        config = self.installation / f"agent-{role}" / "agent.toml"
        daemon = self._daemon(f"agent-{role}",
                              [str(self.bin / "tkdc-agent"), "--config", str(config)])
        daemon.start()
        daemon.wait_notified(SERVER_TIMEOUT_S)
        return daemon

    def start_kdc(self) -> Daemon:
        daemon = self._daemon("krb5kdc", [find_program("krb5kdc"), "-n"], self.kdc_env())
        daemon.start()
        daemon.wait_port(self.ports.kdc, KDC_TIMEOUT_S)
        return daemon

    def start_kadmind(self) -> Daemon:
        daemon = self._daemon("kadmind", [find_program("kadmind"), "-nofork"], self.kdc_env())
        daemon.start()
        daemon.wait_port(self.ports.kadmin, KDC_TIMEOUT_S)
        return daemon

    def _daemon(self, name: str, argv: list[str], env: dict[str, str] | None = None) -> Daemon:
        if name in self.daemons and self.daemons[name].running():
            raise RealmError(f"{name} is already running")
        self.daemons[name] = Daemon(name, argv, env or self.env(), self.logs)
        return self.daemons[name]

    # -- environments and one-shot tools ---------------------------------------------------

    def env(self) -> dict[str, str]:
        """Of clients and of tkdc's own daemons."""
        return {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "KRB5_CONFIG": str(self.directory / "krb5.conf"),
            "TKDC_ALLOW_DUMP": "1",  # the proof reads the memory of all processes
        }

    def kdc_env(self) -> dict[str, str]:
        """Of krb5kdc, kadmind and the tools."""
        env = {**self.env(), "KRB5_KDC_PROFILE": str(self.directory / "kdc.conf"),
               "KRB5RCACHEDIR": str(self.directory), "TMPDIR": str(self.directory)}
        if not self.stock:
            env["LD_PRELOAD"] = str(self.bin / "libtkdc-k5.so")
        return env

    def admin_tool(self, *argv: str, stdin: str = "") -> Outcome:
        done = self.try_admin_tool(*argv, stdin=stdin)
        if not done.ok:
            raise RealmError(f"{' '.join(argv[:4])} failed ({done.code}): {done.errors.strip()}")
        return done

    def try_admin_tool(self, *argv: str, stdin: str = "",
                       timeout_s: float = ADMIN_TIMEOUT_S) -> Outcome:
        return run_program(list(argv), self.kdc_env(), stdin, timeout_s)

    def kadmin_local(self, query: str) -> str:
        """One query; RealmError when kadmin.local says that it failed."""
        done = self.admin_tool("kadmin.local", "-q", query)
        complaint = next((line for line in done.errors.splitlines()
                          if ": " in line and " while " in line), None)
        if complaint:
            raise RealmError(f"kadmin.local {query.split()[0]}: {complaint}")
        return done.output

    def tool(self, program: str, *arguments: str, timeout_s: float = ADMIN_TIMEOUT_S) -> str:
        """One of our own programs; RealmError when it fails."""
        done = subprocess.run([str(self.bin / program), *arguments], env=self.env(), text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s,
                              check=False)
        if done.returncode != 0:
            raise RealmError(f"{program} {arguments[0]} failed: {done.stderr.strip()}")
        return done.stdout

    def client(self, name: str) -> Client:
        client = Client(self.env(), self.directory / f"ccache.{name}")
        client.attempts = 4 if self.servers == 2 else 1
        return client

    def keytab(self, name: str) -> Path:
        return self.directory / f"{name}.keytab"

    def operations(self, role: str) -> list[dict]:
        """What the agent of this role recorded, oldest first."""
        path = self.installation / f"agent-{role}" / "operations.jsonl"
        if not path.exists():
            return []
        return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]

    def pids(self) -> dict[str, int]:
        return {name: d.pid for name, d in self.daemons.items() if d.running()}

    def signal(self, name: str, number: signal.Signals) -> None:
        self.daemons[name].signal(number)

    def write_kerberos_configuration(self) -> None:
        p = self.ports
        values = {"realm": self.name, "directory": self.directory, "kdc": p.kdc,
                  "kadmin": p.kadmin, "kpasswd": p.kpasswd, "bin": self.bin,
                  "agent_socket": self.agent_socket("kdc"),
                  "admin_socket": self.agent_socket("admin"),
                  "module": "plain" if self.stock else "tkdc"}
        modules = (STOCK_MODULE if self.stock else TKDC_MODULE).format(**values)
        if self.servers == 2:  # it takes seconds where nothing of an operation's length is prepared
            head = "    tkdc = {\n"
            modules = modules.replace(head, head + "        tkdc_timeout_ms = 15000\n"
                                                   "        tkdc_admin_timeout_ms = 60000\n")
        (self.directory / "krb5.conf").write_text(KRB5_CONF.format(**values))
        (self.directory / "kdc.conf").write_text(KDC_CONF.format(**values, modules=modules))
        (self.directory / "kadm5.acl").write_text(f"admin/admin@{self.name} *\n")
