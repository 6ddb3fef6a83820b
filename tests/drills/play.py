# SPDX-License-Identifier: Apache-2.0
"""One realm for all drills: what the page has typed is run on it, host by host."""

import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.drills.page import PAGE, Section, sections
from tests.drills.thief import expect_refusal, steal
from tests.integration.test_breach import status
from tests.integration.test_shares import wait_for_session
from tests.support.process import wait_until
from tests.support.realm import Realm

PASSWORD = "a password that outlives its servers"
PASSPHRASE = "an administrator's passphrase\n"
FINGERPRINT = re.compile(r"^  ([0-9a-f]{4}(?:-[0-9a-f]{4}){7})$", re.MULTILINE)
CERTIFICATE = re.compile(r"^certificate +([0-9a-f]{64})$", re.MULTILINE)
PUBLIC_KEY = re.compile(r'public_key = "([0-9a-f]{64})"')
SETTLED_S = 60.0
# What an approval by who is no administrator any more is refused with.
WHY_REFUSED = "by none of the [[approvers]]"
# A backup's name has the second, and none is overwritten.
TAKEN = "was made meanwhile, by another run"


class DrillError(Exception):
    pass


class Play:
    def __init__(self, realm: Realm, say: Callable[[str], None] = print):
        self.realm, self.say, self.users = realm, say, 0
        # What was printed: of each server the name of its newest backup, and keys.
        self.known: dict[str, str] = {}
        self.took: dict[str, float] = {}
        for party in range(3):
            self.media(party).mkdir()
        (realm.directory / "root").mkdir()

    # ---- hosts and what is typed there

    def media(self, party: int) -> Path:
        return self.realm.directory / f"media{party}"

    def on_this_machine(self, host: str, command: str) -> str:
        """Its words and paths, as they are here."""
        for name, said in self.known.items():
            command = command.replace(name, said)
        directory, installation = self.realm.directory, self.realm.installation
        paths = {"/post": self.realm.administrators.post, "/root": directory / "root",
                 "/etc/tkdc/agent-": f"{installation}/agent-", "10.0.3.5": "127.0.0.3"}
        if host != "kdc":
            party = int(host[-1])
            folder = self.realm.server_directory(party)
            paths |= {"/etc/tkdc/NAME": folder, "/var/lib/tkdc/NAME": folder,
                      "/media": self.media(party)}
        for of_the_page, here in paths.items():
            command = command.replace(of_the_page, str(here))
        return command

    def run(self, host: str, command: str, refused: bool = False) -> str:
        words = shlex.split(self.on_this_machine(host, command))
        if words[0] == "systemctl":
            return self.systemctl(host, *words[1:])
        if words[0] == "tkdc":
            words[0] = str(self.realm.bin / "tkdc")
        elif words[0] not in ("cp", "mv", "rm", "sed"):
            raise DrillError(f"{host}: nobody knows how to play {command!r}")
        if words[1] == "init":
            words += ["--base-port", str(self.realm.ports.base)]
        done = self.typed(words)
        if TAKEN in done.stderr:
            again = []
            wait_until(lambda: again.append(self.typed(words)) or
                       TAKEN not in again[-1].stderr, 5, "the next second")
            done = again[-1]
        if (done.returncode != 0) != refused:
            raise DrillError(f"{host}: {command}: {done.returncode}: {done.stdout}{done.stderr}")
        if not refused:
            self.note(host, words, done.stdout)
        return done.stdout + done.stderr

    def note(self, host: str, words: list[str], said: str) -> None:
        """What a later line has of it, and what its administrator waits for."""
        if words[1:3] == ["backup", "make"]:
            self.known[f"BACKUP{host[-1]}"] = Path(said.partition(":")[0]).name
        if words[1] == "approver":
            self.known["NEWKEY"] = PUBLIC_KEY.search(said)[1]
        if words[1] in ("init", "renew") and (found := FINGERPRINT.search(said)):
            self.realm.administrators.fingerprints[host] = found[1]
        if words[1] == "repair" and words[-1] == "status":
            self.known["CERTIFICATE"] = CERTIFICATE.search(said)[1]
        if words[1:2] == ["repair"] and "accept" in words:
            self.expect_repair()
        if words[1] == "refresh":
            wait_for_session(self.realm)

    def typed(self, words: list[str]) -> subprocess.CompletedProcess:
        given = 2 * PASSPHRASE
        if words[1] == "join":
            names = [Path(word).stem for word in words if word.endswith(".introduction")]
            given = "".join(self.realm.administrators.fingerprints[one] + "\n" for one in names)
        # Of the KDC's host; libtkdc-k5 is for krb5's own programs.
        env = {name: value for name, value in self.realm.kdc_env().items() if name != "LD_PRELOAD"}
        return subprocess.run(words, env=env, input=given, text=True, capture_output=True,
                              timeout=120, check=False)

    def systemctl(self, host: str, word: str, unit: str) -> str:
        if host == "kdc":
            agent = unit.partition("@")[2]
            self.realm.daemons[agent].stop()
            self.realm.start_agent(agent.removeprefix("agent-"))
            return ""
        name = f"server{host[-1]}"
        served = word == "restart" and all(one.get("session_up") for one in status(self.realm))
        if word in ("stop", "restart") and self.realm.daemons[name].running():
            self.realm.daemons[name].stop()
        if word in ("start", "restart"):
            self.realm.start_server(int(host[-1]))
        if served:
            wait_for_session(self.realm)
        return ""

    # ---- what is looked at

    def logs_in(self) -> bool:
        self.users += 1
        return self.realm.client(f"drill{self.users}").kinit("alice", PASSWORD).ok

    def expect_logins(self) -> None:
        wait_until(self.logs_in, SETTLED_S, "a login")

    def expect_repair(self) -> None:
        """By its end all three have new shares; only then are there backups of use."""
        before = max(self.refresh_epochs())
        wait_until(lambda: set(self.refresh_epochs()) == {before + 1}, SETTLED_S,
                   "new shares at all three")
        wait_for_session(self.realm)

    # ---- what happens

    def lose_disk(self, *parties: int) -> None:
        for party in parties:
            self.systemctl(f"server{party}", "stop", "")
            shutil.rmtree(self.realm.server_directory(party) / "store")

    def roll_back(self, party: int) -> None:
        """To an image of before a key was made; the backups are of after it."""
        store = self.realm.server_directory(party) / "store"
        image = self.realm.directory / "image"
        self.systemctl(f"server{party}", "stop", "")
        shutil.copytree(store, image, ignore=shutil.ignore_patterns("*.sock"))
        self.systemctl(f"server{party}", "start", "")
        wait_for_session(self.realm)
        self.realm.kadmin_local(f'addprinc -pw "{PASSWORD}" later')
        self.make_backups()
        self.systemctl(f"server{party}", "stop", "")
        shutil.rmtree(store)
        shutil.copytree(image, store)
        self.systemctl(f"server{party}", "start", "")
        wait_until(lambda: any("inventor" in one.get("trouble", "") for one in status(self.realm)),
                   SETTLED_S, "a session that is refused")

    def make_backups(self) -> None:
        for party in range(3):
            self.run(f"server{party}",
                     "tkdc backup make --config /etc/tkdc/NAME/tkdc.toml --to /media")

    # ---- drills

    def what_happens(self, title: str) -> None:
        happens = {"A server is rolled back": lambda: self.roll_back(2),
                   "A server's disk is lost": lambda: self.lose_disk(2),
                   "Two servers' disks are lost": lambda: self.lose_disk(1, 2),
                   "Before": None, "The store's key is changed": None,
                   "A server's disk was stolen": self.steal,
                   "An administrator's offline key is lost": self.lose_offline_key,
                   "An administrator is replaced": self.have_approvers}
        if title not in happens:
            raise DrillError(f"nobody knows what happens in {title!r}")
        if happens[title]:
            happens[title]()

    def steal(self) -> None:
        self.stolen, self.copy = self.refresh_epochs(), steal(self.realm)

    def have_approvers(self) -> None:
        """One administrator for each server, by all three configurations."""
        tables = ""
        for party in range(3):
            key = self.media(party) / "former.key"
            made = self.typed([str(self.realm.bin / "tkdc"), "approver", "--out", str(key)]).stdout
            tables += (f'\n[[approvers]]\nname = "admin{party}"\nparty = {party}\n'
                       f'public_key = "{PUBLIC_KEY.search(made)[1]}"\n')
        for config in self.configs():
            config.write_text(config.read_text() + tables)
        self.known["FORMERKEY"] = PUBLIC_KEY.findall(tables)[1]

    def configs(self) -> list[Path]:
        return [self.realm.server_directory(party) / "tkdc.toml" for party in range(3)]

    def lose_offline_key(self) -> None:
        (self.media(1) / "backup.key").unlink()

    def refresh_epochs(self) -> list[int]:
        return [one.get("shares", {}).get("refresh_epoch", 0) for one in status(self.realm)]

    def after(self, title: str) -> None:
        if title == "A server's disk was stolen":
            if self.refresh_epochs() != [epoch + 1 for epoch in self.stolen]:
                raise DrillError("the stolen shares are still of the realm's refresh epoch")
            expect_refusal(self.realm, self.copy)
            wait_for_session(self.realm)
            self.expect_logins()
        if title == "An administrator is replaced":
            for config in self.configs():
                if self.known["FORMERKEY"] in config.read_text():
                    raise DrillError(f"{config} still names the former administrator")

    def play(self, section: Section) -> None:
        began = time.monotonic()
        self.what_happens(section.title)
        for line in section.lines:
            said = self.run(line.host, line.command, line.refused)
            if line.refused and WHY_REFUSED not in said:
                raise DrillError(f"{line.command}: refused for another reason: {said}")
        wait_for_session(self.realm)
        self.expect_logins()
        self.after(section.title)
        self.took[section.title] = time.monotonic() - began
        self.say(f"{self.took[section.title]:6.1f} s  {section.title}")


def play_all(realm: Realm, short: bool, say: Callable[[str], None] = print) -> dict[str, float]:
    play = Play(realm, say)
    realm.kadmin_local(f'addprinc -pw "{PASSWORD}" alice')
    for section in sections(PAGE.read_text()):
        if section.short or not short:
            play.play(section)
    return play.took
