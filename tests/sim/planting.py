# SPDX-License-Identifier: Apache-2.0
"""Builds tkdc-sim with a mistake planted in it: a patch of tests/sim/mutants.

The tree's own build stays as it is. Each object whose source is patched is compiled again, as the
build compiles it but faster, and linked in front of the libraries that have the right one.
"""

import json
import re
import shlex
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/dev"
MUTANTS = ROOT / "tests/sim/mutants"
FASTER = {"-O2": "-O1", "-g1": "-g0", "-Werror": "-Wno-error"}


def names() -> list[str]:
    return sorted(path.stem for path in MUTANTS.glob("*.patch"))


def changes(patch: Path) -> dict[str, str]:
    """What the patch does to each source that it changes."""
    parts = re.split(r"^(?=--- a/)", patch.read_text(), flags=re.M)[1:]
    return {part.splitlines()[1].split()[1].removeprefix("b/"): part for part in parts}


def patched(name: str, source: str, change: str, work: Path) -> Path:
    """The source with the mistake in it, under work."""
    out = work / f"{name}-{Path(source).name}"
    subprocess.run(["patch", "-p1", "--quiet", "-o", out], cwd=ROOT, check=True, input=change,
                   text=True)
    if out.read_text() == (ROOT / source).read_text():
        raise ValueError(f"{name}: the patch changes nothing")
    return out


def compiled_in(source: str) -> dict[str, str]:
    """The compiler's command for the product's object that has this source in it."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    folder = str(BUILD / Path(source).parent) + "/"
    for one in commands:
        if one["file"] == str(ROOT / source):
            return one
        unity = Path(one["file"])
        if one["file"].startswith(folder) and f'"{ROOT / source}"' in unity.read_text():
            return one
    raise ValueError(f"{source}: nothing is compiled of it")


def compile_patched(name: str, work: Path) -> list[Path]:
    """Sources that the build joins are in one object."""
    objects: dict[str, tuple[dict[str, str], str]] = {}
    for source, change in changes(MUTANTS / f"{name}.patch").items():
        mistaken = patched(name, source, change, work)
        one = compiled_in(source)
        alone = f'#include "{ROOT / source}"\n'
        joined = alone if one["file"] == str(ROOT / source) else Path(one["file"]).read_text()
        text = objects.get(one["file"], (one, joined))[1]
        objects[one["file"]] = one, text.replace(f'"{ROOT / source}"', f'"{mistaken}"')
    out = []
    for number, (one, text) in enumerate(objects.values()):
        unity = work / f"{name}-{number}.cc"
        unity.write_text(text)
        out.append(unity.with_suffix(".o"))
        words = [FASTER.get(word, word) for word in shlex.split(one["command"])]
        words[words.index("-o") + 1] = str(out[-1])
        words[words.index("-c") + 1] = str(unity)
        subprocess.run(words, cwd=one["directory"], check=True)
    return out


def plant(name: str, work: Path) -> Path:
    """The program. The tree must be built."""
    work.mkdir(parents=True, exist_ok=True)
    planted = compile_patched(name, work)
    commands = subprocess.run(["ninja", "-t", "commands", "-s", "bin/tkdc-sim"], cwd=BUILD,
                              check=True, capture_output=True, text=True)
    link = commands.stdout.strip().splitlines()[-1]
    words = shlex.split(link.removeprefix(": && ").removesuffix(" && :"))
    program = work / f"tkdc-sim-{name}"
    at = words.index("-o")
    words[at + 1] = str(program)
    subprocess.run([*words[:at], *planted, *words[at:]], cwd=BUILD, check=True)
    for one in planted:
        one.unlink()
    return program
