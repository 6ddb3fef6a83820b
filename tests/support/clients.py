# SPDX-License-Identifier: Apache-2.0
"""Kerberos clients of four makes behind one face: MIT, Heimdal, Java, python-gssapi.

Each logs in with a password and then does what its make can: a service's ticket, a
renewal. All read the same krb5.conf; `skewed` runs one with a clock that is ahead.
"""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.support.kerberos import Client, Outcome, over_tcp, run_program

ROOT = Path(__file__).resolve().parents[2]
# What ./bootstrap --test unpacked: packages that cannot be installed beside krb5-user, krb5-kdc.
HEIMDAL = ROOT / "build" / "debian" / "heimdal-clients" / "usr" / "bin"


def need(path: Path) -> str:
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: run ./bootstrap --test")
    return str(path)


@dataclass
class Make:
    """One make of clients, with configuration and credential cache of its own."""

    client: Client
    keytab: Path
    ahead: str = ""  # of faketime, e.g. "+10m"
    can_renew = True
    can_skew = False  # finds out how far its clock is off

    def by_tcp(self) -> None:
        over_tcp(self.client)

    def configure(self, setting: str) -> None:
        """Another line in [libdefaults]."""
        self.rewrite("[libdefaults]\n", f"[libdefaults]\n    {setting}\n")

    def rewrite(self, before: str, after: str) -> None:
        text = Path(self.client.env["KRB5_CONFIG"]).read_text()
        config = self.client.ccache.with_name(self.client.ccache.name + ".conf")
        config.write_text(text.replace(before, after))
        self.client.env["KRB5_CONFIG"] = str(config)

    def run(self, *argv: str, stdin: str = "") -> Outcome:
        ahead = ["faketime", "-f", self.ahead] if self.ahead else []
        return run_program([*ahead, *argv], self.client.env, stdin)

    def log_in(self, user: str, password: str) -> Outcome:
        raise NotImplementedError

    def use(self, user: str, password: str, service: str) -> Outcome:
        raise NotImplementedError

    def renew(self, user: str, password: str) -> Outcome:
        raise NotImplementedError


class Mit(Make):
    can_skew = True

    def log_in(self, user: str, password: str) -> Outcome:
        return self.run("kinit", "-r", "1d", user, stdin=password + "\n")

    def use(self, user: str, password: str, service: str) -> Outcome:
        done = self.log_in(user, password)
        return self.run("kvno", "-k", str(self.keytab), service) if done.ok else done

    def renew(self, user: str, password: str) -> Outcome:
        done = self.log_in(user, password)
        return self.run("kinit", "-R") if done.ok else done


class Heimdal(Make):
    can_skew = True

    def by_tcp(self) -> None:
        """It knows no udp_preference_limit, but KDCs that speak TCP alone."""
        self.rewrite("kdc = 127.0.0.1:", "kdc = tcp/127.0.0.1:")

    def log_in(self, user: str, password: str) -> Outcome:
        return self.run(need(HEIMDAL / "kinit.heimdal"), "--password-file=STDIN", "-r", "1d", user,
                        stdin=password + "\n")

    def use(self, user: str, password: str, service: str) -> Outcome:
        done = self.log_in(user, password)
        if not done.ok:
            return done
        done = self.run(need(HEIMDAL / "kgetcred"), service)
        shown = self.client.klist().output
        return Outcome(done.code if service in shown else 1, shown, done.errors)

    def renew(self, user: str, password: str) -> Outcome:
        done = self.log_in(user, password)
        return self.run(need(HEIMDAL / "kinit.heimdal"), "-R") if done.ok else done


class Gssapi(Make):
    """GSS-API has no renewal."""

    can_renew = False
    can_skew = True

    def start(self, user: str, password: str, *commands: str) -> Outcome:
        self.client.env["KRB5_KTNAME"] = str(self.keytab)
        return self.run("/usr/bin/python3", str(ROOT / "tests" / "support" / "gss_client.py"),
                        user, *commands, stdin=password + "\n")

    def log_in(self, user: str, password: str) -> Outcome:
        return self.start(user, password)

    def use(self, user: str, password: str, service: str) -> Outcome:
        return self.start(user, password, "service", service)


class Java(Make):
    classes: Path

    def start(self, user: str, password: str, *commands: str) -> Outcome:
        config = self.client.env["KRB5_CONFIG"]
        return self.run("java", "-cp", str(self.classes), "-Xshare:auto",
                        f"-Djava.security.krb5.conf={config}", "JaasClient", user, password,
                        *commands)

    def log_in(self, user: str, password: str) -> Outcome:
        return self.start(user, password)

    def use(self, user: str, password: str, service: str) -> Outcome:
        return self.start(user, password, "service", service, str(self.keytab))

    def renew(self, user: str, password: str) -> Outcome:
        self.configure("renew_lifetime = 1d")
        return self.start(user, password, "renew")


def compile_java(folder: Path) -> None:
    """Java's program, once."""
    if shutil.which("javac") is None:
        raise FileNotFoundError("javac is not installed: run ./bootstrap --test")
    subprocess.run(["javac", "-Werror", "-Xlint", "-d", str(folder),
                    str(ROOT / "tests" / "support" / "JaasClient.java")],
                   check=True, timeout=120)
    Java.classes = folder


MAKES = {"mit": Mit, "heimdal": Heimdal, "gssapi": Gssapi, "java": Java}
