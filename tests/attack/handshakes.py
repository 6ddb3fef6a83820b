# SPDX-License-Identifier: Apache-2.0
"""Lies of a changed server before there is a session: nonce epochs in its HELLO
(docs/protocols/03-session.md). No session begins, so nothing that depends on a key is sent; nobody
latches, and service is back when it tells the truth."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from tests.attack.line import Play
from tests.attack.realm import AttackedRealm
from tests.support.process import RealmError, wait_until

FAR = 1_000
MOST_LEAD = 36 + 1  # session/agreement.h, and the session's own
REFUSED_S = 20.0


@contextmanager
def two_epochs(realm: AttackedRealm) -> Iterator[None]:
    """Its HELLO names another epoch to the next server than to the previous one."""
    realm.restart_armed("hello-epoch")
    yield
    realm.arm("none")


@contextmanager
def far_epoch(realm: AttackedRealm) -> Iterator[None]:
    """Its store says, to both, that far more epochs are used up: as `tkdc epochs raise` writes."""
    party = realm.liar
    store, kept = realm.server_directory(party) / "store", realm.directory / "store.kept"
    used = max(server["epoch"] for server in realm.status())
    realm.daemons[f"server{party}"].stop()
    shutil.copytree(store, kept)
    realm.tool("tkdc", "epochs", "raise", "--config",
               str(realm.server_directory(party) / "tkdc.toml"), "--to", str(used + FAR), "--now")
    realm.arm("tap-only")
    realm.start_server(party)
    try:
        yield
    finally:
        realm.daemons[f"server{party}"].stop()
        shutil.rmtree(store)
        kept.rename(store)
        realm.start_server(party)


@dataclass(frozen=True)
class Handshake:
    tried: str
    lie: Callable[[AttackedRealm], AbstractContextManager]
    says: str  # by an honest server, in its status
    liars: tuple[int, ...] = (0, 1, 2)
    short: tuple[int, ...] = ()


HANDSHAKES = (
    Handshake("HELLO: another epoch for one", two_epochs,
              "was told other things by the third party", short=(1,)),
    Handshake("HELLO: an epoch 1,000 ahead", far_epoch, "more than 36 ahead is not believed"),
)


def play(realm: AttackedRealm, attack: Handshake) -> Play:
    done = Play()
    before = max(server["epoch"] for server in realm.status())
    with attack.lie(realm):
        try:
            wait_until(lambda: _refused(realm, attack.says), REFUSED_S, "a refusal",
                       pause_s=0.1)
        except RealmError:
            done.wrong.append(f"no honest server says so: {realm.status()}")
        done.status = f"no session: ... {attack.says}"
        done.expect(not realm.session_up(), "a session began")
        lane_packets = len(realm.tap().got)
        done.count("packets of lanes", lane_packets)
        if lane_packets:
            done.learned.append("packets of a session that is not to be")
        done.expect(not realm.latched(), "it latched a server")
    realm.wait_well()
    used = max(server["epoch"] for server in realm.status()) - before
    done.expect(used <= MOST_LEAD, f"it used up {used} epochs")
    done.honest = "no session; serve again when it tells the truth"
    done.expect(realm.refuses_wrong_password(), "a wrong password was not refused")
    return done


def _refused(realm: AttackedRealm, says: str) -> bool:
    servers = realm.status()
    return all(says in servers[party].get("trouble", "") for party in realm.honest())
