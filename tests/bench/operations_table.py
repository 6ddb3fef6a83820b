# SPDX-License-Identifier: Apache-2.0
"""The measured half of docs/operations-table.md: a realm serves each flow once, and the agents'
logs say what was asked of the servers and what it cost.

    python3 -m tests.bench.operations_table      prints rows of Markdown

Each row is the first operation of its kind in a flow, so lengths are those of this realm's
tickets (short names, a PAC, no groups). Needs what the integration tests need.
"""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.support.card_realm import CardRealm
from tests.support.kerberos import Outcome
from tests.support.process import ports_free
from tests.support.realm import Ports
from tests.support.rebuild_key import key_names

REALM = "TABLE.REALM"
BASE_PORT = 31_000
PASSWORD = "a password"
SERVICE = "host/service.test"
CROSS = "krbtgt/AWAY.REALM"


def must(done: Outcome) -> None:
    if not done.ok:
        raise RuntimeError(done.errors)


def class_of(principal: str) -> str:
    name = principal.split("@")[0]
    if name == f"krbtgt/{REALM}":
        return "krbtgt"
    if name.startswith("krbtgt/"):
        return "cross-realm"
    if name.startswith("kadmin/"):
        return "kadmin"
    return "service" if "/" in name else "user"


def flows(realm: CardRealm) -> dict[str, Callable[[], None]]:
    alice, armor, card, trusted = (realm.client(n) for n in ("alice", "armor", "card", "trusted"))
    front = realm.client("front")

    def s4u() -> None:
        must(front.kinit_keytab(SERVICE, realm.keytab("service")))
        must(front.run("kvno", "-U", "alice", SERVICE))

    def u2u() -> None:
        must(alice.run("kvno", "--u2u", str(alice.ccache), "alice"))

    def kpasswd() -> None:
        must(trusted.kpasswd("bob", PASSWORD, PASSWORD + " anew"))

    identity = realm.certificates.user("alice")
    return {
        "AS, encrypted timestamp": lambda: must(alice.kinit("alice", PASSWORD, "-r", "1d")),
        "TGS, a service's ticket": lambda: must(alice.kvno(SERVICE)),
        "TGS, renewal": lambda: must(alice.run("kinit", "-R")),
        "TGS, ticket for another realm": lambda: must(alice.kvno(CROSS)),
        "TGS, user to user": u2u,
        "S4U2Self": s4u,
        "AS, anonymous PKINIT": lambda: must(armor.run("kinit", "-n", f"@{REALM}")),
        "AS, PKINIT with freshness token": lambda: must(card.run(
            "kinit", "-X", f"X509_user_identity={identity}", "alice")),
        "TGS, a ticket with indicators": lambda: must(card.kvno(SERVICE)),
        "AS in FAST, encrypted challenge": lambda: must(
            realm.client("fast").kinit("alice", PASSWORD, "-T", f"FILE:{armor.ccache}")),
        "kpasswd": kpasswd,
    }


def prepare(realm: CardRealm) -> None:
    for user in ("alice", "bob"):
        realm.kadmin_local(f'addprinc -pw "{PASSWORD}" {user}')
    realm.kadmin_local("addprinc -randkey WELLKNOWN/ANONYMOUS")
    realm.kadmin_local(f"addprinc -randkey {SERVICE}")
    realm.kadmin_local(f"ktadd -k {realm.keytab('service')} {SERVICE}")
    realm.kadmin_local(f'addprinc -pw "{PASSWORD}" {CROSS}')


def run(realm: CardRealm) -> None:
    prepare(realm)
    names = key_names(realm)
    print("| flow | operation | key | AES blocks | SHA-1 blocks | rounds | octets per server |")
    print("|---|---|---|---|---|---|---|")
    for flow, serve in flows(realm).items():
        before = {role: len(realm.operations(role)) for role in ("kdc", "admin")}
        serve()
        asked = [o for role in before for o in realm.operations(role)[before[role]:]]
        shown = set()
        for o in asked:
            kind = (o["op"], o["usage"], class_of(names.get(o["key"], "bob@")))
            if o["status"] != "ok" or kind in shown:
                continue
            shown.add(kind)
            first = flow if len(shown) == 1 else ""
            print(f"| {first} | {kind[0]} {kind[1]} | {kind[2]} | {o['blocks']} | "
                  f"{o['sha1_blocks']} | {o['rounds']:,} | {o['bytes_per_party']:,} |")


def main() -> None:
    if not ports_free(Ports(BASE_PORT).all()):
        raise RuntimeError(f"ports from {BASE_PORT} are in use")
    directory = Path(tempfile.mkdtemp(prefix="tkdc-"))
    try:
        with CardRealm(directory, REALM, BASE_PORT) as realm:
            run(realm)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
