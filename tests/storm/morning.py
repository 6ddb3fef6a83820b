# SPDX-License-Identifier: Apache-2.0
"""Monday morning: everybody logs in, and everybody once."""

import math

from tests.storm.common import all_well, always, failures, p99_within, say, sustained_rate, verdict
from tests.storm.crowd import CrowdScene
from tests.storm.scene import Scene

STEPS = (0.2, 0.4, 0.6, 0.8, 0.9)  # of the sustained rate
MORNING_P99_MS = 10_000
MOST_USERS = 20_000  # imported within minutes: 100 to 200 per second, on two cores
DEVIATIONS = 6  # that many above the mean a Poisson process does not come to


def users_of(rate: float, seconds: float) -> int:
    """As many as log in at random moments, and some."""
    logins = rate * seconds
    return math.ceil(logins + DEVIATIONS * math.sqrt(logins)) + 1


def fitting(rates: list[float], seconds: float) -> float:
    """Steps as long as they are meant to be, or as MOST_USERS allow."""
    while sum(users_of(rate, seconds) for rate in rates) > MOST_USERS:
        seconds *= 0.95
    return seconds


def step(scene: CrowdScene, rate: float, seconds: float) -> dict:
    result = scene.storm(f"--rate={rate:.2f}", "--poisson", "--quiet", "--warmup=0",
                         duration_s=seconds, report="monday-morning",  # the last one's stays
                         who=scene.next_users(users_of(rate, seconds)))
    latency = result["latency_ms"]
    say(f"{rate:8.1f} logins/s meant: {result['rate']:.1f}, p50 {latency['p50']:.0f}  p99 "
        f"{latency['p99']:.0f} ms, {failures(result)} failures")
    return result


def monday_morning(scene: Scene, seconds: float) -> bool:
    """More and more users log in, each once, at random moments, up to nine tenths of the

    sustained rate: none is lost or refused or takes over 15 s, every ticket is checked, and p99
    stays within 10 s in every step. At most 20,000 users: where they do not suffice, steps are
    shorter.
    """
    peak = sustained_rate(scene, seconds)
    scene.stop()  # it had its users in turn; the crowd has a realm of its own
    rates = [share * peak for share in STEPS]
    seconds = fitting(rates, seconds)
    crowd = sum(users_of(rate, seconds) for rate in rates)
    say(f"{len(rates)} steps of {seconds:.1f} s, {crowd} users")
    with CrowdScene(crowd=crowd, lanes=scene.lanes, terms=scene.terms) as realm:
        results = [step(realm, rate, seconds) for rate in rates]
        logins = sum(result["counts"]["ok"] for result in results)
        seen = realm.users_seen()
        return verdict({**all_well(*results),
                        **p99_within(MORNING_P99_MS, *results),
                        f"as many users as logins ({seen} for {logins})": seen >= logins > 0,
                        **always(realm)})
