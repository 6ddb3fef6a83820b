# SPDX-License-Identifier: Apache-2.0
"""Configuration of the stock Kerberos programs, and a client that runs them."""

import os
import random
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.process import RealmError, ports_free

CLIENT_TIMEOUT_S = 60

KRB5_CONF = """\
[libdefaults]
    default_realm = {realm}
    dns_lookup_kdc = false
    dns_lookup_realm = false
    dns_canonicalize_hostname = false
    rdns = false
    qualify_shortname = ""
    allow_weak_crypto = false
    udp_preference_limit = 1400

[realms]
    {realm} = {{
        kdc = 127.0.0.1:{kdc}
        admin_server = 127.0.0.1:{kadmin}
        kpasswd_server = 127.0.0.1:{kpasswd}
    }}

[domain_realm]
    .test = {realm}
"""

KDC_CONF = """\
[kdcdefaults]
    kdc_listen = 127.0.0.1:{kdc}
    kdc_tcp_listen = 127.0.0.1:{kdc}
    kdc_tcp_listen_backlog = 128

[realms]
    {realm} = {{
        database_module = {module}
        acl_file = {directory}/kadm5.acl
        key_stash_file = {directory}/stash
        kadmind_listen = 127.0.0.1:{kadmin}
        kpasswd_listen = 127.0.0.1:{kpasswd}
        supported_enctypes = aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha1-96:normal
        default_principal_flags = +preauth
        max_life = 10h
        max_renewable_life = 7d
    }}

[dbmodules]
{modules}
[plugins]
    kdcpreauth = {{
        disable = spake
    }}

[logging]
    kdc = FILE:{directory}/kdc.trace
    admin_server = FILE:{directory}/kadmind.trace
    default = FILE:{directory}/default.trace
"""

STOCK_MODULE = """\
    plain = {{
        db_library = db2
        database_name = {directory}/principal
        disable_last_success = true
    }}
"""

TKDC_MODULE = """\
    db_module_dir = {bin}
    tkdc = {{
        db_library = ktkdc
        database_name = {directory}/principal
        disable_last_success = true
        tkdc_agent_socket = {agent_socket}
        tkdc_admin_socket = {admin_socket}
    }}
"""


@dataclass(frozen=True)
class Ports:
    """All on 127.0.0.1, counted from one base; the servers take base+0..2 and base+10..12."""

    base: int

    @property
    def kdc(self) -> int:
        return self.base + 20

    @property
    def kadmin(self) -> int:
        return self.base + 21

    @property
    def kpasswd(self) -> int:
        return self.base + 22

    @property
    def gss(self) -> int:
        return self.base + 23

    def control(self, party: int) -> int:
        return self.base + party

    def data(self, party: int) -> int:
        return self.base + 10 + party

    def all(self) -> list[int]:
        servers = [port(i) for i in range(3) for port in (self.control, self.data)]
        return [*servers, self.kdc, self.kadmin, self.kpasswd, self.gss]


def ports_of_worker() -> range:
    """Tests beside each other (pytest -n 2) choose among different ports, of 20000 to 32000."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = 20_000 + 2_000 * (worker % 6)
    return range(first, first + 2_000, 40)


def free_base_port(among: Sequence[int] | None = None) -> int:
    among = ports_of_worker() if among is None else among
    for _ in range(100):
        base = random.choice(among)
        if ports_free(Ports(base).all()):
            return base
    raise RealmError(f"no free ports on 127.0.0.1 in {among}")


def find_program(name: str) -> str:
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if path is None:
        raise FileNotFoundError(f"{name} is not installed: run ./bootstrap")
    return path


@dataclass(frozen=True)
class Outcome:
    """What a program printed and how it ended."""

    code: int
    output: str
    errors: str

    @property
    def ok(self) -> bool:
        return self.code == 0


UNANSWERED = "Cannot contact any KDC"


def run_program(argv: list[str], env: dict[str, str], stdin: str = "",
                timeout_s: float = CLIENT_TIMEOUT_S) -> Outcome:
    done = subprocess.run(
        [find_program(argv[0]), *argv[1:]], env=env, input=stdin, timeout=timeout_s,
        capture_output=True, text=True, errors="replace", check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


class Client:
    """A user's side: the stock programs with a credential cache of their own."""

    def __init__(self, env: dict[str, str], ccache: Path):
        # Of a realm of two servers several: what is asked for the first time is prepared while the
        # client waits, which may take longer than it does.
        self.attempts = 1
        self.ccache = ccache
        self.env = {**env, "KRB5CCNAME": f"FILE:{ccache}"}

    def run(self, *argv: str, stdin: str = "", timeout_s: float = CLIENT_TIMEOUT_S) -> Outcome:
        for _ in range(self.attempts):
            done = run_program(list(argv), self.env, stdin, timeout_s)
            if done.ok or UNANSWERED not in done.errors:
                break
        return done

    def kinit(self, principal: str, password: str, *options: str, **kw) -> Outcome:
        return self.run("kinit", *options, principal, stdin=password + "\n", **kw)

    def kinit_keytab(self, principal: str, keytab: Path, *options: str, **kw) -> Outcome:
        return self.run("kinit", "-k", "-t", str(keytab), *options, principal, **kw)

    def kvno(self, service: str, **kw) -> Outcome:
        return self.run("kvno", service, **kw)

    def kvno_opened(self, keytab: Path, *options_and_service: str) -> None:
        """Gets a ticket, and the service's key opens it."""
        done = self.run("kvno", "-k", str(keytab), *options_and_service)
        assert done.ok and "keytab entry valid" in done.output, done.output + done.errors

    def klist(self, *options: str) -> Outcome:
        return self.run("klist", *options)

    def flags(self, ticket: str) -> list[str]:
        """As klist -f prints them behind what fits this regular expression, of each ticket."""
        shown = self.klist("-f").output
        found = re.findall(ticket + r"Flags: (\S+)", shown)
        assert found, shown
        return found

    def kpasswd(self, principal: str, old: str, new: str, **kw) -> Outcome:
        return self.run("kpasswd", principal, stdin=f"{old}\n{new}\n{new}\n", **kw)

    def services(self) -> list[str]:
        """Service principals of the tickets in the cache."""
        text = self.klist().output
        return re.findall(r"^\d\S* \S+  \d\S* \S+  (\S+)$", text, re.MULTILINE)


def over_tcp(client: Client) -> Client:
    """From now on this client sends everything by TCP."""
    text = Path(client.env["KRB5_CONFIG"]).read_text()
    config = client.ccache.with_name(client.ccache.name + ".tcp.conf")
    config.write_text(re.sub(r"udp_preference_limit = \d+", "udp_preference_limit = 1", text))
    client.env["KRB5_CONFIG"] = str(config)
    return client
