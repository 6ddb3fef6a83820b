# SPDX-License-Identifier: Apache-2.0
"""Scenarios in which something happens during a storm. As scenarios.py's."""

import signal
import threading
import time

from tests.storm.common import (
    RECOVERY_S,
    SETTLED_S,
    all_well,
    always,
    recovered,
    say,
    sustained_rate,
    verdict,
)
from tests.storm.scene import Scene

BEFORE_S, AWAY_S = 5, 2
PAUSE_S, EVERY_S = 0.5, 2.0


def server_restart(scene: Scene, seconds: float) -> bool:
    """A server crashes under load and comes back after two seconds: no login is lost or refused,

    clients' retransmits carry all of them over, none takes over 15 s, and logins flow again
    within 15 s. At a third of the sustained rate.
    """
    rate = sustained_rate(scene, seconds) / 3
    duration = max(30.0, seconds)
    # They wait for longer than they may take: who is late is seen to be.
    storm = scene.start_storm(f"--rate={rate:.2f}", "--timeout-ms=30000",
                              "--retransmit-ms=1000,3000,7000,12000,18000", "--warmup=0",
                              duration_s=duration, report="server-restart")
    began = time.monotonic()
    time.sleep(BEFORE_S)
    scene.daemons["server1"].kill()
    time.sleep(AWAY_S)
    scene.start_server(1)
    back = time.monotonic() - began
    result = scene.finish_storm(storm, duration)
    return verdict({**all_well(result),
                    **recovered("the server was back", result, back, rate, RECOVERY_S),
                    **always(scene)})


class Pauses(threading.Thread):
    """Stops a server (SIGSTOP) for half a second every two, until told to end."""

    def __init__(self, scene: Scene, name: str):
        super().__init__(daemon=True)
        self.scene, self.name_of_server, self.count = scene, name, 0
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(EVERY_S - PAUSE_S):
            self.scene.signal(self.name_of_server, signal.SIGSTOP)
            time.sleep(PAUSE_S)
            self.scene.signal(self.name_of_server, signal.SIGCONT)
            self.count += 1

    def end(self) -> None:
        self.over.set()
        self.join()


def server_slow(scene: Scene, seconds: float) -> bool:
    """One server stands still for half a second every two: logins wait for it, none is lost or

    takes over 15 s, and they flow within 8 s of the last pause. At a third of the sustained
    rate; the session of the servers stays up all the time.
    """
    rate = sustained_rate(scene, seconds) / 3
    paused = max(10.0, seconds)
    before = scene.sessions()
    pauses = Pauses(scene, "server2")
    storm = scene.start_storm(f"--rate={rate:.2f}", "--quiet", "--warmup=0",
                              duration_s=paused + SETTLED_S, report="server-slow")
    began = time.monotonic()
    pauses.start()
    try:
        time.sleep(paused)
    finally:
        pauses.end()
    last = time.monotonic() - began
    result = scene.finish_storm(storm, paused + SETTLED_S)
    say(f"{pauses.count} pauses; p50 {result['latency_ms']['p50']:.0f} ms")
    return verdict({**all_well(result),
                    "there were pauses": pauses.count >= paused / EVERY_S / 2,
                    **recovered("the last pause", result, last, rate, SETTLED_S),
                    "the session stayed up": scene.sessions() == before,
                    **always(scene)})


def kadmin_work(scene: Scene, seconds: float) -> bool:
    """Principals are made, changed and removed during a storm: each query succeeds, no login is

    lost, refused or takes over 15 s, and who was made can log in at once. At a third of the
    sustained rate.
    """
    rate = sustained_rate(scene, seconds) / 3
    duration = max(15.0, seconds)
    storm = scene.start_storm(f"--rate={rate:.2f}", "--quiet", duration_s=duration,
                              report="kadmin-work")
    made = logged_in = 0
    until = time.monotonic() + duration - 3
    try:
        while time.monotonic() < until:
            name = f"made{made:03d}"
            scene.kadmin_local(f"addprinc -pw first-{name} {name}")
            scene.kadmin_local(f"cpw -pw second-{name} {name}")
            made += 1
            logged_in += scene.client(name).kinit(name, f"second-{name}").ok
            scene.kadmin_local(f"delprinc -force {name}")
    finally:
        result = scene.finish_storm(storm, duration)
    say(f"{made} principals made, changed, used and removed; p99 "
        f"{result['latency_ms']['p99']:.0f} ms")
    return verdict({**all_well(result),
                    "principals were made": made > 0,
                    "each could log in": logged_in == made,
                    **always(scene)})
