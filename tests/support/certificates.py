# SPDX-License-Identifier: Apache-2.0
"""Certificates for PKINIT (RFC 4556), made by the openssl program: an authority, a KDC's, users'.

All keys are of the moment and live in one folder. A principal's name goes into the
certificate as id-pkinit-san, the form that krb5kdc and kinit compare.
"""

import subprocess
from pathlib import Path

KDC_USAGE, CLIENT_USAGE = "1.3.6.1.5.2.3.5", "1.3.6.1.5.2.3.4"
NAME_PRINCIPAL, NAME_SERVICE = 1, 2

AUTHORITY = """\
[req]
distinguished_name = name
[name]
[extensions]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
"""

LEAF = """\
[extensions]
basicConstraints = CA:FALSE
keyUsage = nonRepudiation, digitalSignature, keyEncipherment, keyAgreement
extendedKeyUsage = {usage}
subjectAltName = otherName:1.3.6.1.5.2.2;SEQUENCE:principal
[principal]
realm = EXP:0, GeneralString:{realm}
name = EXP:1, SEQUENCE:name
[name]
type = EXP:0, INTEGER:{type}
parts = EXP:1, SEQUENCE:parts
[parts]
"""


class Certificates:
    def __init__(self, folder: Path, realm: str):
        self.folder, self.realm = folder, realm
        folder.mkdir(mode=0o700, exist_ok=True)
        config = self._write("ca", AUTHORITY)
        self._openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                      "/CN=authority", "-config", str(config), "-extensions", "extensions",
                      "-keyout", str(folder / "ca.key"), "-out", str(self.authority))

    @property
    def authority(self) -> Path:
        return self.folder / "ca.pem"

    def kdc(self) -> str:
        """The identity of the realm's KDC, as kdc.conf names it."""
        return self._make("kdc", KDC_USAGE, NAME_SERVICE, ["krbtgt", self.realm])

    def user(self, name: str) -> str:
        """The identity of a user, as kinit -X names it."""
        return self._make(name, CLIENT_USAGE, NAME_PRINCIPAL, [name])

    def _make(self, name: str, usage: str, name_type: int, components: list[str]) -> str:
        parts = "".join(f"part{k} = GeneralString:{c}\n" for k, c in enumerate(components))
        config = self._write(
            name, LEAF.format(usage=usage, realm=self.realm, type=name_type) + parts)
        key, request, certificate = (self.folder / f"{name}.{end}" for end in ("key", "csr", "pem"))
        self._openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}",
                      "-keyout", str(key), "-out", str(request))
        self._openssl("x509", "-req", "-in", str(request), "-CA", str(self.authority), "-CAkey",
                      str(self.folder / "ca.key"), "-CAcreateserial", "-days", "2", "-extfile",
                      str(config), "-extensions", "extensions", "-out", str(certificate))
        return f"FILE:{certificate},{key}"

    def _write(self, name: str, text: str) -> Path:
        path = self.folder / f"{name}.cnf"
        path.write_text(text)
        return path

    @staticmethod
    def _openssl(*arguments: str) -> None:
        done = subprocess.run(["openssl", *arguments], capture_output=True, text=True,
                              timeout=60, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"openssl {arguments[0]}: {done.stderr}")
