# SPDX-License-Identifier: Apache-2.0
"""Plays the lies of one changed server against a realm that works, and puts it right again."""

import re
import time
from contextlib import nullcontext
from pathlib import Path

from tests.attack import stores
from tests.attack.keys import Keys
from tests.attack.lies import LACKING, NONE, VERDICT_AFTER, Lie
from tests.attack.line import Play
from tests.attack.realm import LATCHED_S, TOLD_S, AttackedRealm, Login
from tests.attack.tap import Tap
from tests.support.process import RealmError, wait_until

BURSTS = 3  # until one has what the lie needs: two jobs in one manifest
MOST_COMPARED = 32 + 32 + 32  # what was decided, and shares of two seeds
SECOND_S = 3.0  # for the next handshake, where the second honest server may see it
RELEASES = 3
MADE_UP_LINES = 1_000_000  # liar.cc
WHERE = re.compile(r"^lane \d+, cohorts up to \d+, round \d+: "
                   r"|in lane \d+ of the last session this server and party \d were |"
                   r", or that party says so$")


def play(realm: AttackedRealm, keys: Keys, lie: Lie) -> Play:
    """RealmError: the realm did not get as far as the lie, or did not come back."""
    done = Play()
    keys_before = stores.keys_held(realm)
    results = _tell(realm, lie, done)
    tap = realm.tap()
    done.expect(tap.lied_at is not None, f"server {realm.liar} never told it")
    judge_packets(lie, tap, done)
    _judge_received(realm.received, keys, done)
    if lie.latched != NONE:
        later = realm.results()[results:]
        done.learned += [f"the result of {op['op']} {op['usage']}" for op in later]
        done.count("results at the agent", len(later))
        _judge_latches(realm, lie, done)
    _put_right(realm, lie, done)
    if lie.stores or lie.beside:
        stores.judge(realm, keys_before, done)
    if lie.beside:
        done.count("packets in the other lane since the lie", len(tap.beside))
        done.expect(bool(tap.beside), "the other lane did not serve")
    if lie.order == "audit-heads":
        _judge_audit_heads(realm, done)
    return done


def _tell(realm: AttackedRealm, lie: Lie, done: Play) -> int:
    """Until it is told; how many results there were before."""
    for _ in range(BURSTS):
        results = len(realm.results())
        done.expect(results > 0, "the agent records no results, so that none shows nothing")
        if lie.new_session:
            realm.restart_armed(lie.order)
            realm.wait_session()
        else:
            realm.arm(lie.order)
        with (stores.busy(realm) if lie.beside else nullcontext(),
              stores.making(realm) if lie.stores else realm.logins_at_once() as asked):
            _wait_told(realm)
            if realm.tap().lied_at is None:
                continue
            _wait_over(realm, lie)
            if lie.latched != NONE:
                done.learned += _served(asked)
        break
    realm.disarm()
    return results


def _served(asked: list[Login] | list[stores.Making]) -> list[str]:
    what = {Login: "a login of", stores.Making: "a key of"}
    return [f"{what[type(one)]} {one.user}" for one in asked if one.succeeded()]


def _wait_told(realm: AttackedRealm) -> None:
    try:
        wait_until(lambda: realm.tap().lied_at is not None, TOLD_S, "the lie")
    except RealmError:
        return  # another burst


def _wait_over(realm: AttackedRealm, lie: Lie) -> None:
    """Both honest servers are latched, or as many as can be; the changed one has heard all."""
    wanted = lie.must_latch()
    honest = set(realm.honest())

    def seen() -> bool:
        latched = realm.latched().keys()
        # Its own program may have seen the lie as well. It comes back: only then do they meet.
        if realm.liar in latched and not honest & latched:
            realm.release([realm.liar])
        return bool(honest & latched)

    if wanted:
        wait_until(seen, LATCHED_S, "a latched server")
    deadline = time.monotonic() + SECOND_S
    while len(honest & realm.latched().keys()) < wanted and time.monotonic() < deadline:
        time.sleep(0.05)
    wait_until(lambda: realm.tap().over, LATCHED_S, "the end of the session")


# -- what the attacker learned ---------------------------------------------------------------


def last_allowed(lie: Lie, tap: Tap) -> int | None:
    """None: nothing was opened, and nobody came as far as to compare."""
    if isinstance(lie.last, int):
        return (tap.lied_at or 0) + lie.last
    if lie.last == "verdict":
        # A connection that is reset takes with it what nobody has read.
        lacking = tap.first_of(LACKING)
        return tap.first_verdict() or (lacking + VERDICT_AFTER if lacking is not None else None)
    if lie.last == "heard":
        return tap.heard_tick()
    return tap.first_opening()


def judge_packets(lie: Lie, tap: Tap, done: Play) -> None:
    if tap.lied_at is None:
        return
    last = last_allowed(lie, tap)
    if last is None:
        # The session broke before: masked messages of a few ticks, and no opening among them.
        last = (tap.silent_from or tap.lied_at) + 2
        done.expect(lie.last != "verdict", "no server told whether the check held")
        done.expect(lie.last != "heard", "no server compared what it heard")
    elif lie.last == "comparison":
        most = max(packet.opened for packet in tap.got if packet.tick == last)
        done.expect(most <= MOST_COMPARED, f"{most} octets are opened in the comparing tick")
    later = tap.later_than(last)
    done.expect(bool(tap.got), "the tap is empty")
    done.count("packets from honest servers", len(tap.got))
    done.count("of them when they had to be silent", len(later))
    if later:
        done.learned.append("packets that must not leave")


def _judge_received(received: Path, keys: Keys, done: Play) -> None:
    octets = received.stat().st_size if received.exists() else 0
    done.expect(octets > 0, "nothing that was received was written down")
    if octets:
        found = keys.found_in(received)
        done.count("octets of them searched", octets)
        done.count("keys found", len(found))
        done.learned += found


def _judge_audit_heads(realm: AttackedRealm, done: Play) -> None:
    for party in realm.honest():
        for event in realm.audit_events(party):
            made_up = [p for p in event.get("peers", []) if p["lines"] > MADE_UP_LINES]
            done.expect(not made_up, f"server {party} wrote down a head that was made up")


# -- what honest servers did -----------------------------------------------------------------


def _judge_latches(realm: AttackedRealm, lie: Lie, done: Play) -> None:
    latched = {party: why for party, why in realm.latched().items() if party != realm.liar}
    wanted = lie.must_latch()
    if len(latched) == 2:
        done.honest = "both latched"
    elif latched:
        done.honest = "one latched"
    if any(why.startswith("session: ") for why in latched.values()):
        done.honest += " when they met again"
    done.expect(len(latched) >= wanted, f"{len(latched)} of {wanted} honest servers are latched")
    try:
        servers = realm.wait_status(
            lambda all_of: all(all_of[party].get("latched") == why
                               for party, why in latched.items()), "the status of the latched")
    except RealmError as late:
        done.wrong.append(str(late))
        return
    done.expect(not any(server["session_up"] for server in servers),
                "a session is up while servers are latched")
    reasons = sorted({WHERE.sub("", why).removeprefix("session: ") for why in latched.values()})
    done.status = "latched: " + " / ".join(reasons)
    shown = realm.status_text()
    done.expect(all(f"server {party}: latched: {why}" in shown for party, why in latched.items())
                and "DEGRADED" in shown, "`tkdc status` does not show it")


def _put_right(realm: AttackedRealm, lie: Lie, done: Play) -> None:
    """All three administrators release, until the realm serves: then everything is as before."""
    for _ in range(RELEASES):
        realm.release()
        time.sleep(0.2)
        try:
            wait_until(lambda: realm.latched() or realm.session_up(), 30, "a session", pause_s=0.1)
        except RealmError:
            continue
        if not realm.latched():
            break
    realm.wait_well()
    if lie.latched == NONE:
        done.honest = "session ended, a new one begun"
        done.expect(not realm.latched(), "a broken packet latched a server")
        done.status = "healthy" if "tkdc is healthy" in realm.status_text() else "DEGRADED"
        done.expect(done.status == "healthy", "`tkdc status` is not healthy after it")
    done.expect(realm.refuses_wrong_password(), "a wrong password was not refused")
