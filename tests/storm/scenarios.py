# SPDX-License-Identifier: Apache-2.0
"""The scenarios. Each says in its first lines what it asserts, and returns whether that held."""

import shutil
import statistics
import time

from tests.storm.common import (
    LIMIT_MS,
    failures,
    highest_rate,
    never_limited,
    say,
    summary,
    sustained_rate,
    verdict,
)
from tests.storm.crowd import many_principals
from tests.storm.disturbed import kadmin_work, monday_morning, server_slow
from tests.storm.far import wan
from tests.storm.loop import client_in_a_loop
from tests.storm.scene import Scene
from tests.storm.soak import soak

STEADY_P99_MS = 5_000  # at half of it, with service tickets, on a machine that others use too
CLIENTS_TRIED = (64, 256, 512, 1024)
ROUNDS = 3
TARGET_RATIO = 0.25
RECOVERY_S = 15


def best_workers(seconds: float) -> int:
    """How many workers serve best on this machine, stock."""
    rates = {}
    for workers in (0, 2):
        with Scene(stock=True, workers=workers) as scene:
            rates[workers] = highest_rate(scene, CLIENTS_TRIED[0], seconds)["rate"]
        shutil.rmtree(scene.directory, ignore_errors=True)
    say("stock, by workers: " + ", ".join(f"-w {w}: {r:.0f}/s" for w, r in rates.items()))
    return max(rates, key=lambda workers: rates[workers])


def best_clients(name: str, scene: Scene, seconds: float) -> int:
    """How many users at once bring the most logins without a failure."""
    rates = {}
    for clients in CLIENTS_TRIED:
        result = highest_rate(scene, clients, seconds)
        rates[clients] = result["rate"] if failures(result) == 0 else 0
    say(f"{name}, by users at once: " + ", ".join(f"{c}: {r:.0f}/s" for c, r in rates.items()))
    return max(rates, key=lambda clients: rates[clients])


def versus_stock(scene: Scene, seconds: float) -> bool:
    """tkdc makes at least a quarter of the logins per second of the stock KDC, same machine.

    Runs alternate, both realms up all the time, one of them idle; medians are compared. No
    run may have an error, a lost login or a wrong ticket.
    """
    with Scene(stock=True, workers=best_workers(seconds / 2)) as stock:
        sides = {"stock": stock, "tkdc": scene}
        clients = {name: best_clients(name, one, seconds / 2) for name, one in sides.items()}
        runs = {"stock": [], "tkdc": []}
        for number in range(ROUNDS):
            for name, one in sides.items():
                report = f"versus-stock-{name}" if number == ROUNDS - 1 else ""
                runs[name].append(highest_rate(one, clients[name], seconds, report))
                say(f"{name:6} {summary(runs[name][-1])}")
        rate = {name: statistics.median(r["rate"] for r in results)
                for name, results in runs.items()}
        for name, one in sides.items():
            half = one.storm(f"--rate={rate[name] / 2:.2f}", "--quiet", duration_s=seconds)
            latency = half["latency_ms"]
            say(f"{name:6} at half of that: p50 {latency['p50']:.1f}  p99 {latency['p99']:.1f}  "
                f"p99.9 {latency['p999']:.1f} ms, {failures(half)} failures")
    shutil.rmtree(stock.directory, ignore_errors=True)
    ratio = rate["tkdc"] / rate["stock"]
    bad = sum(failures(r) for results in runs.values() for r in results)
    good = verdict({f"no failure in any run ({bad})": bad == 0,
                    f"ratio {ratio:.4f} at least {TARGET_RATIO}": ratio >= TARGET_RATIO,
                    **never_limited(scene)})
    say(f"stock {rate['stock']:.1f} logins/s, tkdc {rate['tkdc']:.1f} logins/s, "
        f"ratio {ratio:.4f}")
    return good


def steady(scene: Scene, seconds: float) -> bool:
    """At half of the sustained rate, logins and service tickets: none fails, p99 within 5 s.

    Every reply is decrypted and checked; service tickets are opened with the service's key.
    The sustained rate is that of sustained_rate().
    """
    peak = sustained_rate(scene, seconds)
    result = scene.storm(f"--rate={peak / 2:.2f}", "--poisson", "--tgs=0.2",
                         "--service=host/service.test",
                         f"--service-keytab={scene.keytab('service')}", "--tickets=16",
                         duration_s=seconds, report="steady")
    return verdict({"no failure": failures(result) == 0,
                    "every reply checked": result["counts"]["checked"] == result["counts"]["ok"],
                    f"p99 within {STEADY_P99_MS} ms":
                        result["latency_ms"]["p99"] <= STEADY_P99_MS,
                    **never_limited(scene)})


def wrong_password(scene: Scene, seconds: float) -> bool:
    """Half of all logins have a wrong password: each is refused as such, none gets a ticket,

    and those with the right one all get theirs within the limit.
    """
    peak = sustained_rate(scene, seconds)
    result = scene.storm(f"--rate={peak / 2:.2f}", "--wrong-password=0.5",
                         duration_s=seconds, report="wrong-password")
    counts = result["counts"]
    return verdict({"no failure": failures(result) == 0,
                    "wrong passwords are refused": counts["refused"] > 0,
                    "right ones get tickets": counts["ok"] > 0,
                    "none waits longer than the limit": result["latency_ms"]["max"] <= LIMIT_MS,
                    **never_limited(scene)})


def retransmit(scene: Scene, seconds: float) -> bool:
    """Impatient clients, who send again after 30, 60, 120 and 240 ms, and everything twice, with

    bad input after every tenth: every login succeeds once, and rightly.
    """
    peak = sustained_rate(scene, seconds)
    result = scene.storm(f"--rate={peak / 2:.2f}", "--retransmit-ms=30,60,120,240", "--copies=2",
                         "--noise=0.1", duration_s=seconds, report="retransmit")
    return verdict({"no failure": failures(result) == 0,
                    "there were retransmits": result["counts"]["retransmits"] > 0,
                    "there was bad input": result["counts"]["noise"] > 0,
                    "none waits longer than the limit": result["latency_ms"]["max"] <= LIMIT_MS,
                    **never_limited(scene)})


def server_restart(scene: Scene, seconds: float) -> bool:
    """A server crashes under load and comes back after two seconds: no login is lost or refused,

    clients' retransmits carry all of them over, and logins flow again within 15 s.
    """
    peak = sustained_rate(scene, seconds)
    duration = max(30.0, seconds)
    storm = scene.start_storm(f"--rate={peak / 3:.2f}", "--timeout-ms=30000",
                              "--retransmit-ms=1000,3000,7000,12000,18000", "--warmup=0",
                              duration_s=duration, report="server-restart")
    began = time.monotonic()
    time.sleep(5)
    scene.daemons["server1"].kill()
    time.sleep(2)
    scene.start_server(1)
    back = time.monotonic() - began
    result = scene.finish_storm(storm, duration + 30)
    flows = [i for i, s in enumerate(result["seconds"])
             if i >= back and s["counts"]["ok"] >= 0.5 * peak / 3]
    recovery = flows[0] - back if flows else float("inf")
    say(f"logins flow again {recovery:.0f} s after the server was back")
    return verdict({"no failure": failures(result) == 0,
                    f"flows again within {RECOVERY_S} s": recovery <= RECOVERY_S,
                    **never_limited(scene)})


SCENARIOS = {"versus-stock": versus_stock, "steady": steady, "wrong-password": wrong_password,
             "retransmit": retransmit, "server-restart": server_restart,
             "monday-morning": monday_morning, "server-slow": server_slow,
             "kadmin-work": kadmin_work, "client-in-a-loop": client_in_a_loop, "wan": wan,
             "many-principals": many_principals, "soak": soak}
