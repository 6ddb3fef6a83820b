# SPDX-License-Identifier: Apache-2.0
"""The realm's keys, which the test knows, and the search of what a changed server was sent."""

from pathlib import Path

from tests.attack.realm import USERS, AttackedRealm, password
from tests.e2e.demo.proof import rebuilt_values
from tests.support import keymaterial
from tests.support.keymaterial import Values
from tests.support.process import RealmError
from tests.support.rebuild_key import rebuild
from tests.support.scan import Scanner

USAGES = (1, 3)


class Keys:
    """Users' keys follow from their passwords; krbtgt's are rebuilt from two servers' stores."""

    def __init__(self, realm: AttackedRealm):
        self.scanner = Scanner(realm.bin / "keyscan")
        self.values: Values = []
        for user in USERS:
            key = keymaterial.string_to_key(password(user), f"{realm.name}{user}", 32)
            self.values += keymaterial.rfc3962_values(user, key, USAGES)
        self.values += rebuilt_values("krbtgt", rebuild(realm, f"krbtgt/{realm.name}@{realm.name}"))
        self._control(realm.directory / "control.received")

    def _control(self, path: Path) -> None:
        """A key among other octets is found, or no search says anything."""
        name, octets = self.values[0]
        path.write_bytes(bytes(1000) + octets + bytes(1000))
        if not self.found_in(path):
            raise RealmError(f"the search does not find {name} where it is")
        path.unlink()

    def found_in(self, path: Path) -> list[str]:
        report = self.scanner.search(self.values, {}, {"received": path})
        return sorted({f"{finding.value} as {finding.form}" for finding in report.findings})
