# SPDX-License-Identifier: Apache-2.0
"""The proof: nothing that runs, is stored, or was sent holds one of the realm's keys.

Looked for: alice's keys, which follow from her password; krbtgt's and the service's, rebuilt
from the stores of two servers by a test tool; with everything derived from them
(keymaterial.py), in every form of keyscan/forms.h. Looked through: the memory of each
long-running process, every file of the demo, the captured packets and the streams put
together from them. Bob's keys, which his keytab holds, are looked for everywhere but in files.

Controls show that the search would have found them: a process that holds values in every
form; krb5kdc's own memory, in which the database's master key (it protects handles only)
must be found; the files and the traffic, in which alice's ticket must be found, which is
stored and travels in the clear; and alice's keys, rebuilt from two stores, must be those of
her password.
"""

import re
import tempfile
from pathlib import Path

from tests.e2e.demo.screen import Screen
from tests.support import capture, ccache, keymaterial
from tests.support.keymaterial import Values
from tests.support.process import RealmError
from tests.support.realm import Realm
from tests.support.rebuild_key import Rebuilt, rebuild
from tests.support.scan import Scanner

ENCTYPES = {18: 32, 17: 16}
PIECE_BYTES = 32
HMAC_STATES, STATE_BYTES = (".ki", ".kc"), 20  # of SHA-1, inner and outer


def alice_keys(realm: Realm, password: str) -> dict[int, bytes]:
    return {enctype: keymaterial.string_to_key(password, f"{realm.name}alice", size)
            for enctype, size in ENCTYPES.items()}


def user_values(keys: dict[int, bytes]) -> Values:
    values: Values = []
    for enctype, key in keys.items():
        values += keymaterial.rfc3962_values(f"alice.e{enctype}", key, keymaterial.USER_USAGES)
    return values


def rebuilt_values(name: str, versions: list[Rebuilt]) -> Values:
    """All stored fields as they are, and all that follows from those that may be keys."""
    values: Values = []
    for version in versions:
        label = f"{name}.v{version.kvno}.e{version.enctype}"
        for field, octets in version.fields.items():
            values += _pieces(f"{label}.{field}", octets)
            # Two servers store whole blocks, the last one filled up with zeros.
            for part in HMAC_STATES:
                if field.endswith(part) and len(octets) > 2 * STATE_BYTES:
                    values += _pieces(f"{label}.{field}", octets[: 2 * STATE_BYTES])
            if len(octets) == ENCTYPES[version.enctype]:
                values += keymaterial.gcm_values(f"{label}.{field}", octets)
                values += keymaterial.rfc3962_values(f"{label}.{field}", octets,
                                                     keymaterial.KRBTGT_USAGES)
    return [(name, octets) for name, octets in values if len(set(octets)) >= 5]


def _pieces(name: str, octets: bytes) -> Values:
    """A field's octets, whole when it is a key, else cut into blocks or SHA-1 states."""
    values: Values = [(name, octets)] if len(octets) in (16, 20, 32) else []
    for size in (16, 20):
        if len(octets) % size == 0 and len(octets) > size:
            values += [(f"{name}[{i}]", octets[i : i + size]) for i in range(0, len(octets), size)]
    return values


def master_key(realm: Realm) -> bytes:
    """K/M, from the stash file, which is a keytab."""
    shown = realm.admin_tool("klist", "-k", "-K", f"FILE:{realm.directory}/stash").output
    found = re.search(r"K/M@\S+ \s*\(0x([0-9a-f]+)\)", shown)
    if not found:
        raise RealmError("the stash file shows no master key")
    return bytes.fromhex(found.group(1))


class Proof:
    def __init__(self, realm: Realm, screen: Screen, password: str):
        self.realm, self.screen, self.password = realm, screen, password
        self.scanner = Scanner(realm.bin / "keyscan")

    def run(self, traffic: Path) -> None:
        """RealmError with what was found where, or with the control that failed."""
        realm, say = self.realm, self.screen.say
        user = alice_keys(realm, self.password)
        self._check_rebuild(user)
        versions = rebuild(realm, f"krbtgt/{realm.name}@{realm.name}")
        if not versions:
            raise RealmError("two stores hold no key of krbtgt: nothing to look for")
        service = rebuild(realm, f"host/demo.test@{realm.name}")
        values = (user_values(user) + rebuilt_values("krbtgt", versions)
                  + rebuilt_values("service", service))
        handed_out = rebuilt_values("bob", rebuild(realm, f"bob@{realm.name}"))
        say(f"looking for {len(values):,} values that follow from alice's {len(user)} keys, "
            f"krbtgt's {len(versions)} and the service's {len(service)},")
        say(f"and, everywhere but in files, for {len(handed_out):,} that follow from bob's, which "
            "are in his keytab")
        self._control(values)
        self._control_krb5kdc()
        self._control_ticket(traffic)
        self._search(values, handed_out, traffic)

    def _paths(self, traffic: Path) -> tuple[dict[str, Path], dict[str, Path]]:
        """What is searched for all forms, and for those whose octets lie side by side."""
        files, packets = {"files": self.realm.directory}, {"traffic": traffic}
        # Two servers send gigabytes to each other, which nothing bit-sliced travels in.
        return (files, packets) if self.realm.servers == 2 else (files | packets, {})

    def _check_rebuild(self, user: dict[int, bytes]) -> None:
        rebuilt = {v.enctype: v.fields for v in rebuild(self.realm, f"alice@{self.realm.name}")}
        for enctype, key in user.items():
            if key not in rebuilt.get(enctype, {}).values():
                raise RealmError(f"alice's key of enctype {enctype}, rebuilt from two stores, is "
                                 "not that of her password: the rebuilding tool is wrong")
        self.screen.say("control: alice's keys, rebuilt from two stores, are those of her password")

    def _control(self, values: Values) -> None:
        sizes = {len(octets): (name, octets) for name, octets in values}
        count, missed = self.scanner.control(list(sizes.values()))
        if missed:
            raise RealmError(f"control failed: {len(missed)} of {count} forms were not found in a "
                             f"process that holds them, first {missed[0]}")
        self.screen.say(f"control: a process that holds such values in {count} forms: "
                        "every one of them found")

    def _control_krb5kdc(self) -> None:
        values = [("K/M", master_key(self.realm))]
        report = self.scanner.search(values, {"krb5kdc": self.realm.daemons["krb5kdc"].pid}, {})
        if not report.findings:
            raise RealmError("control failed: krb5kdc's memory must hold the database's master "
                             "key, and the search does not find it")
        self.screen.say("control: the database's master key, which protects handles only: "
                        f"found in krb5kdc ({report.findings[0].form})")

    def _control_ticket(self, traffic: Path) -> None:
        """A piece of the ciphertext of the ticket in alice's cache."""
        cache = self.realm.client("alice").ccache.read_bytes()
        start, end = ccache.ticket_ranges(cache)[0]
        values = [("ticket", cache[end - PIECE_BYTES : end])]
        paths, bulk = self._paths(traffic)
        found = {f.target for f in self.scanner.search(values, {}, paths, bulk).findings}
        if end - start < PIECE_BYTES or found != set(paths) | set(bulk):
            raise RealmError("control failed: alice's ticket must be found in her cache and in "
                             f"the captured traffic, and is found in {sorted(found) or 'neither'}")
        self.screen.say("control: alice's ticket: found in her cache and in the captured packets")

    def _search(self, values: Values, handed_out: Values, traffic: Path) -> None:
        paths, bulk = self._paths(traffic)
        between = {self.realm.ports.data(party) for party in range(self.realm.servers)}
        with tempfile.TemporaryDirectory(prefix="tkdc-streams-") as name:
            for flow, octets in capture.streams(traffic).items():
                much = bool(bulk) and not between.isdisjoint(flow)
                kind, joined = ("tables" if much else "streams"), bulk if much else paths
                joined[kind] = Path(name) / kind
                joined[kind].mkdir(exist_ok=True)
                (joined[kind] / f"{flow[0]}-{flow[1]}").write_bytes(octets)
            report = self.scanner.search(values + handed_out, self.realm.pids(), paths, bulk)
        in_keytab = {name for name, _ in handed_out}
        findings = [f for f in report.findings
                    if f.target != "files" or f.value not in in_keytab]
        forms = sum(report.forms.values())
        forms_in_files = sum(n for name, n in report.forms.items() if name not in in_keytab)
        self.screen.table(["searched", "octets", "forms looked for", "found"], [
            [self._describe(name), f"{octets:,}", "side by side" if name in bulk else
             f"{forms_in_files if name == 'files' else forms:,}",
             f"{sum(f.count for f in findings if f.target == name)}"]
            for name, octets in report.octets.items()])
        if findings:
            lines = [f"{f.target}: {f.value} as {f.form} ({f.where})" for f in findings[:20]]
            raise RealmError("KEY MATERIAL FOUND\n  " + "\n  ".join(lines))

    def _describe(self, target: str) -> str:
        if target in self.realm.daemons:
            return f"memory of {target}"
        return {"files": f"all files in {self.realm.directory.name}/",
                "traffic": "captured packets of all links",
                "streams": "the same, put together by stream",
                "tables": "the same, between the servers"}[target]
