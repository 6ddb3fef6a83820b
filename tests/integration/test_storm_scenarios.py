# SPDX-License-Identifier: Apache-2.0
"""What the storm scenarios decide: each thing that they assert, held and not held. No realm."""

import math
import os
import random
import re
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.storm import common, morning, scenarios
from tests.storm.crowd import CrowdScene
from tests.support.process import RealmError

GOOD = {"rate": 100.0, "p50": 5.0, "p99": 400.0, "p999": 450.0, "max": 500.0, "ok": 1_000,
        "checked": 1_000, "refused": 0, "errors": 0, "wrong": 0, "lost": 0, "unsent": 0,
        "retransmits": 0, "noise": 0, "seconds": (), "duration_s": 40}


def storm_result(**changes) -> dict:
    """The generator's results: good ones, but for the changes."""
    all_of_it = {**GOOD, **changes}
    return {"rate": all_of_it["rate"], "best_rate": 2 * all_of_it["rate"],
            "duration_s": all_of_it["duration_s"],
            "counts": all_of_it, "latency_ms": all_of_it,
            "seconds": [{"counts": {"ok": ok}} for ok in all_of_it["seconds"]],
            "processes": {name: {"cpu_s": 0.01} for name in ("tkdc-storm", "responder")}}


class FakeScene:
    """Answers a storm with what `changes` makes of its options; all else is as it should be."""

    lanes, terms, password_file = 2, None, Path("password")

    def __init__(self, changes=lambda options: {}):
        self.changes = changes
        self.daemons = {"server1": SimpleNamespace(kill=lambda: None)}

    def __enter__(self) -> "FakeScene":
        return self

    def __exit__(self, *_exc) -> None:
        pass

    def storm(self, *options: str, **_how) -> dict:
        return storm_result(**self.changes(options))

    def start_storm(self, *options: str, **_how) -> tuple[str, ...]:
        return options

    def finish_storm(self, options: tuple[str, ...], *_how, **_more) -> dict:
        return self.storm(*options)

    def next_users(self, count: int) -> list[str]:
        return [str(count)]

    def limited(self) -> int:
        return 0

    def stop(self) -> None:
        pass

    def start_server(self, party: int) -> None:
        pass

    def kadmin_local(self, query: str) -> None:
        pass

    def processes(self) -> dict:
        return {}


def held(checks: dict[str, bool]) -> bool:
    return all(checks.values())


def test_no_login_is_lost_unseen():
    good = storm_result()
    assert held(common.all_well(good, good))
    for bad in ({"errors": 1}, {"wrong": 1}, {"lost": 1}, {"unsent": 1}, {"checked": 999},
                {"ok": 0, "checked": 0}, {"max": common.LIMIT_MS + 1}):
        assert not held(common.all_well(good, storm_result(**bad))), bad
    assert not held(common.all_well(good, limit_ms=499))
    assert held(common.p99_within(400, good))
    assert not held(common.p99_within(399, good))


def test_recovery_ends_with_a_second_in_which_logins_flow():
    result = storm_result(seconds=(10, 10, 0, 4, 5, 10))
    assert common.recovery_s(result, 2.5, rate=10) == 2.5
    assert common.recovery_s(result, -1, rate=10) == 2
    assert common.recovery_s(result, 2.5, rate=21) == math.inf
    assert held(common.recovered("it", result, 2.5, 10, limit_s=3))
    assert not held(common.recovered("it", result, 2.5, 10, limit_s=2))


def test_memory_counts_at_its_highest(monkeypatch):
    taken = b"x" * (64 << 20)
    during = common.most_mb(os.getpid())
    del taken
    most = common.most_mb(os.getpid())
    assert 64 < during - 1 < most
    scene = FakeScene()
    scene.processes = lambda: {"server1": [os.getpid()]}
    for ceiling in (most + 1, most - 1):
        monkeypatch.setitem(common.CEILINGS_MB, "server", ceiling)
        assert held(common.memory_within(scene)) == (ceiling > most)


def test_limits_are_never_reached():
    scene = FakeScene()
    assert held(common.always(scene))
    scene.limited = lambda: 1
    assert not held(common.always(scene))


def test_a_morning_has_a_user_for_each_login():
    dice = random.Random(1)
    for _ in range(200):
        at, logins = dice.expovariate(40), 0
        while at < 10:
            at, logins = at + dice.expovariate(40), logins + 1
        assert 0 < logins <= morning.users_of(40, 10)
    rates = [share * 100 for share in morning.STEPS]
    assert morning.fitting(rates, 10) == 10
    rates = [share * 5_000 for share in morning.STEPS]
    seconds = morning.fitting(rates, 10)
    users = sum(morning.users_of(rate, seconds) for rate in rates)
    assert 0.9 * morning.MOST_USERS < users <= morning.MOST_USERS


def test_a_crowd_is_handed_out_once(tmp_path, monkeypatch):
    monkeypatch.setenv("STORM_DIR", str(tmp_path))
    scene = CrowdScene(crowd=10)
    named = []
    for count in (4, 6):
        _, path = scene.next_users(count)
        with open(path, "rb") as keytab:
            named += re.findall(rb"crowd\d{6}", keytab.read())
    assert len(named) == len(set(named)) == 10
    with pytest.raises(RealmError):
        scene.next_users(1)


@pytest.mark.parametrize("noisy, holds", [
    ({}, True), ({"rate": 91}, True), ({"rate": 89}, False), ({"p99": 1_100}, True),
    ({"p99": 1_101}, False), ({"lost": 1}, False), ({"noise": 0}, False)])
def test_noise_compares_with_and_without(noisy, holds):
    scene = FakeScene(lambda options: {"noise": 100, **noisy}
                      if any(option.startswith("--noise") for option in options) else {})
    assert scenarios.noise(scene, 1) is holds


@pytest.mark.parametrize("half, holds", [({}, True), ({"lost": 1}, False)])
def test_versus_stock_judges_the_runs_at_half_rate(monkeypatch, half, holds):
    monkeypatch.setattr(scenarios, "Scene", lambda **_: FakeScene())
    scene = FakeScene(lambda options: half if options[0].startswith("--rate") else {})
    assert scenarios.versus_stock(scene, 1) is holds


@pytest.mark.parametrize("flowing, holds", [(True, True), (False, False)])
def test_retransmit_asserts_recovery(flowing, holds):
    scene = FakeScene(lambda options: {"seconds": (100,) if flowing else (1,) * 20}
                      if "--warmup=0" in options else {"retransmits": 1, "noise": 1})
    assert scenarios.retransmit(scene, 1) is holds


@pytest.mark.parametrize("changes, holds", [
    ({"rate": 50_000}, True), ({"rate": 49_999}, False), ({"rate": 60_000, "wrong": 1}, False),
    ({"rate": 60_000, "checked": 1}, False)])
def test_the_generator_must_make_fifty_thousand(changes, holds):
    scene = FakeScene(lambda options: {
        "checked": 10 if "--sample=0.01" in options else 1_000, **changes})
    assert scenarios.generator(scene, 1) is holds


@pytest.mark.parametrize("seen, holds", [(5_000, True), (4_999, False)])
def test_a_morning_needs_as_many_users_as_logins(monkeypatch, seen, holds):
    crowd = FakeScene()
    crowd.users_seen = lambda: seen
    monkeypatch.setattr(morning, "CrowdScene", lambda **_: crowd)
    assert morning.monday_morning(FakeScene(), 1) is holds


@pytest.mark.parametrize("changes, holds", [
    ({"seconds": [100] * 30}, True), ({"seconds": [1] * 30}, False),
    ({"seconds": [100] * 30, "max": 15_001}, False)])
def test_a_server_that_comes_back_must_not_keep_logins_waiting(monkeypatch, changes, holds):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    scene = FakeScene(lambda options: changes if "--timeout-ms=30000" in options else {})
    assert scenarios.server_restart(scene, 1) is holds


@pytest.mark.parametrize("others, again, holds", [
    ({}, (2,), True), ({"p99": 8_001}, (2,), False), ({"lost": 1}, (2,), False),
    ({}, (0,) * 8, False)])
def test_a_client_in_a_loop_delays_nobody(others, again, holds):
    def changes(options: tuple[str, ...]) -> dict:
        if "--poisson" in options:
            return others
        return {"lost": 1} if "--retransmit-ms=1000" in options else {"seconds": again}

    scene = FakeScene(changes)
    scene.limited = lambda: 1
    scene.operations = lambda role: [{"op": "open", "usage": 1, "status": "ok", "key": "his"}]
    assert scenarios.client_in_a_loop(scene, 1) is holds
