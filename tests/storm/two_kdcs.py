# SPDX-License-Identifier: Apache-2.0
"""Two KDC hosts on one set of servers: both at once, one of them flooded, one of them dead.

The servers let agents take turns (service/job/fair_queue.h), each host has an agent of its own:
so one host's load may delay the other's logins, by what storm.md says.
"""

import math
import signal
import statistics
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from tests.storm.common import (
    all_well,
    always,
    in_turn,
    median,
    say,
    verdict,
)
from tests.storm.hosts import TwoKdcs
from tests.storm.stage import NAME, PASSWORD, PATTERN
from tests.storm.unproved import Unproved
from tests.support.kerberos import Client, Outcome
from tests.support.load import Load
from tests.support.process import wait_until

AT_ONCE = 256  # users, at one host or half of them at each
FAIR = 0.1  # hosts with the same load differ by no more
FEWER = 0.1  # nor two hosts from one: what runs one after the other on one machine differs so
QUIET_SHARE = 0.15  # of one host's highest rate: the other's load
FLOOD, FLOOD_UNPROVED = 2.0, 4.0  # of that rate; the latter cost the servers two thirds of a login
FLOOD_S = 3  # that the flood is longer than what is measured beside it
GIVE_UP_MS = 3_000  # users of the flood
FLOODED_P99, SLACK_MS = 2.0, 1_000  # p99 beside a flood: so many times that alone, and so much more
UNBORNE = 0.9  # of a flood less than that is answered with a ticket
PRESSED = 1.5  # and the servers had more to do for that host than so many times the other's
DRAIN_S = 6  # an operation has 5 s at krb5kdc
LEAST_S = 10
CLIENTS = 4
FIRST_S, MEANWHILE_S, AFTER_S = 60, 12, 3  # until one logs in; dead; and back
LOGINS_LEAST = 2 * CLIENTS  # while a host is dead


def serving(scene: TwoKdcs, seconds: float) -> tuple[float, dict[str, bool]]:
    """The same number of users at one host and at both, in turn; one's rate, and what held."""
    first = scene.hosts[0]
    runs = in_turn({
        "one": partial(first.storm, f"--clients={AT_ONCE}", "--quiet", duration_s=seconds),
        "both": partial(scene.at_once, f"--clients={AT_ONCE // 2}", "--quiet",
                        duration_s=seconds, report="two-kdcs")})
    ratio = pairwise(runs, "one", "both", rate_ratio)
    uneven = median(runs["both"], lambda r: 1 - min(rates(r)) / max(1e-9, *rates(r)))
    highest = median(runs["one"], lambda r: r["rate"])
    say(f"both hosts make {ratio:.2f} of one's {highest:.1f} logins/s; {uneven:.1%} apart")
    return highest, {
        **all_well(*runs["one"], *runs["both"]),
        f"two give no fewer logins than one, to a tenth ({ratio:.2f})": ratio >= 1 - FEWER,
        f"each as many as the other, to a tenth ({uneven:.1%} fewer)": uneven <= FAIR}


def rates(both: dict) -> list[float]:
    return [result["rate"] for result in both["each"]]


def pairwise(runs: dict[str, list[dict]], one: str, other: str,
             measure: Callable[[dict, dict], float]) -> float:
    """The median over pairs that ran one after the other: the machine's other load was alike."""
    return statistics.median(map(measure, runs[one], runs[other]))


class Flood:
    """What the first host is asked for while the other is measured, and how much it answered."""

    def __init__(self, scene: TwoKdcs, highest: float, duration_s: float):
        self.scene, self.highest, self.duration_s = scene, highest, duration_s + FLOOD_S
        self.borne: list[float] = []  # shares of it that were answered
        self.pressed: list[float] = []  # operations of the flooded host, to one of the other's

    @contextmanager
    def none(self):
        yield

    @contextmanager
    def logins(self):
        first, before = self.scene.hosts[0], self.scene.asked()
        storm = first.start_storm(f"--rate={FLOOD * self.highest:.2f}", "--poisson",
                                  "--quiet", f"--timeout-ms={GIVE_UP_MS}", "--retransmit-ms=1000",
                                  duration_s=self.duration_s, name="flood")
        yield
        counts = first.finish_storm(storm, self.duration_s, name="flood")["counts"]
        self._count("logins", counts["ok"], counts["sent"] + counts["unsent"], before)

    @contextmanager
    def unproved(self):
        flood = Unproved(self.scene.hosts[0].kdc_port(), NAME, self.scene.unproved(),
                         FLOOD_UNPROVED * self.highest)
        before = self.scene.asked()
        flood.start()
        try:
            yield
        finally:
            flood.end()
        self._count("requests without preauthentication", flood.tickets, flood.sent, before)

    def _count(self, what: str, answered: int, sent: int, before: tuple[int, int]) -> None:
        first, second = (now - then for now, then in zip(self.scene.asked(), before, strict=True))
        say(f"        beside {sent} {what}, {answered} of them answered; the hosts' agents asked "
            f"for {first} and {second} operations")
        self.borne.append(answered / max(1, sent))
        self.pressed.append(first / max(1, second))
        time.sleep(DRAIN_S)


def beside(flood: Callable[[], AbstractContextManager], scene: TwoKdcs, load: tuple[str, ...],
           seconds: float, report: str) -> dict:
    with flood():
        return scene.hosts[1].storm(*load, duration_s=seconds, report=report)


def flooded(scene: TwoKdcs, highest: float, seconds: float) -> dict[str, bool]:
    """The other host's logins without a flood of the first one, and with each kind, in turn."""
    highest = max(highest, 1.0)
    flood = Flood(scene, highest, seconds)
    load = (f"--rate={QUIET_SHARE * highest:.2f}", "--quiet")  # even: as many are meant each time
    kinds = {"alone": flood.none, "logins": flood.logins, "unproved": flood.unproved}
    runs = in_turn({name: partial(beside, kind, scene, load, seconds,
                                  "" if name == "alone" else f"two-kdcs-{name}")
                    for name, kind in kinds.items()})
    checks = all_well(*(result for results in runs.values() for result in results))
    checks |= {f"a flood is more than its host bears (at most {max(flood.borne):.2f} of it)":
               max(flood.borne) < UNBORNE,
               "it reaches the servers (at least "
               f"{min(flood.pressed):.1f} times the other's operations)":
               min(flood.pressed) > PRESSED}
    for name in ("logins", "unproved"):
        # Not per second: the time that the last ones take would count, which p99 is for.
        logins = pairwise(runs, "alone", name, lambda alone, with_it: with_it["counts"]["ok"]
                          / max(1, alone["counts"]["ok"]))
        above = pairwise(runs, "alone", name, above_allowed)
        say(f"beside {name} the other makes {logins:.2f} of its logins; {above:+.0f} ms from what "
            "its p99 may be")
        checks |= {f"as many logins at the other beside {name}, to a tenth ({logins:.2f})":
                   abs(logins - 1) <= FAIR,
                   f"their p99 beside {name} is at most twice that alone and a second "
                   f"({above:+.0f} ms)": above <= 0}
    return checks


def rate_ratio(one: dict, other: dict) -> float:
    return other["rate"] / one["rate"] if one["rate"] > 0 else 0.0


def above_allowed(alone: dict, beside_flood: dict) -> float:
    """Milliseconds; of none that was answered there is no p99."""
    if beside_flood["counts"]["ok"] == 0:
        return math.inf
    allowed = FLOODED_P99 * alone["latency_ms"]["p99"] + SLACK_MS
    return beside_flood["latency_ms"]["p99"] - allowed


class Attempts:
    """A stock kinit; where it fails once more, and then it is lost."""

    def __init__(self):
        self.retried, self.lock = 0, threading.Lock()

    def __call__(self, client: Client) -> Outcome:
        user = PATTERN % 0
        done = client.kinit(user, PASSWORD)
        if not done.ok:
            with self.lock:
                self.retried += 1
            done = client.kinit(user, PASSWORD)
        return done


def outlived(scene: TwoKdcs, what: str, fault, remedy) -> dict[str, bool]:
    """Clients with both KDCs, half of them with each one first, log in all the time."""
    clients = [scene.client_of_both(f"two{number}", number % 2) for number in range(CLIENTS)]
    attempts = Attempts()
    with Load(clients, attempts) as logins:
        wait_until(lambda: logins.ok > 0, FIRST_S, "a client's login")
        before = logins.ok
        fault()
        alone = scene.client("of-one").kinit(PATTERN % 1, PASSWORD)
        time.sleep(MEANWHILE_S)
        meanwhile = logins.ok - before
        remedy()
        time.sleep(AFTER_S)
    say(f"{what}: {logins.ok} logins, {meanwhile} meanwhile, {attempts.retried} at the second "
        f"attempt, {len(logins.errors)} lost {logins.errors[:1] or ''}")
    return {f"{what}: no login is lost ({len(logins.errors)})": not logins.errors,
            f"{what}: logins go on ({meanwhile})": meanwhile >= LOGINS_LEAST,
            f"{what}: a client that has only that one gets none": not alone.ok}


def dying(scene: TwoKdcs) -> dict[str, bool]:
    """The first host loses its power; then its krb5kdc answers no more, and takes all the same."""
    return {**outlived(scene, "a host dies", scene.first_host_dies,
                       scene.first_host_comes_back),
            **outlived(scene, "a krb5kdc stands still",
                       partial(scene.signal, "krb5kdc", signal.SIGSTOP),
                       partial(scene.signal, "krb5kdc", signal.SIGCONT))}


def two_kdcs(scene: TwoKdcs, seconds: float) -> bool:
    """Two KDC hosts, each with its agent, give no fewer logins than one, and as many each, to a

    tenth. While the first is flooded, with logins or with requests without preauthentication, the
    other's logins come at their rate, and their p99 is at most twice that without a flood and a
    second. A host that dies costs stock clients which have both no login.
    """
    seconds = max(LEAST_S, seconds)
    highest, checks = serving(scene, seconds)
    return verdict({**checks, **flooded(scene, highest, seconds), **dying(scene),
                    **always(scene)})


two_kdcs.scene = TwoKdcs
