# SPDX-License-Identifier: Apache-2.0
"""The control of the split verdicts: the same lie in a realm whose three servers do not compare
what they were told (tkdc-server-unguarded). Packets then leave honest servers that must not."""

from tests.attack.line import Play
from tests.attack.realm import TOLD_S, AttackedRealm
from tests.support.process import RealmError, wait_until

TRIED = "CONTROL: split verdicts, with the comparison taken out of all three servers"
BURSTS = 3
SEEN_S = 10.0


def play(realm: AttackedRealm, liar: int) -> Play:
    done = Play()
    realm.change(liar)
    for _ in range(BURSTS):
        realm.arm("verdicts")
        with realm.logins_at_once():
            try:
                wait_until(lambda: realm.tap().lied_at is not None, TOLD_S, "the lie")
                wait_until(lambda: _later(realm), SEEN_S, "packets that must not leave")
            except RealmError:
                continue
            wait_until(lambda: realm.latched() or not realm.session_up(), SEEN_S, "the end")
        break
    later = _later(realm)
    if later:
        done.learned.append("packets that must not leave honest servers")
        opened = sum(packet.opened for packet in later)
        done.measured.append(f"{len(later)} after the comparing tick, {opened} octets opened")
    told = [why for why in realm.latched().values() if "told different things" in why]
    done.expect(not told, "a server compares: the guard is not taken out")
    latched = realm.latched().keys() - {liar}
    done.honest = f"{len(latched)} latched, late" if latched else "saw nothing"
    done.status = "too late"
    return done


def _later(realm: AttackedRealm) -> list:
    tap = realm.tap()
    first = tap.first_opening() if tap.lied_at is not None else None
    return tap.later_than(first) if first is not None else []
