# SPDX-License-Identifier: Apache-2.0
"""The controls: with nothing but the tap all is as ever, and the tap sees it. And the same lies in
a realm whose three servers do not compare what they were told (tkdc-server-unguarded): packets
then leave honest servers that must not. Or that find every check good (tkdc-server-unverified): a
wrong layer then leads to a wrong result."""

import time
from dataclasses import dataclass

from tests.attack.line import Play
from tests.attack.realm import TOLD_S, AttackedRealm
from tests.attack.tap import Packet
from tests.support.process import RealmError, wait_until

HONEST = "CONTROL: no lie, nothing but the tap"
OUT = "with the comparison taken out of all three servers"
UNGUARDED, UNVERIFIED = "tkdc-server-unguarded", "tkdc-server-unverified"
BURSTS = 3
SEEN_S = 10.0
SETTLED_S = 1.0  # for all that leaves


def play_honest(realm: AttackedRealm) -> Play:
    done = Play()
    results = len(realm.results())
    realm.arm("tap-only")
    with realm.logins_at_once() as logins:
        for login in logins:
            login.process.wait(SEEN_S)
            done.expect(login.succeeded(), f"{login.user} cannot log in")
    later, results = _later(realm), len(realm.results()) - results
    realm.arm("none")
    done.count("packets after the comparing tick", len(later))
    done.count("results at the agent", results)
    done.expect(bool(later) and results > 0, "the tap, or the agent's record, sees nothing")
    done.expect(not realm.latched(), "a server is latched")
    done.honest, done.status = "served", "healthy"
    done.expect("tkdc is healthy" in realm.status_text(), "`tkdc status` is not healthy")
    return done


@dataclass(frozen=True)
class Control:
    tried: str
    order: str
    liars: tuple[int, ...]
    short: tuple[int, ...] = ()
    server: str = UNGUARDED
    new_session: bool = False  # it is told when a session begins


CONTROLS = (
    Control(f"CONTROL: split verdicts, {OUT}", "verdicts", (0, 1, 2), short=(1,)),
    Control(f"CONTROL: another time of sealing for one, {OUT}", "sealed-at", (0,)),
    Control(f"CONTROL: another order for one, {OUT}", "order", (0,)),
    Control(f"CONTROL: audit heads that differ, {OUT}", "audit-heads", (1,)),
    Control(f"CONTROL: revoked windows told to one only, {OUT}", "windows", (2,),
            new_session=True),
    Control("CONTROL: a layer's octets changed, with the verdict taken out of all three servers",
            "layer", (1,), short=(1,), server=UNVERIFIED),
)


def play(realm: AttackedRealm, control: Control, liar: int) -> Play:
    """In a realm of its own."""
    done = Play()
    realm.populate()
    realm.change(liar)
    if control.server == UNVERIFIED:
        _wrong_results(realm, control, done)
        return done
    for _ in range(BURSTS):
        if control.new_session:
            realm.restart(liar)
            realm.wait_session()
        realm.arm(control.order)
        with realm.logins_at_once():
            try:
                wait_until(lambda: realm.tap().lied_at is not None, TOLD_S, "the lie")
                wait_until(lambda: _later(realm), SEEN_S, "packets that must not leave")
            except RealmError:
                continue
            time.sleep(SETTLED_S)
        break
    later = _later(realm)
    if later:
        done.learned.append("packets that must not leave")
    done.count("after the comparing tick", len(later))
    done.count("octets opened in them", sum(packet.opened for packet in later))
    told = [why for why in realm.latched().values() if "told different things" in why]
    done.expect(not told, "a server compares: the guard is not taken out")
    latched = realm.latched().keys() - {liar}
    done.honest = f"{len(latched)} latched, too late" if latched else "saw nothing"
    done.status = "too late" if latched else "nothing"
    return done


def _wrong_results(realm: AttackedRealm, control: Control, done: Play) -> None:
    """A right password that is refused, or a ticket that its service's key does not open, is what
    the agent put together of three answers that fit."""
    for _ in range(BURSTS):
        asked = len(realm.operations("kdc"))
        realm.arm(control.order)
        with realm.logins_at_once() as logins:
            for one in logins:
                one.process.wait(SEEN_S)
            refused = [one.user for one in logins if not one.succeeded()]
        realm.arm("none")
        answered = realm.operations("kdc")[asked:]
        wrong = [op for op in answered if op["status"] == "integrity"]
        done.count("operations", len(answered))
        done.count("wrong results at the agent", len(wrong))
        done.learned += [f"{user} refused with the right password" for user in refused]
        if refused:
            break
    done.expect(not realm.latched(), f"it latched, the guard is not taken out: {realm.latched()}")
    done.honest, done.status = "saw nothing", "nothing"


def _later(realm: AttackedRealm) -> list[Packet]:
    """Than the first tick, from the lie on, in which anything is opened."""
    tap = realm.tap()
    first = tap.first_opening()
    return tap.later_than(first) if first is not None else []
