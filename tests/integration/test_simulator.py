# SPDX-License-Identifier: Apache-2.0
"""Realms in one thread, in virtual time (tests/sim, docs/testing.md): every schedule of faults that
once failed, courses that are the same on every CPU, mistakes that can still be planted, and seeds
that nobody has run before: TKDC_SIM_SECONDS of them, from a number that is the commit's."""

import os
import random
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.integration.conftest import STOCK
from tests.sim import planting
from tests.support.plain_realm import BIN

ROOT = Path(__file__).resolve().parents[2]
SIM = ROOT / "tests/sim"
PROGRAM = BIN / "tkdc-sim"
SCHEDULES = sorted(path.stem for path in (SIM / "schedules").glob("*.plan"))
# What patches do to a source, by their names.
MUTANTS: dict[str, dict[str, str]] = {}
for one in sorted((SIM / "mutants").glob("*.patch")):
    for changed, change in planting.changes(one).items():
        MUTANTS.setdefault(changed, {})[one.stem] = change
FRESH_S = float(os.environ.get("TKDC_SIM_SECONDS", "180"))
BACKENDS = ("scalar", "avx2", "gfni", "auto")
COMPILE = ("g++ -std=c++20 -fsyntax-only -D_GNU_SOURCE -DTKDC_VERSION='\"0\"' -Impc-engine "
           "-Ikdc-plugin -I. -Impc-engine/service/wire "
           "-isystem build/dev/mpc-engine/rep3/unit/generated")

pytestmark = [pytest.mark.skipif(STOCK, reason="no realm of MIT's"),
              pytest.mark.skipif(not PROGRAM.exists(), reason="tkdc-sim is not built")]


def sim(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          timeout=900, check=False)


@pytest.mark.parametrize("plan", SCHEDULES)
def test_a_schedule_that_once_failed(plan: str):
    done = sim("--replay", SIM / f"schedules/{plan}.plan")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ["course", "course-garbled"])
def test_courses_are_the_same_everywhere(name: str):
    """A course is what is sent to whom, how much of it, and when: no octet of a key is in it.

    The second digest is of what servers send to each other, octet by octet.
    """
    course = SIM / f"{name}.plan"
    committed = (SIM / f"{name}.digest").read_text().split()
    for backend in BACKENDS:
        done = sim("--replay", course, "--digest", "--backend", backend)
        if done.returncode != 0 and backend in ("avx2", "gfni"):
            continue  # not on this CPU
        assert done.stdout.split() == committed, backend
    other = sim("--replay", course, "--digest", "--keys", 4711).stdout.split()
    assert other[0] == committed[0] and other[1] != committed[1]


def planted(change: str, target: Path, *how: str) -> bool:
    return subprocess.run(["patch", "--quiet", "--force", *how, target], input=change, text=True,
                          stdout=subprocess.DEVNULL, check=False).returncode == 0


@pytest.mark.parametrize("source", sorted(MUTANTS))
def test_mistakes_can_still_be_planted(source: str, tmp_path: Path):
    """Each patch applies, and what comes of it compiles: of those that change other lines of one
    source, together. `make simulate-mutants` runs each by itself."""
    right = (ROOT / source).read_text()
    copies: list[Path] = []
    for name, change in MUTANTS[source].items():
        alone = tmp_path / f"{name}-{Path(source).name}"
        alone.write_text(right)
        assert planted(change, alone) and alone.read_text() != right, name
        room = next((one for one in copies if planted(change, one, "--dry-run")), None)
        if room is None:
            copies.append(alone)
        else:
            assert planted(change, room), name
    for copy in copies:
        subprocess.run([*shlex.split(COMPILE), copy], cwd=ROOT, check=True)


def test_what_failed_is_shrunk(tmp_path: Path):
    """Of 40 faults, those three remain without which the invariant does not fall."""
    noise = ["cut", "clock", "drift", "disk errors", "partition", "disk full", "one way"]
    faults = [f"fault {1000 * k + 500} {k % 3} {(k + 1) % 3} 700 {noise[k % 7]}"
              for k in range(37)]
    faults += ["fault 20100 1 0 900 crash", "fault 30100 2 0 800 hang", "fault 55000 0 0 0 planted"]
    plan, shrunk = tmp_path / "failed.plan", tmp_path / "shrunk.plan"
    plan.write_text("seed 3\n" + "\n".join(faults) + "\n")
    done = sim("--replay", plan, "--shrink", "--plan", shrunk)
    assert done.returncode == 1 and "INVARIANT planted" in done.stdout
    assert f"--replay {shrunk} --timeline" in done.stdout
    left = [line.split(maxsplit=5)[5] for line in shrunk.read_text().splitlines()
            if line.startswith("fault ")]
    assert sorted(left) == ["crash", "hang", "planted"]
    again = sim("--replay", shrunk, "--timeline")
    assert again.returncode == 1 and " INVARIANT: planted" in again.stdout


def first_seed() -> int:
    """Each commit has its own seeds, so that one which fails does so each time."""
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True,
                            text=True, check=False).stdout[:10]
    return int(commit, 16) if commit else random.randrange(1, 1 << 40)


def test_fresh_seeds(tmp_path: Path):
    """What failed is kept as a plan, shrunk, which belongs into tests/sim/schedules."""
    start = first_seed()
    done = sim("--seconds", FRESH_S, "--from", start, "--quiet", "--plan", tmp_path / "failed.plan")
    assert done.returncode == 0 and done.stdout.endswith("simulate: ok\n"), done.stdout
