# SPDX-License-Identifier: Apache-2.0
"""What pages tell an administrator to type is typed, in the pages' own words.

A realm is set up by the commands of docs/operations/install.md, and all other pages' commands run
in it, in the order of TYPED. Only paths and placeholders of a host are replaced by this realm's. A
command that a page has and no table here fails the test, and so does one of a table that no page
has (programs that PROGRAMS lacks: test_page_programs.py). ELSEWHERE names those that need hosts
with systemd, packages or a lost server, and where those
are typed or done.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.integration.conftest import STOCK, remove
from tests.support.kerberos import find_program, free_base_port
from tests.support.process import wait_until
from tests.support.realm import MASTER_PASSWORD, ROOT, Realm

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]

PAGES = ROOT / "docs" / "operations"
NAME = "EXAMPLE.TEST"  # install.md's
PASSWORD = "a password of the pages"
PASSPHRASE = "the passphrase of an approver"
PROGRAMS = ("tkdc", "tkdc-server", "kadmin.local", "kdb5_util", "runuser", "systemctl",
            "systemd-run", "make", "journalctl", "kadmin", "kproplog", "kprop", "kpropd", "kinit",
            "kvno", "klist", "kpasswd", "kdestroy", "kdb5_ldap_util", "chronyc", "timedatectl",
            "apt", "dpkg", "rsyslogd")
# Of these two words are a command in a sentence, too.
SHORT = ("make", "journalctl", "kadmin", "kproplog", "chronyc", "timedatectl", "apt", "dpkg")
SETTLED_S = 60.0
GOOD, REFUSED = 0, 1


def typed_in(page: str) -> tuple[set[str], set[str]]:
    """Of code blocks, and between backticks. The latter may be a program's name, or the beginning
    of a command."""
    text = re.sub(r"\\\n\s*", "", (PAGES / page).read_text())
    blocks = [re.split(r"\s{2,}#", line.strip())[0] for line in text.splitlines()
              if line.startswith("    ")]
    quoted = re.findall(r"`([^`]+)`", text)
    def of_programs(found: list[str]) -> set[str]:
        found = [re.sub(r"^(?:[A-Z_]\w*=\S+ )+", "", one) for one in found]  # its environment
        return {re.sub(r"\s+", " ", one) for one in found
                if " = " not in one and one.split() and one.split()[0] in PROGRAMS}

    return of_programs(blocks), of_programs(quoted)


def commands(page: str) -> set[str]:
    blocks, quoted = typed_in(page)
    return blocks | {line for line in quoted if line in NAMED or len(line.split()) > 2
                     or (line.split()[0] in SHORT and len(line.split()) == 2)}


# Two words, in a sentence, that are all of a command.
NAMED = ("tkdc status", "tkdc doctor", "tkdc reconcile")


@dataclass(frozen=True)
class Typed:
    """A command of a page. `says`: what its output has. `then`: before the next one."""

    page: str
    line: str
    says: str = ""
    code: int = GOOD
    more: str = ""  # where a host's default would be another's
    stdin: str = ""
    put: dict[str, str] = field(default_factory=dict)  # of its placeholders
    first: Callable[["Pages"], None] = lambda pages: None
    then: Callable[["Pages"], None] = lambda pages: None


def make_tools(realm: Realm) -> Path:
    """As the package has them in /usr/sbin: by their names they find the preload library."""
    tools = realm.directory / "sbin"
    tools.mkdir()
    for name in ("kadmin.local", "kdb5_util"):
        (tools / name).write_text(f"#!/bin/sh\nLD_PRELOAD={realm.bin / 'libtkdc-k5.so'} exec "
                                  f'{find_program(name)} "$@"\n')
        (tools / name).chmod(0o755)
    return tools


class Pages(Realm):
    """A realm whose installation is made by install.md's commands."""

    def __init__(self, directory: Path):
        super().__init__(directory, NAME, free_base_port())
        self.desk = self.directory / "root"  # /root
        self.values: dict[str, str] = {}     # that commands have printed

    def _init_installation(self) -> None:
        self.desk.mkdir()
        self.installation.mkdir()
        make_tools(self)
        fingerprints = {}
        # The first server has no introduction to go by.
        for line in sorted(commands("install.md"), key=lambda line: "--installation" in line):
            member = re.match(r"tkdc init .*--out /etc/tkdc/(\S+)", line)
            if member:
                fingerprints[member[1]] = self._init(line, member[1])
        assert len(fingerprints) == 5, fingerprints
        for member in fingerprints:
            self._join(member, fingerprints)
        for party in range(3):
            self._settings(party)

    def _init(self, line: str, member: str) -> str:
        ports = f" --base-port {self.ports.base}" if "--party" in line else ""
        line = re.sub(r"10\.0\.(\d)\.5", r"127.0.0.\1", line)  # no two servers on one host
        said = self.type(line + ports)
        introduction = f"{member}.introduction"
        shutil.copy(self.installation / member / introduction, self.desk)
        lines = said.splitlines()
        return lines[next(i for i, one in enumerate(lines)
                          if one.startswith("Fingerprint of ")) + 2].strip()

    def _join(self, member: str, fingerprints: dict[str, str]) -> None:
        wanted = [one for one in sorted(fingerprints) if one != member]
        if member.startswith("agent"):
            wanted = [one for one in wanted if one.startswith("server")]
        line = "tkdc join --folder /etc/tkdc/server0 *.introduction"
        assert line in commands("install.md")
        typed = "".join(f"{fingerprints[one]}\n" for one in wanted)
        self.type(line.replace("server0", member), stdin=typed)

    def _settings(self, party: int) -> None:
        """What the pages say above the commands that need it."""
        config = self.server_directory(party) / "tkdc.toml"
        text = config.read_text()
        text = text.replace("[store]\n", "[store]\nshare_macs = true\n", 1)
        text = text.replace("[control]\n", '[control]\nstatus_socket = "status.sock"\n', 1)
        approvers = "".join(self._approver(one) for one in range(3))
        limits = "".join(f"{name} = {most}\n" for name, most in self.limits.items())
        config.write_text(text + approvers + f"\n[limits]\n{limits}")
        agent = self.installation / "agent-kdc" / "agent.toml"
        if "status_socket" not in agent.read_text():
            agent.write_text(agent.read_text().replace(
                "[agent]\n", '[agent]\nstatus_socket = "status.sock"\n', 1))

    def _approver(self, party: int) -> str:
        """Step 1 of Leaving."""
        if f"approver{party}" not in self.values:
            line = "tkdc approver --out my.key"
            assert line in commands("leaving.md")
            said = self.run(line.replace("my.key", f"my{party}.key"), PASSPHRASE + "\n").stdout
            table = said[said.index("\n[[approvers]]"):]
            self.values[f"approver{party}"] = table.replace('"NAME"', f'"admin{party}"').replace(
                "= N", f"= {party}")
        return self.values[f"approver{party}"]

    def here(self, line: str, put: dict[str, str]) -> str:
        for old, new in (*put.items(), *self.values.items()):
            line = re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", lambda _, new=new: new, line)
        for old, new in (("/run/tkdc/status-server/server0.sock", "/etc/tkdc/server0/status.sock"),
                         ("/run/tkdc/status/agent-kdc.sock", "/etc/tkdc/agent-kdc/status.sock"),
                         ("/etc/tkdc/NAME", "/etc/tkdc/server0"),
                         ("/etc/tkdc", str(self.installation)), ("/root", str(self.desk)),
                         ("EXAMPLE.TEST", self.name)):
            line = line.replace(old, new)
        return line

    def run(self, line: str, stdin: str = "") -> subprocess.CompletedProcess:
        env = {name: value for name, value in self.kdc_env().items() if name != "LD_PRELOAD"}
        env["PATH"] = f"{self.directory / 'sbin'}:{self.bin}:{env['PATH']}"
        env["TKDC_AGENT_SOCKET"] = str(self.agent_socket("admin"))
        return subprocess.run(["bash", "-c", line], cwd=self.desk, env=env, input=stdin, text=True,
                              capture_output=True, timeout=120, check=False)

    def type(self, line: str, stdin: str = "", put: dict[str, str] | None = None,
             code: int = GOOD) -> str:
        done = self.run(self.here(line, put or {}), stdin)
        assert done.returncode == code, (line, done.returncode, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def in_session(self) -> bool:
        return all(self.run(f"tkdc status --socket {self.agent_socket(role)}").returncode == 0
                   for role in ("kdc", "admin"))

    def wait_for_session(self) -> None:
        wait_until(self.in_session, SETTLED_S, "a session")

    def stop_servers(self, *parties: int) -> None:
        for party in parties or range(3):
            self.daemons[f"server{party}"].stop()

    def start_servers(self, *parties: int) -> None:
        for party in parties or range(3):
            self.start_server(party, wait=False)
        self.wait_for_session()


def make_public_key(pages: Pages) -> None:
    shutil.copy(pages.desk / "backup.pub", pages.server_directory(0))


def note_backup(pages: Pages) -> None:
    made = max((pages.server_directory(0) / "backups").glob("*.tkdc-backup"))
    shutil.copy(made, pages.desk)
    shown = pages.type("tkdc backup verify --key backup.key FILE", put={"FILE": made.name})
    pages.values |= {"FILE": made.name, "FOLDER": str(made.parent),
                     "DIGEST": re.search(r"^digest +(\S+)$", shown, re.M)[1]}


def stop_one(pages: Pages) -> None:
    pages.stop_servers(0)


def start_one(pages: Pages) -> None:
    pages.start_servers(0)


def next_era(pages: Pages) -> None:
    """At the two others the same; then they start."""
    line = "tkdc epochs begin-anew --config /etc/tkdc/NAME/tkdc.toml --era N --now"
    for party in (1, 2):
        pages.type(line.replace("NAME", f"server{party}"), put={"N": "1"})
    pages.start_servers()


def keep_introduction(pages: Pages) -> None:
    shutil.copy(pages.installation / "server0/server0.introduction.next",
                pages.desk / "server0.introduction")


KDC_SOCKET = "--socket {kdc}"
CONFIG = "--config /etc/tkdc/NAME/tkdc.toml"
TYPED = (
    Typed("install.md", "tkdc status --config /etc/tkdc/agent-kdc/agent.toml", "healthy"),
    Typed("upgrade.md", "tkdc status", "healthy", more=KDC_SOCKET),
    Typed("plan.md", "tkdc status --json", '"servers"', more=KDC_SOCKET),
    Typed("plan.md", "tkdc garbling plan --logins N --minutes M", "garbled_mb",
          put={"N": "100", "M": "5"}),
    Typed("two-servers.md", "tkdc tables plan --logins N --config /etc/tkdc/NAME/tkdc.toml",
          "use `tkdc garbling plan`", REFUSED, put={"N": "100"}),
    Typed("two-servers.md", "tkdc bench ahead", "--tables-per-s"),
    Typed("health.md", "tkdc status --server-socket /run/tkdc/status-server/server0.sock",
          "healthy"),
    Typed("health.md", "tkdc doctor --server-socket /run/tkdc/status-server/server0.sock",
          "shares were never audited", REFUSED),
    Typed("health.md", "tkdc doctor --socket /run/tkdc/status/agent-kdc.sock", "All is well"),
    Typed("health.md", "tkdc shares --config /etc/tkdc/NAME/tkdc.toml deal", "MAC"),
    Typed("health.md", "tkdc shares --config /etc/tkdc/NAME/tkdc.toml audit", "0 failed"),
    Typed("health.md", "tkdc shares status", "last audit", more=CONFIG),
    Typed("trouble.md", "tkdc shares audit", more=CONFIG),
    Typed("trouble.md", "tkdc shares deal", more=CONFIG),
    Typed("trouble.md", "tkdc repair status", more=CONFIG),
    Typed("trouble.md", "tkdc repair --config /etc/tkdc/NAME/tkdc.toml status", "certificate"),
    Typed("trouble.md", "tkdc repair cancel", "none is asked for", more=CONFIG),
    Typed("health.md", "tkdc status [--json]", '"disks"', put={"[--json]": "--json"},
          more=KDC_SOCKET),
    Typed("health.md", "tkdc doctor", "tkdc backup key", REFUSED, more=CONFIG),
    Typed("health.md", "tkdc reconcile"),
    Typed("health.md", "tkdc refresh --config /etc/tkdc/NAME/tkdc.toml"),
    Typed("health.md", "tkdc audit show audit.jsonl --principal alice@REALM", '"open"',
          put={"audit.jsonl": "/etc/tkdc/NAME/audit.jsonl", "REALM": NAME}),
    Typed("health.md", "tkdc audit show /var/lib/tkdc/server0/audit.jsonl --request "
                       "8c1f02a96b7d4e35", put={"/var/lib/tkdc/server0": "/etc/tkdc/server0"}),
    Typed("health.md", "tkdc audit verify audit.jsonl --against OTHER --against THIRD", "whole",
          put={"audit.jsonl": "/etc/tkdc/NAME/audit.jsonl",
               "OTHER": "/etc/tkdc/server1/audit.jsonl", "THIRD": "/etc/tkdc/server2/audit.jsonl"}),
    Typed("health.md", "tkdc top --socket /run/tkdc/status/agent-kdc.sock",
          more="--once --interval 0.2"),
    Typed("health.md", "tkdc top --config /etc/tkdc/server0/tkdc.toml",
          more="--once --interval 0.2"),
    Typed("moving.md", "tkdc import --dry-run"),
    Typed("moving.md", "kadmin.local -q 'cpw -randkey -keepold krbtgt/REALM'", "randomized",
          put={"REALM": NAME}),
    Typed("daily.md", "kadmin.local cpw -randkey -keepold krbtgt/REALM",
          put={"REALM": NAME}),
    Typed("moving.md", "kdb5_util dump /root/handles && kdb5_util load /root/handles"),
    Typed("moving.md", "kdb5_util add_mkey -s && kdb5_util use_mkey 2 && "
                       "kdb5_util update_princ_encryption",
          stdin=f"{MASTER_PASSWORD}\n{MASTER_PASSWORD}\nyes\n"),
    Typed("moving.md", "kdb5_util purge_mkeys", stdin="yes\n"),
    Typed("daily.md", 'kadmin.local -q "addprinc -e aes256-cts:normal krbtgt/THERE@HERE"',
          "created", stdin=f"{PASSWORD}\n{PASSWORD}\n", put={"HERE": NAME, "THERE": "OTHER.TEST"}),
    Typed("daily.md", "tkdc init --agent replica1 --role kdc --out /etc/tkdc/agent-kdc "
                      "--host 10.0.9.6 --installation server0.introduction", "Fingerprint",
          put={"/etc/tkdc/agent-kdc": "/root/replica1"}),
    Typed("daily.md", "tkdc rotate krbtgt --now"),
    Typed("backup.md", "tkdc backup key --out backup.key --public backup.pub",
          then=make_public_key),
    Typed("backup.md", "tkdc backup make --config /etc/tkdc/NAME/tkdc.toml", then=note_backup),
    Typed("backup.md", "tkdc backup verify --key backup.key FILE"),
    Typed("backup.md", "tkdc backup list FOLDER"),
    Typed("backup.md", "tkdc backup prune --keep 14 FOLDER"),
    Typed("backup.md", "tkdc restore FILE --key backup.key --into /etc/tkdc/NAME --digest DIGEST",
          first=stop_one),
    Typed("backup.md", "tkdc store recovery --config /etc/tkdc/NAME/tkdc.toml --out RECOVERY.KEY",
          put={"RECOVERY.KEY": "/root/recovery.key"}),
    Typed("daily.md", "tkdc store rekey --config /etc/tkdc/NAME/tkdc.toml"),
    Typed("trouble.md", "tkdc epochs raise --config /etc/tkdc/NAME/tkdc.toml --to NUMBER --now",
          put={"NUMBER": "12"}, then=start_one),
    Typed("daily.md", "tkdc renew --folder /etc/tkdc/NAME", "Fingerprint"),
    Typed("trouble.md", "tkdc release --config /etc/tkdc/NAME/tkdc.toml"),
    Typed("trouble.md", "tkdc revoke --config /etc/tkdc/NAME/tkdc.toml --sealed-between "
                        "2026-11-20T18:00:00Z now", "are refused", more="--yes",
          put={"2026-11-20T18:00:00Z": "4h", "now": "3h"}),
    Typed("trouble.md", "tkdc revoke --lift", more=CONFIG),
    Typed("trouble.md", "tkdc rotate krbtgt --now --purge"),
    Typed("leaving.md", "tkdc export request --folder /root/export"),
    *(Typed("leaving.md", "tkdc approve --config /etc/tkdc/NAME/tkdc.toml --key my.key "
                          "--out approval-N request", stdin=PASSPHRASE + "\n",
            put={"my.key": f"my{party}.key", "approval-N": f"approval-{party}",
                 "request": "/root/export/request", "NAME": f"server{party}"})
      for party in (0, 1)),
    *(Typed("leaving.md", "tkdc hand-over --config /etc/tkdc/NAME/tkdc.toml --approval approval-0 "
                          "--approval approval-1 --out shares-N request",
            put={"shares-N": f"shares-{party}", "request": "/root/export/request",
                 "NAME": f"server{party}"}) for party in range(3)),
    Typed("leaving.md", "tkdc export restore --folder /root/export --agent-config "
                        "/etc/tkdc/agent-admin/agent.toml --dry-run shares-0 shares-1 shares-2"),
    Typed("trouble.md", "tkdc epochs --config /etc/tkdc/NAME/tkdc.toml", "era 0",
          first=Pages.stop_servers),
    Typed("trouble.md", "tkdc epochs begin-anew --config /etc/tkdc/NAME/tkdc.toml --era N --now",
          put={"N": "1"}, then=next_era),
    Typed("trouble.md", "tkdc rotate krbtgt --now"),
)
RECONCILED = "tests/integration/test_reconcile.py"
GIVEN_BACK = (RECONCILED, "tests/support/export.py")
READ = "tests/integration/test_page_commands.py"
# Not typed here, and where it is done instead, with the same words: programs of a line, or a whole
# line. Several files: one calls the other.
ELSEWHERE = {
    "make packages": "tests/packages/conftest.py",
    "make repository KEY=FINGERPRINT": ("Makefile", "tests/packages/test_repository.py"),
    "make install DESTDIR=/x PREFIX=/usr": ("Makefile", "config/debian/rules"),
    "kdb5_util create -s": "tests/support/realm.py",  # with the password as an option
    "make demo": "tests/e2e/test_demo.py",
    "make demo SERVERS=2": "tests/e2e/test_demo.py",
    "make demo SERVERS=2 MODE=tables": "tests/e2e/test_demo.py",
    "make packages CUDA=1": ("Makefile", "tests/packages/test_cuda.py"),  # no CUDA toolkit here
    "make rollout-test": ("Makefile", "tests/rollout/__main__.py"),
    "make drill": "tests/integration/test_drills.py",  # types what its page has in other blocks
    "make test": "Makefile",
    "tkdc unit --config FILE": "tests/packages/test_units.py",  # it writes below /etc/systemd
    "tkdc unit --config /etc/tkdc/NAME/tkdc.toml": "tests/packages/test_units.py",
    "tkdc unit": "tests/packages/test_units.py",
    "runuser -u tkdc-server -- tkdc join --folder /etc/tkdc/NAME --out "
    "/etc/tkdc/NAME/tkdc.toml.new FILE": "tests/packages/test_packages.py",  # as its user
    "tkdc refresh --undo": "tests/integration/test_refresh.py",  # a refresh that was interrupted
    "tkdc export finish --folder /root/export": "tests/integration/test_export.py",  # the end
    "tkdc renew --folder /etc/tkdc/NAME --take": "tests/integration/test_members.py",
    # With a server that is lost.
    "tkdc join --folder /etc/tkdc/NAME --out /root/first.toml server2.introduction":
        "tests/integration/test_repair.py",
    "tkdc join --folder /etc/tkdc/NAME --forget-former --out /root/new.toml":
        "tests/integration/test_repair.py",
    "tkdc repair --config /etc/tkdc/NAME/tkdc.toml approve --server 2 --certificate SHA256":
        "tests/integration/test_repair.py",
    "tkdc repair --config /etc/tkdc/NAME/tkdc.toml accept --certificate SHA256":
        "tests/integration/test_repair.py",
    # With keys that were dropped.
    "tkdc reconcile dropped": RECONCILED,
    "tkdc reconcile purge --due": RECONCILED,
    "tkdc reconcile purge --all": RECONCILED,
    "tkdc reconcile purge --principal NAME": RECONCILED,
    "tkdc reconcile purge --principal krbtgt/REALM@REALM": "tests/integration/test_breach.py",
    "tkdc reconcile request --out give-back.request": RECONCILED,
    "tkdc approve --config /etc/tkdc/NAME/tkdc.toml --key my.key --out approval-0 "
    "give-back.request": GIVEN_BACK,
    "tkdc give-back --config /etc/tkdc/NAME/tkdc.toml --approval approval-0 --approval approval-1 "
    "give-back.request": GIVEN_BACK,
    "tkdc reconcile give-back give-back.request": RECONCILED,
    "tkdc reconcile --destroy": RECONCILED,
    "kdb5_util load -update": RECONCILED,
    "tkdc backup copy --config /etc/tkdc/NAME/tkdc.toml": "tests/integration/test_copies.py",
    "kdb5_util -x load_anyway load FILE": RECONCILED,
    "kdb5_util -x compare_only load -update FILE": RECONCILED,
    # With other programs of the host.
    "apt": "tests/packages/test_repository.py",
    "rsyslogd -N1": "tests/integration/test_syslog.py",
    "kadmin renprinc": "tests/integration/test_admin.py",
    "kadmin ktadd": "tests/integration/test_admin.py",
    "kproplog -R": "tests/integration/test_iprop.py",
    "systemd-run": READ,  # it wants a GPU's driver
    "journalctl -k": READ,  # the kernel's own lines
    "journalctl -k | grep -i -e mce -e edac": READ,
    "journalctl -b -n 20 -u tkdc-server@NAME": "mpc-engine/tools/cli/doctor_status.cc",
    "journalctl TKDC_EVENT=no-session": "tests/packages/test_units.py",
    "journalctl TKDC_REQUEST=8c1f02a96b7d4e35":
        ("tests/integration/test_request_ids.py", "tests/packages/test_units.py"),
    # With stores of different states.
    "tkdc store list --config /etc/tkdc/NAME/tkdc.toml --out list-N":
        "tests/integration/test_backup.py",
    "tkdc store agree --config /etc/tkdc/NAME/tkdc.toml list-0 list-1 list-2":
        "tests/integration/test_backup.py",
    # A realm on two servers.
    "tkdc init --party 0 --servers 2 --out /etc/tkdc/server0 --realm EXAMPLE.TEST --host 10.0.1.5":
        ("tests/integration/test_two_servers.py", "tests/integration/test_members.py",
         "tests/support/realm.py"),
    "tkdc init --servers 2 --out try --realm EXAMPLE.TEST": "tests/support/realm.py",
    "tkdc store agree --config /etc/tkdc/NAME/tkdc.toml list-0 list-1":
        "tests/integration/test_two_servers.py",
}
# All of its blocks are typed by another test, in their order.
TYPED_WHOLE = {"members-number.md": "tests/integration/test_members_number.py"}
# Nowhere, and why.
NOWHERE = {"chronyc": "chrony is the host's", "timedatectl": "the clock is the host's"}
# Units that are not of config/.
OF_DEBIAN = ("krb5-kdc", "krb5-admin-server", "systemd-time-wait-sync", "rsyslog")


def whole_lines() -> list[str]:
    return [one.line for one in TYPED] + [line for line in ELSEWHERE if " " in line] + [
        line for line in commands("install.md") if line.startswith(("tkdc init", "tkdc join"))] + [
        "tkdc approver --out my.key"]


def is_accounted_for(page: str, line: str) -> bool:
    """Typed, done elsewhere, or the beginning of such a line in a sentence."""
    blocks, _ = typed_in(page)
    if page in TYPED_WHOLE and line in blocks:
        return True
    if line.split()[0] in {*ELSEWHERE, *NOWHERE} or line in NOWHERE:
        return True
    if line.split()[0] == "systemctl":
        return all(is_unit(word) for word in line.split()[2:] if not word.startswith("-"))
    whole = whole_lines()
    begins = any(one.startswith(line + " ") for one in whole)
    return line in whole or (line not in blocks and begins)


def is_unit(name: str) -> bool:
    """That there is, so that systemctl would not be at a loss."""
    template = re.sub(r"@[\w-]+", "@", name.removesuffix(".service"))
    file = template if template.endswith(".timer") else f"{template}.service"
    return name in OF_DEBIAN or (ROOT / "config" / file).is_file()


@pytest.mark.parametrize("page", sorted(one.name for one in PAGES.glob("*.md")))
def test_no_command_of_a_page_is_forgotten(page):
    forgotten = [line for line in commands(page) if not is_accounted_for(page, line)]
    assert not forgotten, "\n".join(sorted(forgotten))


def words_that_lack(line: str, text: str) -> list[str]:
    """Of a command: no placeholders, paths, numbers or names of files."""
    words = [word for word in line.split()
             if re.fullmatch(r"-{0,2}[a-z][a-z-]*|-[A-Z]|TKDC_[A-Z]+=\S*", word)
             and not word.endswith("-")]
    assert words, line
    words = [{"apt": "apt-get"}.get(word, word) for word in words]  # as scripts call it
    return [word for word in words
            if not re.search(rf"(?<![\w-]){re.escape(word.split('=')[0])}(?![\w-])", text)]


def test_what_is_done_elsewhere_is_done_there():
    lines = {line for page in PAGES.glob("*.md") for line in commands(page.name)}
    for line, places in ELSEWHERE.items():
        text = "\n".join((ROOT / place).read_text() for place in
                         ([places] if isinstance(places, str) else places))
        assert any(f"{one} ".startswith(f"{line} ") for one in lines), f"no page has: {line}"
        assert not (missing := words_that_lack(line, text)), f"{line}: {places} lacks {missing}"
    assert all(any(f"{line} ".startswith(f"{one} ") for line in lines) for one in NOWHERE)


def test_a_command_that_is_done_nowhere_is_seen():
    assert not words_that_lack("tkdc store list --out list-N", 'tkdc("store", "list", "--out")')
    assert words_that_lack("tkdc store list --out list-N", 'run("tkdc", "store", "lists")') == [
        "list", "--out"]
    assert words_that_lack("kproplog -R", 'run("kproplog")') == ["-R"]


def test_a_unit_that_is_not_there_is_seen():
    assert is_unit("tkdc-server@NAME") and is_unit("tkdc-backup@NAME.timer")
    assert not is_unit("tkdc-servant@NAME") and not is_unit("tkdc-backup@NAME.tmier")


@pytest.fixture(scope="module")
def pages():
    realm = Pages(Path(tempfile.mkdtemp(prefix="tkdc-")))
    with realm:
        realm.kadmin_local(f'addprinc -pw "{PASSWORD}" alice')
        assert realm.client("alice").kinit("alice", PASSWORD).ok
        yield realm
    remove(realm)


def test_the_pages_commands_do_what_they_say(pages):
    """One after the other, as an administrator of all hosts at once."""
    for one in TYPED:
        assert one.line in commands(one.page), one.line
        one.first(pages)
        more = one.more.format(kdc=pages.agent_socket("kdc"))
        said = pages.type(f"{one.line} {more}".strip(), one.stdin, one.put, one.code)
        assert one.says in said, (one.line, said)
        one.then(pages)
    wait_until(lambda: pages.client("alice").kinit("alice", PASSWORD).ok, SETTLED_S, "a login")
