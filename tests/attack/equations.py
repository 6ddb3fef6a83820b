# SPDX-License-Identifier: Apache-2.0
"""What split verdicts are for: sums of values that do not belong together, which two honest servers
open, are linear equations on keys (docs/advisories/2026-01-split-verdicts.md). The job services of
three servers in one process, because thousands of sessions fit there; the tests' program with every
guard must get no equation, the one without the comparison and with bare openings prints the keys
that it has solved for, and checks each by its victim's own use of it."""

import re
import subprocess

from tests.attack.line import Line, Play
from tests.attack.realm import AttackedRealm

TIMEOUT_S = 300
SOLVED = re.compile(r"^(\S+): (\d+) sessions, rank (\d+) of \d+, the victim's: ([0-9a-f]+)$", re.M)


def lines(realm: AttackedRealm) -> list[Line]:
    guarded = Line("split verdicts, session after session: equations on the victim's keys")
    bare = Line("CONTROL: the same, with the comparison and the openings' masks taken out",
                leaks=True)
    for line, program in ((guarded, "equations_test"), (bare, "equations_control")):
        line.plays.append(_play(realm, program))
    return [guarded, bare]


def _play(realm: AttackedRealm, program: str) -> Play:
    done = Play()
    ended = subprocess.run([str(realm.bin / program)], text=True, capture_output=True,
                           timeout=TIMEOUT_S, check=False)
    done.expect(ended.returncode == 0, f"{program} fails: {ended.stdout[-2000:]}")
    for what, sessions, rank, key in SOLVED.findall(ended.stdout):
        done.learned.append(f"{what}: {len(key) // 2} octets of the victim's key, {key}, from "
                            f"{rank} equations of {sessions} sessions")
    done.count("solutions", len(done.learned))
    guarded = program == "equations_test"
    done.honest = "latched in the first session" if guarded else "saw nothing"
    done.status = "none: in one process"
    return done
