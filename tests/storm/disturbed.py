# SPDX-License-Identifier: Apache-2.0
"""Scenarios in which something happens during a storm, or the storm grows. As scenarios.py's."""

import json
import signal
import threading
import time

from tests.storm.common import (
    LIMIT_MS,
    failures,
    never_limited,
    say,
    sustained_rate,
    verdict,
)
from tests.storm.scene import Scene

MORNING_STEPS = (0.2, 0.4, 0.6, 0.8, 0.9)  # of the sustained rate
MORNING_P99_MS = 10_000
SERVER_CEILING_MB = 512
PAUSE_S, EVERY_S = 0.5, 2.0


def largest_server_mb(result: dict) -> float:
    return max(second["mb"] for name, process in result["processes"].items()
               if name.startswith("server") for second in process["seconds"])


def monday_morning(scene: Scene, seconds: float) -> bool:
    """More and more users log in, at random moments, up to nine tenths of the sustained rate:

    none is lost or refused, every ticket is checked, p99 stays within 10 s in every step, and no
    server takes more than 512 MB.
    """
    peak = sustained_rate(scene, seconds)
    results = []
    for share in MORNING_STEPS:
        last = share == MORNING_STEPS[-1]
        results.append(scene.storm(f"--rate={share * peak:.2f}", "--poisson", "--quiet",
                                   duration_s=seconds, report="monday-morning" if last else ""))
        latency = results[-1]["latency_ms"]
        say(f"{share * peak:8.1f} logins/s meant: {results[-1]['rate']:.1f}, p50 "
            f"{latency['p50']:.0f}  p99 {latency['p99']:.0f} ms, {failures(results[-1])} failures")
    counts = [result["counts"] for result in results]
    return verdict({
        "no failure": all(failures(result) == 0 for result in results),
        "every reply checked": all(c["checked"] == c["ok"] for c in counts),
        f"p99 within {MORNING_P99_MS} ms": all(r["latency_ms"]["p99"] <= MORNING_P99_MS
                                               for r in results),
        f"servers within {SERVER_CEILING_MB} MB": largest_server_mb(results[-1])
                                                  <= SERVER_CEILING_MB,
        **never_limited(scene)})


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
    """One server stands still for half a second every two: logins wait for it, none is lost.

    At a third of the sustained rate; the session of the servers stays up all the time.
    """
    peak = sustained_rate(scene, seconds)
    duration = max(10.0, seconds)
    before = sessions(scene)
    pauses = Pauses(scene, "server2")
    pauses.start()
    try:
        result = scene.storm(f"--rate={peak / 3:.2f}", "--quiet", duration_s=duration,
                             report="server-slow")
    finally:
        pauses.end()
    say(f"{pauses.count} pauses; p50 {result['latency_ms']['p50']:.0f}, max "
        f"{result['latency_ms']['max']:.0f} ms")
    return verdict({"no failure": failures(result) == 0,
                    "there were pauses": pauses.count >= duration / EVERY_S / 2,
                    "none waits longer than the limit": result["latency_ms"]["max"] <= LIMIT_MS,
                    "the session stayed up": sessions(scene) == before,
                    **never_limited(scene)})


def sessions(scene: Scene) -> int:
    """How many sessions server 0 has seen, by its audit log."""
    lines = (scene.server_directory(0) / "audit.jsonl").read_text().splitlines()
    return sum("epoch" in json.loads(line)["event"] for line in lines)


def kadmin_work(scene: Scene, seconds: float) -> bool:
    """Principals are made, changed and removed during a storm: each query succeeds, no login is

    lost or refused, and who was made can log in at once. At a third of the sustained rate.
    """
    peak = sustained_rate(scene, seconds)
    duration = max(15.0, seconds)
    storm = scene.start_storm(f"--rate={peak / 3:.2f}", "--quiet", duration_s=duration,
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
    return verdict({"no failure": failures(result) == 0,
                    "principals were made": made > 0,
                    "each could log in": logged_in == made,
                    "none waits longer than the limit": result["latency_ms"]["max"] <= LIMIT_MS,
                    **never_limited(scene)})
