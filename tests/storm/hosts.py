# SPDX-License-Identifier: Apache-2.0
"""A realm with two KDC hosts on one set of servers: krb5kdc, database and agent of each its own.

Both serve at once. The second has a copy of the first one's database, and an agent that the
servers know by a key of its own. Everything is on loopback.
"""

import re
import time

from tests.storm.scene import Scene
from tests.storm.stage import LATE_ANSWERS_S, Stage
from tests.support.kerberos import Client
from tests.support.process import RealmError
from tests.support.replica import ReplicatedRealm

UNPROVED = "open%03d"  # users who need no preauthentication
OF_HOST = (("krb5kdc", "agent-kdc"), ("replica-kdc", "agent-replica"))


class Host(Stage):
    """One of the two, as a stage of tkdc-storm; the realm starts and stops it."""

    def __init__(self, realm: "TwoKdcs", number: int):
        self.realm, self.number = realm, number
        self.directory, self.bin, self.users = (realm.directory / f"host{number}", realm.bin,
                                                realm.users)
        self.directory.mkdir(mode=0o700)
        self.write_password()

    def env(self) -> dict[str, str]:
        return self.realm.env()

    def kdc_port(self) -> int:
        return (self.realm.ports, self.realm.replica_ports)[self.number].kdc

    def processes(self) -> dict[str, list[int]]:
        others = OF_HOST[1 - self.number]
        return {name: pids for name, pids in self.realm.processes().items() if name not in others}

    def generator(self, who: list[str], *options: str) -> list[str]:
        return super().generator(who, "--fresh-tickets", *options)


class TwoKdcs(Scene, ReplicatedRealm):
    """The first host also has kadmind and the agent that makes keys."""

    hosts: tuple[Host, Host]

    def start(self) -> None:
        super().start()
        queries = [f"addprinc -randkey -requires_preauth {name}" for name in self.unproved()]
        done = self.try_admin_tool("kadmin.local", stdin="\n".join(queries) + "\n",
                                   timeout_s=600)
        if not done.ok:
            raise RealmError(f"kadmin.local: {done.errors.strip()[-500:]}")
        self.start_replica()
        self.copy_database()
        self.start_replica_kdc()
        self.hosts = (Host(self, 0), Host(self, 1))

    def unproved(self) -> list[str]:
        return [UNPROVED % number for number in range(self.users)]

    def asked(self) -> tuple[int, int]:
        """Operations that server 0 was asked for by each host's agent."""
        asked = {agent["name"]: agent["asked"] for agent in self.status()["servers"][0]["agents"]}
        return asked["agent-kdc"], asked["agent-replica"]

    def first_host_dies(self) -> None:
        """Its krb5kdc and its agent, as when the power goes."""
        for name in OF_HOST[0]:
            self.daemons[name].kill()

    def first_host_comes_back(self) -> None:
        self.start_agent("kdc")
        self.start_kdc()

    def client_of_both(self, name: str, first: int) -> Client:
        """A stock client that has both in its krb5.conf, and asks this one first."""
        order = (self.hosts[first], self.hosts[1 - first])
        lines = "".join(f"        kdc = 127.0.0.1:{host.kdc_port()}\n" for host in order)
        text = (self.directory / "krb5.conf").read_text()
        config = self.directory / f"krb5.{name}.conf"
        config.write_text(re.sub(r" +kdc = .*\n", lines, text, count=1))
        client = self.client(name)
        client.env["KRB5_CONFIG"] = str(config)
        return client

    def at_once(self, *options: str, duration_s: float, report: str = "") -> dict:
        """The same load at both hosts; what came of both, and of each."""
        time.sleep(LATE_ANSWERS_S)
        storms = [host.start_storm(*options, duration_s=duration_s,
                                   report=report and f"{report}-{host.number}")
                  for host in self.hosts]
        return both_of([host.finish_storm(storm, duration_s)
                        for host, storm in zip(self.hosts, storms, strict=True)])


def both_of(results: list[dict]) -> dict:
    """Rates and counts are added; of latencies the worse is taken. "each" has them apart."""
    first, second = results
    processes = dict(first["processes"])
    for name, process in second["processes"].items():
        # The servers, which work for both, were watched twice.
        if name not in processes or not name.startswith("server"):
            processes[f"{name}'" if name in processes else name] = process
    return {"rate": first["rate"] + second["rate"], "processes": processes,
            "counts": {name: number + second["counts"][name]
                       for name, number in first["counts"].items()},
            "latency_ms": {name: max(ms, second["latency_ms"][name])
                           for name, ms in first["latency_ms"].items()},
            "each": results}

