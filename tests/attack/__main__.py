# SPDX-License-Identifier: Apache-2.0
"""`make attack`: every attack that is known, on a whole realm of real processes.

One line for each: what was tried | how often | what the attacker learned | what honest servers
did | what `tkdc status` then says. It ends with "attack: ok" only if every one of them held, and
if the controls, in which a guard is taken out, show what it prevents. --short plays some of them.
"""

import argparse
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.attack import (
    clients,
    control,
    crashes,
    equations,
    garbled,
    handshakes,
    served,
    stored,
    two,
)
from tests.attack.crashes import CRASHES, Crash
from tests.attack.handshakes import HANDSHAKES, Handshake
from tests.attack.keys import Keys
from tests.attack.lies import LANES, LIES, MASKS, Lie
from tests.attack.line import Line, Play
from tests.attack.realm import AttackedRealm
from tests.attack.served import SERVED, Served
from tests.attack.servers import play
from tests.support.kerberos import free_base_port
from tests.support.process import RealmError

NAME = "ATTACK.TEST"
MASKED_BLOCKS = 64
ByServer = Lie | Served | Handshake | Crash
HEADER = "tried | how often | the attacker learned | honest servers | `tkdc status`"


class Attacks:
    def __init__(self, short: bool):
        self.short = short
        self.began = time.monotonic()
        self.lines: list[Line] = []

    def say(self, what: str) -> None:
        sys.stderr.write(f"{time.monotonic() - self.began:6.1f} s  {what}\n")
        sys.stderr.flush()

    def by_servers(self, realm: AttackedRealm) -> None:
        """Server by server, since another one has to be changed for each."""
        keys = Keys(realm)
        lines = {attack: Line(attack.tried) for attack in (*LIES, *SERVED, *HANDSHAKES, *CRASHES)
                 if attack.short or not self.short}
        honest = Line(control.HONEST)
        self.lines += [*lines.values(), honest]
        for liar in range(3):
            due = [attack for attack in lines
                   if liar in (attack.short if self.short else attack.liars)]
            if due:
                realm.change(liar)
                honest.plays.append(control.play_honest(realm))
            for attack in due:
                self.say(f"server {liar}: {attack.tried}")
                lines[attack].plays.append(self.by_server(realm, keys, attack))
        realm.change(None)

    def by_server(self, realm: AttackedRealm, keys: Keys, attack: ByServer) -> Play:
        """One that goes wrong is not to hide those after it, if the realm can be put right."""
        try:
            if isinstance(attack, Lie):
                return play(realm, keys, attack)
            if isinstance(attack, Served):
                return served.play(realm, attack)
            if isinstance(attack, Crash):
                return crashes.play(realm, attack)
            return handshakes.play(realm, attack)
        except (RealmError, subprocess.SubprocessError) as failure:
            realm.arm("none")
            realm.release()
            realm.wait_well()
            return Play(wrong=[f"server {realm.liar}: {failure}"])

    def by_others(self, realm: AttackedRealm) -> None:
        for attack in clients.ATTACKS:
            self.say(attack.tried)
            self.lines.append(Line(attack.tried, [attack.play(realm, self.short)]))

    def in_a_realm(self, directory: Path, lies: tuple[Lie, ...], **of_realm: int) -> None:
        """That is set up in another way."""
        if self.short:
            return
        lines = {lie: Line(lie.tried) for lie in lies}
        self.lines += lines.values()
        with AttackedRealm(directory, NAME, free_base_port(), **of_realm) as realm:
            realm.populate()
            keys = Keys(realm)
            for liar in range(3):
                realm.change(liar)
                for lie in (lie for lie in lies if liar in lie.liars):
                    self.say(f"server {liar}: {lie.tried}")
                    if realm.masked_blocks:
                        realm.wait_masks()
                    lines[lie].plays.append(self.by_server(realm, keys, lie))

    def controls(self, directory: Path) -> None:
        for one in control.CONTROLS:
            liars = one.short if self.short else one.liars
            if liars:
                self.lines.append(Line(one.tried, leaks=True))
            for liar in liars:
                self.say(f"server {liar}: {one.tried}")
                with AttackedRealm(directory / f"{one.order}{liar}", NAME, free_base_port(),
                                   server=one.server) as realm:
                    self.lines[-1].plays.append(control.play(realm, one, liar))

    def play_two(self, directory: Path) -> None:
        """Of two servers: what does not need a third, nor packets of three servers' lanes."""
        with AttackedRealm(directory / "realm", NAME, free_base_port(), servers=2) as realm:
            realm.populate()
            for attack in clients.ATTACKS:
                if attack.by_client:
                    self.say(attack.tried)
                    self.lines.append(Line(attack.tried, [attack.play(realm, self.short)]))
            self.say("a server's store")
            self.lines += two.of_stores(realm)
            self.lines += two.by_servers(realm, self.short, self.say)
            self.say("changed servers, in one process each")
            self.lines += two.lines(realm, self.short)

    def play(self, directory: Path) -> None:
        with AttackedRealm(directory / "realm", NAME, free_base_port()) as realm:
            realm.populate()
            self.by_servers(realm)
            self.by_others(realm)
            self.say("equations on keys")
            self.lines += equations.lines(realm)
            if not self.short:  # make test has run them
                self.say("what servers store")
                self.lines += stored.lines(realm)
                self.say("garbled circuits, in one process each")
                self.lines += garbled.lines(realm)
        self.in_a_realm(directory / "lanes", LANES, lanes=2)
        self.in_a_realm(directory / "masks", MASKS, masked_blocks=MASKED_BLOCKS)
        self.controls(directory)


def cpu_seconds() -> float:
    own, ended = (resource.getrusage(who) for who in (resource.RUSAGE_SELF,
                                                      resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(prog="make attack", description=__doc__)
    parser.add_argument("--short", action="store_true", help="some of the attacks, in minutes")
    parser.add_argument("--servers", type=int, choices=(2, 3), default=3)
    options = parser.parse_args()
    # Whoever ends it ends the realm with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    # Unix sockets' paths are short, and stores wait for their disk.
    place = "/dev/shm" if Path("/dev/shm").is_dir() else None
    directory = Path(tempfile.mkdtemp(prefix="tkdc-attack-", dir=place))
    attacks = Attacks(options.short)
    try:
        (attacks.play if options.servers == 3 else attacks.play_two)(directory)
    except (RealmError, OSError, subprocess.SubprocessError) as failure:
        broken = Play(wrong=[str(failure)])
        attacks.lines.append(Line("what was to follow", [broken]))
    except SystemExit:
        shutil.rmtree(directory, ignore_errors=True)
        raise
    sys.stdout.write(HEADER + "\n")
    for line in attacks.lines:
        sys.stdout.write(line.text() + "\n")
    wrong = [reason for line in attacks.lines for reason in line.reasons()]
    for reason in wrong:
        sys.stdout.write(f"WRONG: {reason}\n")
    sys.stdout.write(f"{sum(len(line.plays) for line in attacks.lines)} attacks, "
                     f"{time.monotonic() - attacks.began:.0f} s, {cpu_seconds():.0f} s of CPU\n")
    if wrong:
        sys.stdout.write(f"all files: {directory}\nattack: FAILED\n")
        return 1
    shutil.rmtree(directory, ignore_errors=True)
    sys.stdout.write("attack: ok\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
