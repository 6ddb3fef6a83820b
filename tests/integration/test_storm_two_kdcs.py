# SPDX-License-Identifier: Apache-2.0
"""What the scenario two-kdcs decides, held and not held, and its flood. No realm."""

import re
import socket
import subprocess
import threading
import time
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from tests.integration.test_storm_scenarios import FakeScene, storm_result
from tests.storm import two_kdcs
from tests.storm.hosts import both_of
from tests.storm.unproved import AS_REP_TAG, Unproved, as_request
from tests.support.kerberos import Outcome

FINE, FAILED = Outcome(0, "", ""), Outcome(1, "", "Cannot contact any KDC")


class FakeHosts:
    """Two hosts whose storms bring what the test says, by host and by what runs beside."""

    def __init__(self, first=lambda options: {}, second=dict, each=(50.0, 50.0)):
        self.flooded, self.each = "", each
        self.hosts = (FakeScene(first), FakeScene(lambda options: second()))

    def at_once(self, *_options: str, **_how) -> dict:
        return both_of([storm_result(rate=rate) for rate in self.each])


@pytest.mark.parametrize("each, holds", [
    ((0, 0), False), ((50, 0), False), ((50, 50), True), ((48, 44), True), ((60, 53), False),
    ((45, 44.9), False), ((52, 48), True), ((120, 107), False)])
def test_two_serve_as_one_and_alike(each, holds):
    assert all(two_kdcs.serving(FakeHosts(each=each), 1)[1].values()) is holds


def test_a_lost_login_at_either_of_both_counts():
    scene = FakeHosts()
    scene.at_once = lambda *_, **__: both_of([storm_result(rate=50), storm_result(rate=50, lost=1)])
    assert not all(two_kdcs.serving(scene, 1)[1].values())


def test_of_both_the_worse_latency_is_taken_and_servers_count_once():
    first, second = storm_result(p99=300), storm_result(p99=700)
    for result, names in ((first, ("server0", "krb5kdc", "tkdc-storm")),
                          (second, ("server0", "replica-kdc", "tkdc-storm"))):
        result["processes"] = {name: {"cpu_s": 1.0} for name in names}
    both = both_of([first, second])
    assert (both["latency_ms"]["p99"], both["rate"], both["counts"]["ok"]) == (700, 200, 2_000)
    assert set(both["processes"]) == {"server0", "krb5kdc", "replica-kdc", "tkdc-storm",
                                      "tkdc-storm'"}


class NoFlood(two_kdcs.Flood):
    """Says of the scene what kind of flood there is; `answered` of it comes back."""

    answered, asked = 0.5, 3.0

    def none(self):
        self.scene.flooded = ""
        return nullcontext()

    def logins(self):
        self.scene.flooded = "logins"
        self.borne.append(self.answered)
        self.pressed.append(self.asked)
        return nullcontext()

    def unproved(self):
        self.scene.flooded = "unproved"
        self.borne.append(self.answered)
        self.pressed.append(self.asked)
        return nullcontext()


# p99 alone is 400 ms: 1,800 are allowed.
@pytest.mark.parametrize("kind", ["logins", "unproved"])
@pytest.mark.parametrize("beside, answered, asked, holds", [
    ({}, 0.5, 3, True), ({"ok": 0, "checked": 0}, 0.5, 3, False),
    ({"p99": 1_800}, 0.5, 3, True), ({"p99": 1_801}, 0.5, 3, False),
    ({"ok": 890, "checked": 890}, 0.5, 3, False), ({"ok": 910, "checked": 910}, 0.5, 3, True),
    ({"lost": 1}, 0.5, 3, False),
    ({"max": 15_001}, 0.5, 3, False), ({}, 0.95, 3, False), ({}, 0, 1, False), ({}, 0, 3, True)])
def test_a_flood_of_one_leaves_the_other_alone(monkeypatch, kind, beside, answered, asked, holds):
    scene = FakeHosts(second=lambda: beside if scene.flooded == kind else {})
    monkeypatch.setattr(two_kdcs, "Flood", NoFlood)
    monkeypatch.setattr(NoFlood, "answered", answered)
    monkeypatch.setattr(NoFlood, "asked", asked)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    assert all(two_kdcs.flooded(scene, 100, 1).values()) is holds


def test_where_nothing_is_answered_there_is_no_p99():
    none = storm_result(ok=0, checked=0, rate=0.0, p99=0)
    assert two_kdcs.above_allowed(none, storm_result()) < 0
    assert two_kdcs.above_allowed(storm_result(), none) > 0
    assert two_kdcs.rate_ratio(none, storm_result()) == 0
    assert two_kdcs.rate_ratio(storm_result(), none) == 0


def dead_host(monkeypatch, kinit, alone=FAILED) -> dict[str, bool]:
    for name in ("MEANWHILE_S", "AFTER_S"):
        monkeypatch.setattr(two_kdcs, name, 0.3)
    scene = SimpleNamespace(dead=False)
    slow = SimpleNamespace(kinit=lambda *_: (time.sleep(0.01), kinit(scene))[1])
    scene.client_of_both = lambda name, first: slow
    scene.client = lambda name: SimpleNamespace(kinit=lambda *_: alone)
    return two_kdcs.outlived(scene, "it", lambda: setattr(scene, "dead", True),
                             lambda: setattr(scene, "dead", False))


def test_a_dead_host_costs_no_login(monkeypatch):
    assert all(dead_host(monkeypatch, lambda scene: FINE).values())
    lost = dead_host(monkeypatch, lambda scene: FAILED if scene.dead else FINE)
    assert [held for text, held in lost.items() if "is lost" in text] == [False]
    still = dead_host(monkeypatch, lambda scene: (time.sleep(scene.dead), FINE)[1])
    assert [held for text, held in still.items() if "go on" in text] == [False]
    assert not all(dead_host(monkeypatch, lambda scene: FINE, alone=FINE).values())


def test_a_second_attempt_saves_a_login_and_a_third_is_none():
    answers = iter([FAILED, FINE, FINE, FAILED, FAILED])
    client = SimpleNamespace(kinit=lambda *_: next(answers))
    attempts = two_kdcs.Attempts()
    assert [attempts(client).ok for _ in range(3)] == [True, True, False]
    assert attempts.retried == 2


def test_a_request_that_proves_nothing_is_an_as_req():
    request = as_request("STORM.REALM", "open007")
    shown = subprocess.run(["openssl", "asn1parse", "-inform", "DER"], input=request, check=True,
                           capture_output=True).stdout.decode()
    assert "appl [ 10 ]" in shown
    fields = re.findall(r"d=2 .*cont \[ (\d) \]", shown)
    assert fields == ["1", "2", "4"]  # version, type, body: no [3], which is padata
    assert request.count(b"STORM.REALM") == 2 and b"open007" in request


def test_a_flood_keeps_its_rate_and_counts_what_it_gets():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as kdc:
        kdc.bind(("127.0.0.1", 0))
        kdc.settimeout(1)
        seen: list[bytes] = []

        def answer() -> None:
            while True:
                try:
                    packet, sender = kdc.recvfrom(4096)
                except TimeoutError:
                    return
                seen.append(packet)
                kdc.sendto(bytes([AS_REP_TAG if len(seen) % 2 else 0x7E]), sender)

        thread = threading.Thread(target=answer)
        thread.start()
        flood = Unproved(kdc.getsockname()[1], "STORM.REALM", ["open000", "open001"], 300)
        flood.start()
        time.sleep(1)
        flood.end()
        thread.join()
    assert 150 < flood.sent <= 300 * flood.seconds
    assert len(seen) == len(set(seen)) == flood.sent
    assert flood.tickets + flood.others == flood.sent and abs(flood.tickets - flood.others) <= 1
