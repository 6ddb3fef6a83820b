# SPDX-License-Identifier: Apache-2.0
"""What the scenarios share: rates, and how they say whether what they assert held."""

from tests.storm.scene import Scene, cpu_per_answer_us

LIMIT_MS = 15_000  # a login that takes longer is lost: clients have given up
HEALTHY_P99_MS = 2_000  # of the sustained rate


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


def summary(result: dict) -> str:
    latency, cpu = result["latency_ms"], cpu_per_answer_us(result)
    return (f"{result['rate']:8.1f} logins/s  p50 {latency['p50']:.1f}  p99 {latency['p99']:.1f} "
            f"ms  CPU us per login: " + "  ".join(f"{n} {v:.0f}" for n, v in cpu.items()))


def failures(result: dict) -> int:
    counts = result["counts"]
    return sum(counts[name] for name in ("errors", "wrong", "lost", "unsent"))


def never_limited(scene: Scene) -> dict[str, bool]:
    """Honest users never reach the servers' default limits: part of what scenarios assert."""
    limited = scene.limited()
    return {f"no operation was refused by the servers' limits ({limited})": limited == 0}


def verdict(checks: dict[str, bool]) -> bool:
    for text, held in checks.items():
        say(f"{'held' if held else 'NOT HELD'}: {text}")
    return all(checks.values())
