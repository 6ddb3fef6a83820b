# SPDX-License-Identifier: Apache-2.0
"""A changed server that knows from a challenge that it would be found, and dies before it is, as a
machine that fails would. What it knew of the session is gone, so nobody can finish the check:
each honest server counts it, and after limits.opened_checks_per_day starts no session until its
administrator's `tkdc release` (docs/protocols/12-verification.md, "Cost and operation")."""

from dataclasses import dataclass

from tests.attack.lies import LACKING
from tests.attack.line import Play
from tests.attack.realm import LATCHED_S, AttackedRealm
from tests.support.process import RealmError, wait_until

LIMIT = 3  # config/tkdc.toml, opened_checks_per_day
BURSTS = 3  # until the lie is in a message that is verified
DIES_S = 15.0
REASON = f"limits.opened_checks_per_day ({LIMIT}) is reached"


@dataclass(frozen=True)
class Crash:
    tried: str
    order: str
    liars: tuple[int, ...] = (0, 1, 2)
    short: tuple[int, ...] = ()


CRASHES = (Crash("a layer's octets changed, and dead where it would open what the claim lacks",
                 f"layer die {LACKING}", short=(2,)),)


def play(realm: AttackedRealm, attack: Crash) -> Play:
    """RealmError: it did not die, or the realm did not come back."""
    done = Play()
    realm.release()  # and what was counted before
    for time in range(1, LIMIT + 1):
        _die(realm, attack, done)
        wait_until(lambda: realm.session_up() or realm.latched(), LATCHED_S,
                   "a new session, or the latch")
        counted = [realm.status()[party]["checks_broken"] for party in realm.honest()]
        # A server counts when it meets the changed one again. At the last time the first that does
        # latches, and the other one may have met nobody yet.
        enough = counted == [time, time] if time < LIMIT else max(counted) == time
        done.expect(enough, f"after {time} deaths {counted} are counted")
    latched = realm.latched()
    done.expect(bool(latched) and all(REASON in reason for reason in latched.values()),
                f"honest servers are latched for {latched}")
    done.honest = f"latched at the {LIMIT}rd"
    done.status = f"latched: {REASON}"
    realm.wait_status(lambda servers: all(servers[party].get("latched") == why
                                          for party, why in latched.items()),
                      "the status of the latched")
    done.expect(not realm.session_up(), "a session is up")
    realm.release()
    realm.wait_well()
    after = {party: realm.status()[party]["checks_broken"] for party in realm.honest()}
    # One that had not met the others by then counts the last time now.
    done.expect(all(count <= (party not in latched) for party, count in after.items()),
                f"a release left {after} counted")
    done.expect(realm.refuses_wrong_password(), "a wrong password was not refused")
    return done


def _die(realm: AttackedRealm, attack: Crash, done: Play) -> None:
    daemon = realm.daemons[f"server{realm.liar}"]
    for _ in range(BURSTS):
        realm.wait_well()
        results = len(realm.results())
        realm.arm(attack.order)
        with realm.logins_at_once() as logins:
            try:
                wait_until(lambda: not daemon.running(), DIES_S, "its death")
            except RealmError:
                continue
            done.learned += [f"a login of {login.user}" for login in logins if login.succeeded()]
        break
    else:
        raise RealmError("the changed server did not die")
    tap = realm.tap()
    opened = tap.first_of(LACKING)
    later = tap.later_than(opened) if opened is not None else []
    done.expect(bool(tap.got), "the tap is empty")
    done.count("packets from honest servers", len(tap.got))
    done.count("of them when they had to be silent", len(later))
    if later:
        done.learned.append("packets that must not leave")
    gained = realm.results()[results:]
    done.count("results at the agent", len(gained))
    done.learned += [f"the result of {op['op']} {op['usage']}" for op in gained]
    realm.start_server(realm.liar)
