# SPDX-License-Identifier: Apache-2.0
"""Realms whose database is not db2: klmdb, and kldap with a slapd of its own on a Unix socket.

./bootstrap --test builds the one and unpacks the other below build/debian.
"""

import gzip
import socket
import subprocess
from pathlib import Path
from urllib.parse import quote

from tests.support.kerberos import run_program
from tests.support.process import Daemon, RealmError, wait_until
from tests.support.realm import MASTER_PASSWORD, ROOT, Realm

DEBIAN = ROOT / "build" / "debian"
KLMDB = DEBIAN / "klmdb"
SLAPD = DEBIAN / "slapd" / "usr"
KLDAP = DEBIAN / "krb5-kdc-ldap" / "usr"
LIBRARIES = Path("lib/x86_64-linux-gnu")


class _Realm(Realm):
    """`library` serves, alone or behind ktkdc."""

    library: str
    modules: Path

    def _settings(self) -> str:
        """More lines of the [dbmodules] stanza."""
        return ""

    def write_kerberos_configuration(self) -> None:
        super().write_kerberos_configuration()
        path = self.directory / "kdc.conf"
        text = path.read_text().replace("[dbmodules]\n",
                                        f"[dbmodules]\n    db_module_dir = {self.modules}\n")
        wrapped = f"db_library = ktkdc\n        tkdc_wrapped = {self.library}\n"
        alone = f"db_library = {self.library}\n"
        text = text.replace("db_library = db2\n", alone + self._settings())
        path.write_text(text.replace("db_library = ktkdc\n", wrapped + self._settings()))


class KlmdbRealm(_Realm):
    library, modules = "klmdb", KLMDB

    def start(self) -> None:
        super().start()
        assert (self.directory / "principal.mdb").exists(), "klmdb is not what is in use"
        (self.directory / "principal").touch()  # else the next start makes another database


class KldapRealm(_Realm):
    library, modules = "kldap", KLDAP / LIBRARIES / "krb5" / "plugins" / "kdb"

    ROOT_DN, PASSWORD, REALMS = "cn=root,o=test", "what kldap says to slapd", "cn=realms,o=test"

    @property
    def uri(self) -> str:
        return "ldapi://" + quote(str(self.directory / "ldapi"), safe="")

    def create(self) -> None:
        super().create()
        self._make_directory()
        self.start_slapd()
        secret = self.PASSWORD.encode().hex()
        self._secret.write_text(f"{self.ROOT_DN}#{{HEX}}{secret}\n")
        self._secret.chmod(0o600)
        self._ldap_util("create", "-subtrees", "o=test", "-s", "-P", MASTER_PASSWORD)
        (self.directory / "principal").touch()  # there is a database

    def __enter__(self) -> Realm:
        try:
            return super().__enter__()
        except BaseException:
            if "slapd" in self.daemons:
                self.daemons["slapd"].stop()
            raise

    def __exit__(self, *exc) -> None:
        super().__exit__(*exc)
        self.daemons["slapd"].stop()

    def start_slapd(self) -> None:
        self._slapd().start()
        wait_until(self._slapd_answers, 30, "slapd")

    @property
    def _secret(self) -> Path:
        return self.directory / "ldap.secret"

    def _settings(self) -> str:
        values = {"ldap_kerberos_container_dn": f'"{self.REALMS}"',
                  "ldap_kdc_dn": f'"{self.ROOT_DN}"', "ldap_kadmind_dn": f'"{self.ROOT_DN}"',
                  "ldap_service_password_file": self._secret, "ldap_servers": self.uri,
                  "ldap_conns_per_server": 2}
        return "".join(f"        {name} = {value}\n" for name, value in values.items())

    def kdc_env(self) -> dict[str, str]:
        return {**super().kdc_env(), "LD_LIBRARY_PATH": str(KLDAP / LIBRARIES / "krb5")}

    def _make_directory(self) -> None:
        (self.directory / "ldap").mkdir()
        schema = self.directory / "kerberos.schema"
        with gzip.open(KLDAP / "share/doc/krb5-kdc-ldap/kerberos.schema.gz") as packed:
            schema.write_bytes(packed.read())
        lines = [f"include {SLAPD.parent}/etc/ldap/schema/core.schema", f"include {schema}",
                 f"modulepath {SLAPD}/lib/ldap", "moduleload back_mdb", "database mdb",
                 "suffix o=test", f"rootdn {self.ROOT_DN}", f'rootpw "{self.PASSWORD}"',
                 f"directory {self.directory}/ldap", "maxsize 67108864", "dbnosync",
                 "index krbPrincipalName eq,pres,sub"]
        (self.directory / "slapd.conf").write_text("\n".join(lines) + "\n")
        entry = self.directory / "first.ldif"
        entry.write_text("dn: o=test\nobjectClass: organization\no: test\n")
        done = subprocess.run([*self._slapd_argv("slapadd"), "-l", str(entry)],
                              env=self._slapd_env(), capture_output=True, text=True, timeout=60,
                              check=False)
        if done.returncode != 0:
            raise RealmError(f"slapadd: {done.stderr}")

    def _slapd_env(self) -> dict[str, str]:
        folders = [SLAPD / LIBRARIES, SLAPD / "lib" / "ldap"]
        return {**self.env(), "LD_LIBRARY_PATH": ":".join(map(str, folders))}

    def _slapd_argv(self, name: str) -> list[str]:
        return [str(SLAPD / "sbin" / name), "-f", str(self.directory / "slapd.conf")]

    def _slapd_answers(self) -> bool:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            return probe.connect_ex(str(self.directory / "ldapi")) == 0

    def _slapd(self) -> Daemon:
        argv = [*self._slapd_argv("slapd"), "-h", self.uri, "-d", "0"]
        return self._daemon("slapd", argv, self._slapd_env())

    def _ldap_util(self, *words: str) -> None:
        argv = [str(KLDAP / "sbin" / "kdb5_ldap_util"), "-D", self.ROOT_DN, "-w", self.PASSWORD,
                "-H", self.uri, *words, "-r", self.name]
        done = run_program(argv, self.kdc_env())
        if not done.ok:
            raise RealmError(f"kdb5_ldap_util {words[0]}: {done.errors}")
