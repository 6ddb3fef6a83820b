# SPDX-License-Identifier: Apache-2.0
"""A realm with a replica KDC on a folder of its own: database, agent, krb5kdc and kpropd, which
asks the same servers. Fed whole, by kprop, or incrementally, as kadmind logs changes (iprop)."""

import re
import shutil
import socket
from pathlib import Path

from tests.support.clients import ROOT, need
from tests.support.kerberos import (
    Outcome,
    Ports,
    find_program,
    free_base_port,
    ports_of_worker,
    run_program,
)
from tests.support.process import Daemon, RealmError, port_answers, wait_until
from tests.support.realm import KDC_TIMEOUT_S, SERVER_TIMEOUT_S, Realm

HOST = socket.gethostname()
KPROPD = ROOT / "build" / "debian" / "krb5-kpropd" / "usr" / "sbin" / "kpropd"


class ReplicatedRealm(Realm):
    """Servers that know a third agent, and what runs on the replica's host."""

    def __init__(self, directory: Path, name: str, base_port: int, **options):
        super().__init__(directory, name, base_port, **options)
        self.replica = self.directory / "replica"
        # Nothing listens yet on this realm's own.
        self.replica_ports = Ports(free_base_port([p for p in ports_of_worker() if p != base_port]))

    def create(self) -> None:
        super().create()
        self.replica.mkdir(mode=0o700)
        if not self.stock:
            self._add_agent()
        old, new = str(self.directory) + "/", str(self.replica) + "/"
        for name in ("krb5.conf", "kdc.conf"):
            text = (self.directory / name).read_text()
            for port in ("kdc", "kadmin", "kpasswd"):
                text = text.replace(f"127.0.0.1:{getattr(self.ports, port)}",
                                    f"127.0.0.1:{getattr(self.replica_ports, port)}")
            for role in ("kdc", "admin"):
                text = text.replace(str(self.agent_socket(role)),
                                    str(self.replica / "agent" / "agent.sock"))
            (self.replica / name).write_text(
                re.sub(rf"{old}(?!replica)", new, text) if name == "kdc.conf" else text)
        (self.replica / "kpropd.acl").write_text(f"host/{HOST}@{self.name}\n")

    def _add_agent(self) -> None:
        """As docs/operations.md says: keys from a scratch installation, then the servers' lists."""
        scratch = self.directory / "scratch"
        self.tool("tkdc", "init", "--out", str(scratch), "--realm", self.name)
        shutil.copytree(self.installation / "agent-kdc", self.replica / "agent")
        shutil.copy(scratch / "agent-kdc" / "curve.key", self.replica / "agent" / "curve.key")
        config = self.replica / "agent" / "agent.toml"
        config.write_text(config.read_text().replace('"agent-kdc"', '"agent-replica"'))
        public = re.search(r'"kdc"\ncurve_public_key = (".*")',
                           (scratch / "server0" / "tkdc.toml").read_text())
        assert public
        for party in range(3):
            path = self.server_directory(party) / "tkdc.toml"
            path.write_text(path.read_text().replace(
                "[data]\n", '[[agents]]\nname = "agent-replica"\nrole = "kdc"\n'
                f"curve_public_key = {public[1]}\n\n[data]\n"))
        shutil.rmtree(scratch)

    def replica_env(self, *, kdc: bool = True) -> dict[str, str]:
        env = {**(self.kdc_env() if kdc else self.env()),
               "KRB5_CONFIG": str(self.replica / "krb5.conf")}
        if kdc:
            env |= {"KRB5_KDC_PROFILE": str(self.replica / "kdc.conf"),
                    "KRB5RCACHEDIR": str(self.replica), "TMPDIR": str(self.replica),
                    "KRB5_KTNAME": str(self.keytab("host"))}
        return env

    def kpropd_env(self) -> dict[str, str]:
        """As a client it asks the primary's KDC: the replica's may have nothing to serve yet."""
        return {**self.replica_env(), "KRB5_CONFIG": str(self.directory / "krb5.conf")}

    def start_replica_daemon(self, name: str, argv: list[str],
                             env: dict[str, str] | None = None) -> Daemon:
        self.daemons[name] = Daemon(name, argv, env or self.replica_env(), self.logs)
        self.daemons[name].start()
        return self.daemons[name]

    def kpropd(self) -> list[str]:
        """Its command line, as a server in the foreground."""
        return [need(KPROPD), "-S", "-D", "-P", str(self.replica_ports.gss),
                "-a", str(self.replica / "kpropd.acl"), "-f", str(self.replica / "from_primary"),
                "-F", str(self.replica / "principal"), "-p", find_program("kdb5_util"),
                "-s", str(self.keytab("host"))]

    def add_service(self, service: str, keytab: str) -> None:
        self.kadmin_local(f"addprinc -randkey {service}")
        self.kadmin_local(f"ktadd -k {self.keytab(keytab)} {service}")

    def start_replica(self) -> None:
        """All but krb5kdc, which wants a database."""
        if not self.stock:
            config = self.replica / "agent" / "agent.toml"
            self.start_replica_daemon("agent-replica", [
                str(self.bin / "tkdc-agent"), "--config",
                str(config)]).wait_notified(SERVER_TIMEOUT_S)
        shutil.copy(self.directory / "stash", self.replica / "stash")

    def start_kpropd(self) -> None:
        self.start_replica_daemon("kpropd", self.kpropd(), self.kpropd_env())
        wait_until(lambda: port_answers(self.replica_ports.gss), 10, "kpropd")

    def start_replica_kdc(self) -> None:
        self.start_replica_daemon("replica-kdc", [find_program("krb5kdc"), "-n"]).wait_port(
            self.replica_ports.kdc, KDC_TIMEOUT_S)

    def stop(self) -> None:
        for name in ("replica-kdc", "kpropd", "agent-replica"):
            if name in self.daemons:
                self.daemons[name].stop()
        super().stop()

    def _dump(self) -> Path:
        dump = self.directory / "to_replica"
        self.admin_tool("kdb5_util", "dump", str(dump))
        return dump

    def copy_database(self) -> None:
        """What kpropd does with what it gets, where its package need not be unpacked."""
        done = run_program(["kdb5_util", "load", str(self._dump())], self.replica_env())
        if not done.ok:
            raise RealmError(f"kdb5_util load: {done.errors.strip()[-500:]}")

    def propagate(self) -> Outcome:
        dump = self._dump()
        return run_program(["kprop", "-P", str(self.replica_ports.gss), "-f", str(dump), "-s",
                            str(self.keytab("host")), HOST], self.kdc_env())
