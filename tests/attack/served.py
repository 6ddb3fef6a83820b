# SPDX-License-Identifier: Apache-2.0
"""What no honest server has to latch for, since nothing that two of them do depends on it.

Statements of a job (docs/protocols/10-admission.md) and answers to an agent
(kdc-plugin/agent/combine.h) that are false: a job fails, and no wrong result comes of it.

A server that tells nothing false and breaks its connections
(docs/adr/0022-a-session-outlives-its-connections.md): what it had not heard is sent again as it
was, and the jobs are done. The same session goes on.
"""

import re
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tests.attack.line import Play
from tests.attack.realm import USERS, AttackedRealm, password
from tests.attack.tap import Tap
from tests.support.process import RealmError, wait_until

ASKED = USERS[2]  # whose failed attempts nothing else counts
ASKS_S = 2.5
ENDED_S = 30.0
CLOCK_MS = 2  # to which the agent's record tells the time
BURSTS = 3
WRONG = "Password incorrect"


@dataclass
class Seen:
    """What came of it, outside."""

    operations: list[dict] = field(default_factory=list)  # of the KDC's agent
    right: list[str] = field(default_factory=list)  # users who had the right password and got in
    let_in: list[str] = field(default_factory=list)  # who had a wrong one
    errors: list[str] = field(default_factory=list)  # of those who had the right one and did not
    agent: str = ""  # what it logged
    received: bytes = b""  # by the changed server, as the tap tells

    def count(self, status: str) -> int:
        return sum(op["status"] == status for op in self.operations)


@dataclass(frozen=True)
class Served:
    tried: str
    order: str
    judge: Callable[[AttackedRealm, Tap, Seen, Play], None]
    liars: tuple[int, ...] = (0, 1, 2)
    short: tuple[int, ...] = ()


# -- what must hold --------------------------------------------------------------------------


def failed_attempts(realm: AttackedRealm) -> dict[str, int]:
    """What locks accounts, by user. A login sets it to 0."""
    failed = {}
    for user in USERS:
        shown = realm.kadmin_local(f"getprinc {user}")
        found = re.search(r"Failed password attempts: (\d+)", shown)
        if found is None:
            raise RealmError(f"getprinc {user} says {shown}")
        failed[user] = int(found[1])
    return failed


def _job_refused(realm: AttackedRealm, tap: Tap, seen: Seen, done: Play) -> None:
    """One job was stated differently: it gives nothing, and those beside it all they should."""
    refused = seen.count("inconsistent")
    done.count("jobs refused", refused)
    done.count("results of others", seen.count("ok"))
    if refused == 0:
        done.learned.append("a job that was stated differently has run")
    done.expect(refused <= 1, f"{refused} jobs are refused for one")
    done.expect(len(seen.right) >= len(USERS) - 1, f"only {seen.right} log in beside it")
    done.honest = "refused the job, served the others"


def _no_result_said(realm: AttackedRealm, tap: Tap, seen: Seen, done: Play) -> None:
    """And no right password is called wrong: that counts from two servers only."""
    no_result(realm, tap, seen, done)
    told = [error for error in seen.errors if WRONG in error]
    done.expect(not told, "a right password is called wrong")


def no_result(realm: AttackedRealm, tap: Tap, seen: Seen, done: Play) -> None:
    """All its answers were changed: the agent puts none together."""
    done.count("answers changed", tap.answers)
    done.count("results at the agent", seen.count("ok"))
    done.learned += [f"the result of {op['op']} {op['usage']}" for op in seen.operations
                     if op["status"] == "ok"]
    done.learned += [f"a login of {user}" for user in seen.right]
    done.expect(bool(seen.operations), "the agent was asked nothing")
    done.honest = "saw nothing of it"


def _pair_is_named(realm: AttackedRealm, tap: Tap, seen: Seen, done: Play) -> None:
    _no_result_said(realm, tap, seen, done)
    pairs = re.findall(r"servers (\d) and (\d) differ in an output component", seen.agent)
    done.count("pairs named", len(pairs))
    done.expect(bool(pairs), "the agent does not say who differs")
    done.expect(all(str(realm.liar) in pair for pair in pairs), f"the agent names {pairs}")


def _server_is_named(realm: AttackedRealm, tap: Tap, seen: Seen, done: Play) -> None:
    _no_result_said(realm, tap, seen, done)
    _names_it(realm, seen, done)


def _names_it(realm: AttackedRealm, seen: Seen, done: Play) -> None:
    named = set(re.findall(r"server (\d) is faulty or changed", seen.agent))
    done.expect(named == {str(realm.liar)}, f"the agent names servers {sorted(named)}")


def _nobody_let_in(realm: AttackedRealm, tap: Tap, seen: Seen, done: Play) -> None:
    """Only what it made up itself was changed, of a wrong password."""
    done.count("answers changed", tap.answers)
    done.learned += [f"a login of {user} with a wrong password" for user in seen.let_in]
    opened = [op for op in seen.operations if op["op"] == "open" and op["usage"] in (1, 54)]
    done.learned += ["the opening of a timestamp" for op in opened if op["status"] == "ok"]
    done.expect(bool(opened), "no timestamp was opened")
    _names_it(realm, seen, done)
    done.honest = "saw nothing of it"


def judge_sent_again(tap: Tap, received: bytes, done: Play) -> None:
    """Whoever breaks a connection gets no second value for the same challenge."""
    at = 0
    again = 0
    heard: dict[tuple[str, int], bytes] = {}
    for packet in tap.got:
        octets, at = received[at:at + packet.octets], at + packet.octets
        where = (packet.side, packet.tick)
        again += where in heard
        if heard.setdefault(where, octets) != octets:
            done.learned.append(f"another packet of tick {packet.tick}")
    done.expect(at <= len(received), "what was received is not what the tap tells")
    done.count("packets from honest servers", len(tap.got))
    done.count("of them sent again", again)


def _sent_again(realm: AttackedRealm, tap: Tap, seen: Seen, done: Play) -> None:
    judge_sent_again(tap, seen.received, done)
    done.count("results", seen.count("ok"))
    servers = realm.status()
    reconnected = [servers[party]["reconnections"] for party in realm.honest()]
    done.expect(all(reconnected), "no connection was broken")
    done.expect(all(servers[party]["checks_broken"] == 0 for party in realm.honest()),
                "an honest server counts a check")
    done.expect(len(seen.right) == len(USERS), f"only {seen.right} log in")
    failed = {op["status"] for op in seen.operations} - {"ok"}
    done.expect(not failed, f"operations fail: {failed}")
    done.honest = "went on over new connections, did the jobs"


SERVED = (
    Served("statements: another digest of a component told to the next server", "statement-next",
           _job_refused),
    Served("the same, told to the previous one", "statement-prev", _job_refused, liars=(1,)),
    Served("the same, told to both", "statements", _job_refused, liars=(0, 2), short=(0,)),
    Served("statements: another digest of what is public, told to one", "statement-public",
           _job_refused, liars=(2,)),
    Served("statements: \"no such key\" told to one", "statement-verdict", _job_refused,
           liars=(1,)),
    Served("statements: \"wrong key\" told to both", "statement-wrong-key", _job_refused,
           short=(1,)),
    Served("answers: an octet of its component changed", "answer-output", _pair_is_named,
           short=(2,)),
    Served("answers: the digest of the next one's component changed", "answer-digest",
           _pair_is_named),
    Served("answers: \"denied\" of what the others did", "answer-denied", _server_is_named),
    Served("answers: \"no such key\" of what the others did", "answer-unknown", _server_is_named,
           liars=(0,)),
    Served("answers: \"wrong key\" of what the others opened", "answer-integrity",
           _server_is_named, liars=(1,)),
    Served("answers: \"opened\" of a wrong password, with octets of its own", "answer-ok",
           _nobody_let_in, liars=(2,)),
)


# What it would open, in a login's verifications: the seed; points and folds of two fields, X and Y,
# what the claims lack, the verdict.
OPENINGS = (*(Served(f"gone instead of opening for the {number} time", f"gone-opening-{k}",
                     _sent_again, liars=(k % 3,), short=(2,) if k == 8 else ())
              for k, number in enumerate(("first", "second", "third", "fourth", "fifth", "sixth",
                                          "seventh", "eighth", "ninth", "tenth"), 1)),)
SERVED += (
    Served("gone in the tick of its manifest, back with its session", "gone-manifest",
           _sent_again, liars=(0,)),
    Served("the same, of its statements", "gone-statements", _sent_again),
    Served("the same, of its verdicts", "gone-verdicts", _sent_again),
    *OPENINGS,
)


# -- played ----------------------------------------------------------------------------------


def play(realm: AttackedRealm, attack: Served) -> Play:
    done = Play()
    for _ in range(BURSTS):
        realm.wait_well()
        before = [server["sessions"] for server in realm.status()]
        failed = failed_attempts(realm)
        log = realm.logs / "agent-kdc.log"
        logged, asked = log.stat().st_size, len(realm.operations("kdc"))
        seen, armed = Seen(), datetime.now(UTC)
        realm.arm(attack.order)
        _log_in(realm, attack.order, seen)
        tap = realm.tap()
        if realm.received.exists():
            seen.received = realm.received.read_bytes()
        realm.arm("none")
        if tap.lied_at is not None:
            break
    done.expect(tap.lied_at is not None, f"server {realm.liar} never told it")
    seen.operations = [op for op in realm.operations("kdc")[asked:] if _began(op) >= armed]
    seen.agent = log.read_bytes()[logged:].decode(errors="replace")
    attack.judge(realm, tap, seen, done)
    now = failed_attempts(realm)
    if attack.order == "answer-ok" and tap.lied_at is not None and realm.servers == 3:
        # Two honest servers say that it was wrong, as it was.
        done.expect(now[ASKED] == failed[ASKED] + 1, "a wrong password is not counted")
        failed[ASKED] += 1
    counted = [user for user in USERS if now[user] > failed[user]]
    done.expect(not counted, f"an attempt of {', '.join(counted)} counts as failed")
    _goes_on(realm, before, done)
    return done


def _began(operation: dict) -> datetime:
    """One of the attack before may end, late, in this one's time."""
    ended = datetime.fromisoformat(operation["time"].replace("Z", "+00:00"))
    return ended - timedelta(milliseconds=operation["ms"] - CLOCK_MS)


def _log_in(realm: AttackedRealm, order: str, seen: Seen) -> None:
    if order == "answer-ok":
        if _logs_in(realm, "not " + password(ASKED)) is None:
            seen.let_in.append(ASKED)
        return
    if order.startswith("answer-"):
        error = _logs_in(realm, password(ASKED))
        if error is None:
            seen.right.append(ASKED)
        else:
            seen.errors.append(error)
        return
    with realm.logins_at_once() as logins:
        with suppress(RealmError):  # those that have not ended have not succeeded
            wait_until(lambda: all(login.process.poll() is not None for login in logins), ENDED_S,
                       "the logins' end")
        seen.right += [login.user for login in logins if login.succeeded()]


def _logs_in(realm: AttackedRealm, word: str) -> str | None:
    """What kinit says; nothing if it has a ticket. It asks again for longer than the test waits."""
    try:
        done = realm.client("asked").kinit(ASKED, word, timeout_s=ASKS_S)
    except subprocess.TimeoutExpired:
        return "no answer"
    return None if done.ok else done.errors


def _goes_on(realm: AttackedRealm, sessions: list[int], done: Play) -> None:
    """In the same session, by the same stock programs, at once when it tells the truth."""
    done.expect(not realm.latched(), f"it latched: {realm.latched()}")
    done.expect([server["sessions"] for server in realm.status()] == sessions,
                "the session has ended")
    realm.wait_well()
    done.status = "healthy" if "tkdc is healthy" in realm.status_text() else "DEGRADED"
    done.expect(done.status == "healthy", "`tkdc status` is not healthy after it")
    done.expect(realm.refuses_wrong_password(), "a wrong password was not refused")
