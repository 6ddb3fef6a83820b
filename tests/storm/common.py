# SPDX-License-Identifier: Apache-2.0
"""What the scenarios share: rates, what all of them assert, and how they say whether it held."""

import math
import statistics
from collections.abc import Callable
from pathlib import Path

from tests.storm.scene import Scene
from tests.storm.stage import cpu_per_answer_us

LIMIT_MS = 15_000  # a login that takes longer is lost: clients have given up
HEALTHY_P99_MS = 2_000  # of the sustained rate
RECOVERY_S = 15  # until logins flow again, when a server was away
SETTLED_S = 8  # when none was
FLOWING = 0.5  # of the rate that is meant
# Of memory of one's own.
CEILINGS_MB = {"server": 512, "agent": 128, "krb5kdc": 256, "replica-kdc": 256}
ROUNDS = 3


def say(text: str) -> None:
    print(text, flush=True)


def highest_rate(scene: Scene, clients: int, seconds: float = 8, report: str = "") -> dict:
    """Users who log in again at once: the KDC is never idle."""
    return scene.storm(f"--clients={clients}", "--quiet", duration_s=seconds, report=report)


def sustained_rate(scene: Scene, seconds: float) -> float:
    """The highest rate of an open model with p99 within HEALTHY_P99_MS and nothing lost.

    Lower than highest_rate: users who log in again at once fall into step, and their jobs into
    the same cohorts; those who come when they like do not.
    """
    result = scene.storm("--ramp=8", "--ramp-factor=1.8", "--ramp-refine=2", "--quiet",
                         f"--limit-ms={HEALTHY_P99_MS}", duration_s=seconds)
    say(f"sustained with p99 within {HEALTHY_P99_MS} ms: {result['best_rate']:.1f} logins/s")
    return max(result["best_rate"], 1.0)


def in_turn(sides: dict[str, Callable[[], dict]]) -> dict[str, list[dict]]:
    """Runs that alternate, so that the machine's other load is alike for all sides."""
    runs = {name: [] for name in sides}
    for _ in range(ROUNDS):
        for name, run in sides.items():
            runs[name].append(run())
            say(f"{name:7} {summary(runs[name][-1])}")
    return runs


def median(results: list[dict], measure: Callable[[dict], float]) -> float:
    return statistics.median(measure(result) for result in results)


def summary(result: dict) -> str:
    latency, cpu = result["latency_ms"], cpu_per_answer_us(result)
    return (f"{result['rate']:8.1f} logins/s  p50 {latency['p50']:.1f}  p99 {latency['p99']:.1f} "
            f"ms  CPU us per login: " + "  ".join(f"{n} {v:.0f}" for n, v in cpu.items()))


def failures(result: dict) -> int:
    counts = result["counts"]
    return sum(counts[name] for name in ("errors", "wrong", "lost", "unsent"))


def none_lost(*results: dict, limit_ms: float = LIMIT_MS) -> dict[str, bool]:
    """No error, no wrong ticket, no login lost, and none above the limit."""
    failed = sum(map(failures, results))
    slowest = max(result["latency_ms"]["max"] for result in results)
    return {f"no failure ({failed})": failed == 0,
            f"no login takes over {limit_ms:.0f} ms ({slowest:.0f})": slowest <= limit_ms}


def all_well(*results: dict, limit_ms: float = LIMIT_MS) -> dict[str, bool]:
    """none_lost(), and every ticket was decrypted and compared with what was asked."""
    counts = [result["counts"] for result in results]
    return {**none_lost(*results, limit_ms=limit_ms),
            "every ticket checked": all(c["checked"] == c["ok"] > 0 for c in counts)}


def p99_within(limit_ms: float, *results: dict) -> dict[str, bool]:
    highest = max(result["latency_ms"]["p99"] for result in results)
    return {f"p99 within {limit_ms} ms ({highest:.0f})": highest <= limit_ms}


def recovery_s(result: dict, since_s: float, rate: float) -> float:
    """From that moment of a storm without warmup to the end of a second in which logins flow."""
    return next((number + 1 - since_s for number, second in enumerate(result["seconds"])
                 if number >= since_s and second["counts"]["ok"] >= FLOWING * rate), math.inf)


def recovered(what: str, result: dict, since_s: float, rate: float,
              limit_s: float) -> dict[str, bool]:
    seconds = recovery_s(result, since_s, rate)
    return {f"logins flow within {limit_s} s after {what} ({seconds:.1f})": seconds <= limit_s}


def never_limited(scene: Scene) -> dict[str, bool]:
    """Honest users never reach the servers' default limits: part of what scenarios assert."""
    limited = scene.limited()
    return {f"no operation was refused by the servers' limits ({limited})": limited == 0}


def most_mb(pid: int) -> float:
    """The most memory it ever had, less what is files': programs; the store, which is mapped."""
    fields = dict(line.split(":", 1)
                  for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    peak, files = (int(fields[name].split()[0]) for name in ("VmHWM", "RssFile"))
    return (peak - files) * 1024 / 1e6


def memory_within(scene: Scene) -> dict[str, bool]:
    """Every process that logins pass through, since it started."""
    checks = {}
    for name, pids in scene.processes().items():
        ceiling = next(mb for kind, mb in CEILINGS_MB.items() if name.startswith(kind))
        most = sum(map(most_mb, pids))
        checks[f"{name} within {ceiling} MB of its own ({most:.0f})"] = most <= ceiling
    return checks


def always(scene: Scene) -> dict[str, bool]:
    """What scenarios assert of a realm whatever they do with it."""
    return {**never_limited(scene), **memory_within(scene)}


def verdict(checks: dict[str, bool]) -> bool:
    for text, held in checks.items():
        say(f"{'held' if held else 'NOT HELD'}: {text}")
    return all(checks.values())
