# SPDX-License-Identifier: Apache-2.0
"""A realm goes from three servers to two, and from two to three, by the commands of the page
docs/operations/members-number.md, typed as they stand there, in their order.

What a host has instead of a test is put in their place: paths, and systemd. Beside krb5kdc and
kadmind, which stay, there are an old installation and a new one, with agents of each.
"""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.integration.conftest import KILLED_ON_PURPOSE, NAME, STOCK
from tests.integration.test_import import dump, is_handle, keys_and_rest
from tests.integration.test_page_run import PAGES, make_tools
from tests.support.export import Approvers
from tests.support.history import forms
from tests.support.kerberos import free_base_port
from tests.support.keymaterial import string_to_key
from tests.support.process import wait_until
from tests.support.realm import Realm
from tests.support.rebuild_key import rebuild, stored
from tests.support.scan import Scanner

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="about tkdc's servers")]

PAGE = PAGES / "members-number.md"
SERVICE, CROSS = "host/service.test", f"krbtgt/OTHER.TEST@{NAME}"
FORMER, PASSWORD, SHA2 = "the first 1", "the second 1", "of RFC 8009"
IN_SESSION = "tkdc status --config /etc/tkdc/agent-kdc-new/agent.toml"
STEPS = dict(re.findall(r"^(\d)\. (.*?)(?=^\d\. |^\| )", PAGE.read_text(), re.M | re.S))


class Installation(Realm):
    """Servers and agents, and maybe the KDC of the realm."""

    def create(self) -> None:
        super().create()
        self.approvers = Approvers(self)

    def start_members(self) -> None:
        for party in range(self.servers):
            self.start_server(party, wait=False)
        for party in range(self.servers):
            self.daemons[f"server{party}"].wait_notified(60)
        for role in ("kdc", "admin"):
            self.start_agent(role)

    def stop_agents(self) -> None:
        for role in ("kdc", "admin"):
            self.daemons[f"agent-{role}"].stop()


class Site:
    """The KDC's host, with a realm on three servers at first."""

    def __init__(self, directory: Path):
        self.directory, self.made = directory, 0
        self.kdc = self.new(3)
        self.old, self.more = self.kdc, [self.kdc]
        self.move, self.desk = self.kdc.directory / "move", self.kdc.directory / "root"

    def new(self, servers: int) -> Installation:
        self.made += 1
        made = Installation(self.directory / str(self.made), NAME, free_base_port(),
                            servers=servers)
        made.limits = dict(KILLED_ON_PURPOSE)
        made.create()
        return made

    def beside(self, servers: int) -> None:
        """Step 1: the new installation."""
        self.next = self.new(servers)
        self.more.append(self.next)
        self.next.start_members()

    def here(self, line: str) -> str:
        kdc, old, new = self.kdc.directory, self.old.installation, self.next.installation
        for word, place in ((f"/etc/tkdc/agent-{role}-new", f"{new}/agent-{role}")
                            for role in ("kdc", "admin")):
            line = line.replace(word, place)
        for word, place in (
                ("/run/tkdc/agent-kdc-new/", f"{new}/agent-kdc/"),
                ("/run/tkdc/agent-admin-new/", f"{new}/agent-admin/"),
                ("/run/tkdc/agent-kdc/", f"{old}/agent-kdc/"),
                ("/run/tkdc/agent-admin/", f"{old}/agent-admin/"),
                ("/etc/tkdc/agent-admin", f"{old}/agent-admin"),
                ("/var/lib/krb5kdc/principal", f"{kdc}/principal"), ("/etc/krb5kdc", str(kdc)),
                ("/root/move", str(self.move)), ("/root", str(self.desk)), ("REALM", NAME)):
            line = line.replace(word, place)
        return line

    def type(self, line: str) -> subprocess.CompletedProcess:
        env = {name: value for name, value in self.kdc.kdc_env().items() if name != "LD_PRELOAD"}
        env["PATH"] = f"{self.kdc.directory / 'sbin'}:{self.kdc.bin}:{env['PATH']}"
        return subprocess.run(["bash", "-c", self.here(line)], cwd=self.desk, env=env, text=True,
                              capture_output=True, timeout=300, check=False)

    def do(self, line: str) -> str:
        if line.startswith("systemctl"):
            return self.systemctl(*line.split()[1:])
        done = self.type(line)
        if "mount " in line and re.search("permission denied|superuser|not mounted", done.stderr):
            return ""  # not everybody may mount: then it is a folder, in memory like the realm's
        assert done.returncode == 0, (line, done.returncode, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def systemctl(self, verb: str, *units: str) -> str:
        for unit in units:
            name = {"krb5-kdc": "krb5kdc", "krb5-admin-server": "kadmind"}[unit]
            if verb == "stop":
                self.kdc.daemons[name].stop()
            else:
                {"krb5kdc": self.kdc.start_kdc, "kadmind": self.kdc.start_kadmind}[name]()
        return ""

    def step(self, number: int) -> str:
        lines = commands(number)
        assert lines, f"step {number} has no commands"
        return "\n".join(self.do(line) for line in lines)

    def times(self) -> None:
        """Step 2's last words."""
        for conf in (self.desk / "kdc.conf.new", self.move / "new.conf"):
            text = re.sub(r" *tkdc_(admin_)?timeout_ms = .*\n", "", conf.read_text())
            if self.next.servers == 2:
                head = "    tkdc = {\n"
                text = text.replace(head, f"{head}        tkdc_timeout_ms = 15000\n"
                                          "        tkdc_admin_timeout_ms = 60000\n")
            conf.write_text(text)

    def hand_over(self, folder: str = "export") -> list[Path]:
        """Step 4, by leaving.md's commands."""
        request, approvers = self.move / folder / "request", self.old.approvers
        approvals = [approvers.approve(party, request) for party in (0, 1)]
        files = []
        for party in range(self.old.servers):
            files.append(self.move / f"shares-{party}")
            files[-1].unlink(missing_ok=True)
            done = approvers.hand_over(party, request, approvals, files[-1])
            assert done.ok, done.errors
        return files

    def stop(self) -> None:
        for one in reversed(self.more):
            one.stop()
        subprocess.run(["umount", str(self.move)], capture_output=True, check=False)

    def client(self, name: str):
        client = self.kdc.client(name)
        client.attempts = 4
        return client

    def has_keys(self) -> dict[str, bool]:
        """Of entries of the realm's own database: whether one is whole."""
        return {name: not all(map(is_handle, keys_and_rest(fields)[0]))
                for name, fields in dump(self.kdc, "look").items()
                if name.startswith("princ ") and "K/M@" not in name}


def commands(number: int) -> list[str]:
    text = re.sub(r"\\\n\s*", "", STEPS[str(number)])
    return [line.strip() for line in text.splitlines() if line.startswith("       ")]


@pytest.fixture(scope="module")
def site():
    made = Site(Path(tempfile.mkdtemp(prefix="tkdc-")))
    try:
        kdc = made.kdc
        made.beside(2)  # it prepares while the rest goes on
        conf = kdc.directory / "kdc.conf"
        conf.write_text(conf.read_text().replace(
            "aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha1-96:normal",
            "aes256-cts-hmac-sha1-96:normal"))
        kdc.start()
        make_tools(kdc)
        made.desk.mkdir()
        for query in ("addpol -history 3 -minlength 8 remembers",
                      f'addprinc -policy remembers -pw "{FORMER}" alice',
                      f'cpw -pw "{PASSWORD}" alice',
                      f'addprinc -e aes128-sha2:normal -pw "{SHA2}" sha2',
                      f"addprinc -e aes128-cts:normal -randkey {SERVICE}",
                      f"ktadd -k {kdc.keytab('service')} -e aes128-cts:normal {SERVICE}",
                      f'addprinc -pw "between two realms" {CROSS}'):
            kdc.kadmin_local(query)
        yield made
    finally:
        made.stop()
    shutil.rmtree(made.directory, ignore_errors=True)


ALICES_KEY = [("alice", string_to_key(PASSWORD, f"{NAME}alice", 32))]  # the demo: what follows, too


def assert_all_serves(site: Site) -> None:
    user = site.client("now")
    for name, password in (("sha2", SHA2), ("alice", PASSWORD)):
        wait_until(lambda who=(name, password): user.kinit(*who, timeout_s=60).ok, 60, "a login")
        assert not site.kdc.client("wrong").kinit(name, "another password").ok
    user.kvno_opened(site.kdc.keytab("service"), SERVICE)
    assert site.client("service").kinit_keytab(SERVICE, site.kdc.keytab("service")).ok
    for password, why in (("short", "too short"), (FORMER, "Cannot reuse password"),
                          (PASSWORD, "Cannot reuse password")):
        said = site.kdc.try_admin_tool("kadmin.local", "-q", f'cpw -pw "{password}" alice')
        assert why in said.errors, password
    entries = dump(site.kdc, "served")
    assert forms(entries[f"princ alice@{NAME}"]) == [["handle"]]
    assert not any(site.has_keys().values())
    rebuilt = [key.fields["key"] for key in rebuild(site.next, CROSS)]
    assert rebuilt == [string_to_key("between two realms", f"{NAME}krbtgtOTHER.TEST", 32)]


def assert_nobody_holds_alices_key(site: Site) -> None:
    kdc, new = site.kdc, site.next
    scanner = Scanner(kdc.bin / "keyscan")
    pids = {**{f"kdc's {n}": kdc.daemons[n].pid for n in ("krb5kdc", "kadmind")},
            **{f"new {n}": one.pid for n, one in new.daemons.items()
               if n.startswith(("server", "agent"))}}
    found = scanner.search(ALICES_KEY, pids, {"new": new.installation, "desk": site.desk})
    assert not found.findings, found.findings
    held, missed = scanner.control(ALICES_KEY)
    assert held and not missed


def destroy_old(site: Site) -> None:
    """Step 9, at each server's host."""
    stop, destroy = commands(9)
    assert stop == "systemctl disable --now tkdc-server@NAME"
    site.old.stop_agents()
    for party in range(site.old.servers):
        site.old.daemons[f"server{party}"].stop()
        folder = site.old.server_directory(party)
        before = {file for file in folder.rglob("*") if file.is_file()}
        assert {"data.mdb", "curve.key", "tkdc.toml"} <= {file.name for file in before}
        done = site.type(destroy.replace("/var/lib/tkdc/NAME ", "").replace(
            "/etc/tkdc/NAME", str(folder)))
        assert done.returncode == 0, done.stderr
        assert not [file for file in folder.rglob("*") if file.is_file()]


def go_back(site: Site) -> None:
    """The table's row of step 7."""
    row = next(line for line in PAGE.read_text().splitlines() if line.startswith("| step 7 "))
    stop, copy, load = re.findall(r"`((?:systemctl|cp|kdb5_util) [^`]+)`", row)
    for line in (stop, copy, load):
        site.do(line)
    site.systemctl("start", "krb5-kdc", "krb5-admin-server")
    assert site.client("back").kinit("alice", PASSWORD).ok
    operations = site.old.operations("kdc")
    assert operations[-1]["status"] == "ok", "the old servers serve again"


def change_over(site: Site, and_back: bool = False) -> None:
    """Steps 5 to 8, with what lies between."""
    said = site.step(5)
    assert "handles left krbtgt's entry" in said
    assert not (site.move / "export" / "recipient.key").exists()
    assert not any(site.has_keys().values()), "the realm's own database never has a key"
    assert site.client("meanwhile").kinit("alice", PASSWORD).ok, "the old servers serve"
    site.step(6)
    site.step(7)
    if and_back:
        go_back(site)
        site.do(commands(5)[0])  # nothing has changed since
        site.step(7)
    site.step(8)
    assert not list(site.move.rglob("*.*")) and not (site.move / "principal").exists()


def held_by(installation: Realm) -> set[str]:
    return set(stored(installation, 0).values())


def test_every_command_of_the_page_is_of_a_step_that_is_typed():
    assert set(STEPS) == set("123456789") and not commands(4)
    assert commands(1) == [IN_SESSION] and "kdb5_util load /root/after" in commands(7)
    assert "kdb5_util dump /root/before" in commands(5)
    assert sum(len(commands(n)) for n in range(1, 10)) == len(
        [line for line in PAGE.read_text().splitlines() if line.startswith("       ")])


def test_a_key_that_was_not_exported_is_missed(site):
    """Three to two. The request is of before a password changed: neither command goes on."""
    assert site.client("of three").kinit("alice", PASSWORD).ok
    assert "healthy" in site.step(1)
    site.step(2)
    site.times()
    site.step(3)
    site.hand_over()
    site.kdc.kadmin_local('addprinc -pw "came later" later')
    *before, restore, finish = commands(5)
    for line in before:
        site.do(line)
    done = site.type(restore)
    assert done.returncode == 2 and "1 keys are not in the request" in done.stdout, done.stderr
    done = site.type(finish)
    assert done.returncode == 1 and (site.move / "export" / "recipient.key").exists(), done.stdout
    site.kdc.start_kadmind()
    site.kdc.kadmin_local("delprinc -force later")


def test_a_copy_that_is_no_copy_is_seen(site):
    """Step 2's last line, where kdc.conf does not name the database's file."""
    sed, check = commands(2)[1], commands(2)[-1]
    conf = site.kdc.directory / "kdc.conf"
    text = conf.read_text()
    conf.write_text(re.sub(r".*database_name.*\n", "", text))
    site.do(sed)
    assert site.type(check).returncode == 1
    conf.write_text(text)
    site.do(sed)
    assert site.type(check).returncode == 0


def test_from_three_servers_to_two(site):
    change_over(site)
    assert not site.client("of three").kvno(SERVICE).ok, "krbtgt's keys of three servers stay there"
    assert_all_serves(site)
    assert_nobody_holds_alices_key(site)
    assert f"alice@{NAME}" in held_by(site.old), "for the way back"
    destroy_old(site)


def test_from_two_servers_to_three(site):
    assert site.client("of two").kinit("alice", PASSWORD).ok
    site.old = site.next
    site.beside(3)
    wait_until(lambda: site.type(IN_SESSION).returncode == 0, 60, "a session")
    for number in (1, 2, 3):
        site.step(number)
    site.times()
    site.hand_over()
    change_over(site, and_back=True)
    site.kdc.kadmin_local("addprinc -e aes128-cts:normal -randkey host/later.test")
    assert site.client("of two").kvno("host/later.test").ok, "tickets live on"
    assert_all_serves(site)
    assert_nobody_holds_alices_key(site)
    destroy_old(site)
