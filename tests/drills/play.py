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
from tests.integration.test_breach import status
from tests.integration.test_shares import wait_for_session
from tests.support.process import wait_until
from tests.support.realm import Realm

PASSWORD = "a password that outlives its servers"
PASSPHRASE = "an administrator's passphrase\n"
PUBLIC_KEY = re.compile(r'public_key = "([0-9a-f]{64})"')
SETTLED_S = 60.0
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

    # ---- hosts and what is typed there

    def media(self, party: int) -> Path:
        return self.realm.directory / f"media{party}"

    def run(self, host: str, command: str) -> str:
        party = int(host[-1])
        for name, said in self.known.items():
            command = command.replace(name, said)
        folder = str(self.realm.server_directory(party))
        command = command.replace("/etc/tkdc/NAME", folder)
        command = command.replace("/media", str(self.media(party)))
        words = shlex.split(command)
        if words[0] == "systemctl":
            return self.systemctl(party, words[1])
        if words[0] == "tkdc":
            words[0] = str(self.realm.bin / "tkdc")
        elif words[0] not in ("cp", "sed"):
            raise DrillError(f"{host}: nobody knows how to play {command!r}")
        done = self.typed(words)
        if TAKEN in done.stderr:
            again = []
            wait_until(lambda: again.append(self.typed(words)) or
                       TAKEN not in again[-1].stderr, 5, "the next second")
            done = again[-1]
        if done.returncode != 0:
            raise DrillError(f"{host}: {command}: {done.returncode}: {done.stdout}{done.stderr}")
        if words[1:3] == ["backup", "make"]:
            self.known[f"BACKUP{party}"] = Path(done.stdout.partition(":")[0]).name
        if words[1] == "approver":
            self.known["NEWKEY"] = PUBLIC_KEY.search(done.stdout)[1]
        if words[1] == "refresh":
            wait_for_session(self.realm)
        return done.stdout

    def typed(self, words: list[str]) -> subprocess.CompletedProcess:
        return subprocess.run(words, env=self.realm.env(), input=2 * PASSPHRASE, text=True,
                              capture_output=True, timeout=120, check=False)

    def systemctl(self, party: int, word: str) -> str:
        if word in ("stop", "restart") and self.realm.daemons[f"server{party}"].running():
            self.realm.daemons[f"server{party}"].stop()
        if word in ("start", "restart"):
            self.realm.start_server(party)
        if word == "restart":
            wait_for_session(self.realm)
        return ""

    # ---- what is looked at


    def logs_in(self) -> bool:
        self.users += 1
        return self.realm.client(f"drill{self.users}").kinit("alice", PASSWORD).ok

    def expect_logins(self) -> None:
        wait_until(self.logs_in, SETTLED_S, "a login")

    # ---- what happens

    def lose_disk(self, *parties: int) -> None:
        for party in parties:
            self.systemctl(party, "stop")
            shutil.rmtree(self.realm.server_directory(party) / "store")

    def roll_back(self, party: int) -> None:
        """To an image of before a key was made; the backups are of after it."""
        store = self.realm.server_directory(party) / "store"
        image = self.realm.directory / "image"
        self.systemctl(party, "stop")
        shutil.copytree(store, image, ignore=shutil.ignore_patterns("*.sock"))
        self.systemctl(party, "start")
        wait_for_session(self.realm)
        self.realm.kadmin_local(f'addprinc -pw "{PASSWORD}" later')
        self.make_backups()
        self.systemctl(party, "stop")
        shutil.rmtree(store)
        shutil.copytree(image, store)
        self.systemctl(party, "start")
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
        self.stolen = self.refresh_epochs()

    def have_approvers(self) -> None:
        """One administrator for each server, by all three configurations."""
        tables = ""
        for party in range(3):
            key = self.media(party) / "former-approver.key"
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
        if title == "A server's disk was stolen" and self.refresh_epochs() != [
                epoch + 1 for epoch in self.stolen]:
            raise DrillError("the stolen shares are still of the realm's refresh epoch")
        if title == "An administrator is replaced":
            for config in self.configs():
                if self.known["FORMERKEY"] in config.read_text():
                    raise DrillError(f"{config} still names the former administrator")

    def play(self, section: Section) -> None:
        began = time.monotonic()
        self.what_happens(section.title)
        for host, command in section.lines:
            self.run(host, command)
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
