# SPDX-License-Identifier: Apache-2.0
"""What an agent, the KDC's host and clients try, without any server's help."""

import os
import secrets
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from tests.attack import handles
from tests.attack.line import Play
from tests.attack.realm import SERVICE, USERS, AttackedRealm, password
from tests.support import ccache
from tests.support.ccache import change_cipher
from tests.support.kerberos import Client
from tests.support.process import RealmError

ROGUE_S = 300
KEY_OPERATIONS = ("seal", "open", "mac", "verify")
MANAGEMENT = ("stage", "export", "bind", "destroy", "equal")


@dataclass(frozen=True)
class Attack:
    tried: str
    run: Callable[[AttackedRealm, bool, Play], None]
    by_client: bool = False  # with two servers too: no agent of ours

    def play(self, realm: AttackedRealm, short: bool) -> Play:
        """The realm serves before and after it as ever, with the same processes."""
        done = Play()
        realm.wait_well()
        before = realm.pids()
        sessions = [server["sessions"] for server in realm.status()]
        self.run(realm, short, done)
        done.expect(realm.pids() == before, "a program has ended")
        done.expect([server["sessions"] for server in realm.status()] == sessions,
                    "the servers' session has ended")
        done.expect(not realm.latched(), "a server is latched")
        done.status = "healthy" if "tkdc is healthy" in realm.status_text() else "DEGRADED"
        done.expect(done.status == "healthy", "`tkdc status` is not healthy after it")
        realm.wait_well()
        done.expect(realm.refuses_wrong_password(), "a wrong password was not refused")
        return done


# -- agents ----------------------------------------------------------------------------------


def _rogue(realm: AttackedRealm, role: str, operations: tuple[str, ...],
           *options: str) -> list[list[str]]:
    """A line for each request: operation, case, what each of the three servers answered."""
    config = realm.installation / f"agent-{role}" / "agent.toml"
    done = subprocess.run([str(realm.bin / "rogue_agent"), "--config", str(config),
                           "--timeout-ms", "500", "--operations", ",".join(operations), *options],
                          env=realm.env(), text=True, capture_output=True, timeout=ROGUE_S,
                          check=False)
    lines = [line.split() for line in done.stdout.splitlines()]
    if done.returncode not in (0, 1) or {line[0] for line in lines} != set(operations):
        raise RealmError(f"rogue_agent: {done.stderr.strip()}")
    return lines


def _of_key(realm: AttackedRealm, principal: str, seal: int, mac: int) -> tuple[str, ...]:
    admin = realm.installation / "agent-admin" / "agent.toml"
    return ("--admin-config", str(admin), "--principal", f"{principal}@{realm.name}",
            "--kvno", "77", "--seal-usage", str(seal), "--mac-usage", str(mac))


def _answers(done: Play, lines: list[list[str]], whose: str) -> None:
    done.count(f"requests {whose}", len(lines))
    done.count("answers of a server to them", sum("ok" in line[-3:] for line in lines))
    done.learned += [f"an answer to {line[0]}, {line[1]}" for line in lines if "ok" in line[-3:]]


def copies_that_differ(realm: AttackedRealm, short: bool, done: Play) -> None:
    operations = ("open",) if short else KEY_OPERATIONS
    lines = _rogue(realm, "kdc", operations, *_of_key(realm, f"krbtgt/{realm.name}", 2, 17))
    if not short:
        lines += _rogue(realm, "kdc", operations, *_of_key(realm, "host/rogue.test", 2, 17))
        lines += _rogue(realm, "admin", MANAGEMENT, "--kvno", "77")
    honest = [line for line in lines if line[1] == "honest"]
    done.expect(all(line[-3:] == ["ok"] * 3 for line in honest), "the control: the job alone fails")
    _answers(done, [line for line in lines if line[1] != "honest"], "that differ")
    done.honest = "dropped each before computing"


def beyond_the_role(realm: AttackedRealm, short: bool, done: Play) -> None:
    lines = _rogue(realm, "kdc", ("export",) if short else MANAGEMENT, "--kvno", "77")
    if not short:
        for principal, seal, mac in (("mallory", 2, 17), (f"krbtgt/{realm.name}", 3, 56),
                                     ("kadmin/rogue.test", 3, 56), ("host/rogue.test", 9, 9)):
            lines += _rogue(realm, "kdc", KEY_OPERATIONS, *_of_key(realm, principal, seal, mac))
        lines += _rogue(realm, "admin", KEY_OPERATIONS, *_of_key(realm, "host/rogue.test", 2, 17))
    honest = [line for line in lines if line[1] == "honest"]
    done.expect(all(line[-3:] == ["denied"] * 3 for line in honest), "one is not denied")
    _answers(done, lines, "beyond the role")
    done.honest = "each denied it"


# -- clients ---------------------------------------------------------------------------------


def handle_shaped_keys(realm: AttackedRealm, short: bool, done: Play) -> None:
    """A subkey with the octets of a handle: the reply is not sealed with the key that it names."""
    client = _logged_in(realm, "imitator")
    for fast in (False, True):
        chosen = handles.with_subkey(realm, client, secrets.token_bytes(32), SERVICE, fast)
        done.expect(chosen.ok, f"the control: a subkey of its choice is not used: {chosen.errors}")
        client = _logged_in(realm, "imitator")
        for name, octets in handles.imitations(realm).items():
            issued, asked = handles.tickets_issued(realm), len(realm.operations("kdc"))
            tried = handles.with_subkey(realm, client, octets, SERVICE, fast)
            done.count("requests", 1)
            if tried.ok or handles.tickets_issued(realm) > issued:
                done.learned.append(f"a reply under {name}")
            later = realm.operations("kdc")[asked:]
            done.expect(any(op["op"] == "open" for op in later), "the request was not read")
            # The ticket itself is the service's; what else is sealed or derived would be the reply.
            others = [op for op in later if op["op"] in ("seal", "open") and op["usage"] != 2]
            done.count("operations with the imitated key", len(others))
            if others:
                done.learned.append(f"an operation with {name}")
    done.honest = "refused the request, went on"


REWRITTEN = {
    **ccache.CHANGES,
    "forged": change_cipher(lambda c: os.urandom(len(c))),
    "forged, all zeros": change_cipher(lambda c: bytes(len(c))),
}


def rewritten_tickets(realm: AttackedRealm, short: bool, done: Play) -> None:
    kept = _logged_in(realm, "rewriter").ccache.read_bytes()
    other = ccache.ticket_octets(_logged_in(realm, "other", USERS[1]).ccache)[0]
    client = realm.client("rewriter")
    for name, change in {**REWRITTEN, "another user's": lambda _: other}.items():
        client.ccache.write_bytes(kept)
        ccache.change_tickets(client.ccache, change)
        done.count("tickets", 1)
        if client.kvno(SERVICE).ok:
            done.learned.append(f"a service's ticket for one that was rewritten ({name})")
    client.ccache.write_bytes(kept)
    ccache.change_tickets(client.ccache, change_cipher(lambda c: c))
    done.expect(client.kvno(SERVICE).ok, "the control: an unchanged ticket is refused")
    done.count("taken", len(done.learned))
    done.honest = "refused each"


def _logged_in(realm: AttackedRealm, name: str, user: str = USERS[0]) -> Client:
    client = realm.client(name)
    client.ccache.unlink(missing_ok=True)
    done = client.kinit(user, password(user))
    if not done.ok:
        raise RealmError(f"{user} cannot log in: {done.errors}")
    return client


ATTACKS = (
    Attack("agent: copies, keys or operations that differ between servers", copies_that_differ),
    Attack("KDC's host: what its role does not allow", beyond_the_role),
    Attack("client: subkeys with the octets of a handle", handle_shaped_keys, True),
    Attack("client: tickets that are forged or rewritten", rewritten_tickets, True),
)
