# SPDX-License-Identifier: Apache-2.0
"""Servers that are far from one another, each in a network namespace of its own."""

import re
import socket
import time

from tests.storm.common import all_well, always, say, verdict
from tests.storm.network import Network
from tests.storm.scene import Scene
from tests.storm.stage import PASSWORD, PATTERN
from tests.support.kerberos import Client, find_program
from tests.support.process import Daemon

NODES = 4  # servers 0 to 2; the KDC's host with its agents, and everything else
AT_ONCE = 50
OPERATION_MS = 110_000  # krb5kdc waits so long; its default is 5 s
PATIENCE = 4  # how often clients have the KDC in their list: they give up later
WARM_UP = 2
STEPS = (0.1, 0.4, 1.0)  # of the delay
# Rounds count as they are, what else a login does may take as long as half of them.
SLOWER = 1.5
SHARED = 1.5  # many logins at once may need so many times the rounds of one
LATEST = 2.0  # and each of them so many times those rounds' time


class FarScene(Scene):
    """The realm over a network with delay, which begins without any."""

    network: Network | None = None

    def create(self) -> None:
        find_program("nsenter")
        self.network = Network(self.bin, NODES)
        self.network.enter(NODES - 1)
        super().create()
        self.add_to_kdc_conf(f"tkdc_timeout_ms = {OPERATION_MS}")

    def _init_installation(self) -> None:
        hosts = [f"--host{k}={self.network.addresses[k]}" for k in range(3)]
        self.tool("tkdc", "init", "--out", str(self.installation), "--realm", self.name,
                  "--base-port", str(self.ports.base), "--lanes", str(self.lanes), *hosts)

    def _daemon(self, name: str, argv: list[str], env: dict[str, str] | None = None) -> Daemon:
        if name.startswith("server"):
            argv = [*self.network.prefix(int(name[-1])), *argv]
        return super()._daemon(name, argv, env)

    def stop(self) -> None:
        super().stop()
        if self.network is not None:
            self.network.end()
            self.network = None

    def round_trip_ms(self) -> float:
        """The least of some, by connecting to server 1."""
        def one() -> float:
            began = time.monotonic()
            socket.create_connection((self.network.addresses[1], self.ports.control(1)),
                                     timeout=10).close()
            return 1000 * (time.monotonic() - began)

        return min(one() for _ in range(10))

    def rounds(self) -> int:
        return self.status()["servers"][0]["rounds"]

    def patient(self, name: str) -> Client:
        """A stock client that does not give up after the usual 17 s."""
        client = self.client(name)
        text = (self.directory / "krb5.conf").read_text()
        conf = self.directory / f"krb5.{name}.conf"
        conf.write_text(re.sub(r"( +kdc = .*\n)", r"\1" * PATIENCE, text))
        client.env["KRB5_CONFIG"] = str(conf)
        return client


def login_alone(scene: FarScene, number: int) -> tuple[float, int, bool]:
    """Milliseconds of a stock kinit, rounds that its operations took, whether it succeeded."""
    before = len(scene.operations("kdc"))
    began = time.monotonic()
    done = scene.patient("far").kinit(PATTERN % number, PASSWORD, timeout_s=200)
    took = 1000 * (time.monotonic() - began)
    time.sleep(0.2)  # the agent writes its log now and then
    rounds = sum(line["rounds"] for line in scene.operations("kdc")[before:])
    if not done.ok:
        say(f"kinit: {done.errors.strip()}")
    return took, rounds, done.ok


def once_each(scene: FarScene, users: int, report: str = "") -> dict:
    """So many users at once, each once; with the rounds that server 0 needed meanwhile."""
    before = scene.rounds()
    result = scene.storm(f"--clients={users}", "--warmup=0", "--timeout-ms=300000", "--quiet",
                         duration_s=0.9, report=report)
    return {**result, "rounds": scene.rounds() - before}


def wan(scene: FarScene, seconds: float) -> bool:
    """5 ms there and back (RTT_MS) between any two of the servers and the KDC's host, each in a

    network namespace of its own. A stock kinit alone takes as long as the rounds of its
    operations, and at most half as long again; 50 users at once all succeed, in at most one and
    a half times the rounds of one: logins share rounds. Nothing is lost or wrong, and none of the
    50 takes over twice as long as the rounds of one.
    """
    del seconds  # it takes as long as its logins
    rtt = scene.terms.rtt_ms
    for number in range(WARM_UP):
        login_alone(scene, number)
    alone, took, rounds = [], 0.0, 0
    for step in STEPS:
        scene.network.delay(step * rtt / 2)
        measured = scene.round_trip_ms()
        took, rounds, good = login_alone(scene, len(alone))
        expected = rounds * step * rtt / 2
        alone.append((good, expected, took))
        say(f"round trip {step * rtt:.2f} ms (measured {measured:.2f}): kinit {took:.0f} ms; "
            f"{rounds} rounds of half of that are {expected:.0f} ms, "
            f"{took / expected:.2f} times")
    one = once_each(scene, 1)
    all_of_them = once_each(scene, AT_ONCE, "wan")
    shared = all_of_them["rounds"] / one["rounds"]
    limit_ms = LATEST * one["rounds"] * rtt / 2
    for result in (one, all_of_them):
        n, slowest = result["counts"]["ok"], result["latency_ms"]["max"]
        say(f"{n} at once by tkdc-storm: all within {slowest:.0f} ms, {result['rounds']} rounds, "
            f"{1000 * n / slowest:.2f} logins/s")
    return verdict({
        "every kinit succeeded": all(good for good, _, _ in alone),
        "none is faster than its rounds": all(t >= e for _, e, t in alone),
        f"at the full delay within {SLOWER} times its rounds": took <= SLOWER * alone[-1][1],
        f"{AT_ONCE} at once": all_of_them["counts"]["ok"] == AT_ONCE,
        **all_well(one, all_of_them, limit_ms=limit_ms),
        f"they shared rounds: {shared:.2f} times those of one, {SHARED} allowed": shared <= SHARED,
        **always(scene)})


wan.scene = FarScene
