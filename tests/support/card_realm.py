# SPDX-License-Identifier: Apache-2.0
"""A realm that takes logins by certificate (PKINIT); its tickets say how the user logged in."""

from tests.support.certificates import Certificates
from tests.support.realm import Realm


class CardRealm(Realm):
    """Certificates for KDC and users; a token of the KDC is required, indicators are set."""

    def write_kerberos_configuration(self) -> None:
        super().write_kerberos_configuration()
        self.certificates = Certificates(self.directory / "certificates", self.name)
        anchors = f"pkinit_anchors = FILE:{self.certificates.authority}\n"
        self._insert("kdc.conf", "        max_life = ",
                     f"        {anchors}"
                     f"        pkinit_identity = {self.certificates.kdc()}\n"
                     "        pkinit_indicator = card\n"
                     "        pkinit_require_freshness = true\n"
                     "        encrypted_challenge_indicator = armor\n")
        self._insert("krb5.conf", "        admin_server = ", f"        {anchors}")

    def _insert(self, name: str, before: str, text: str) -> None:
        path = self.directory / name
        old = path.read_text()
        assert old.count(before) == 1
        path.write_text(old.replace(before, text + before))
