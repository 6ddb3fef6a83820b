# SPDX-License-Identifier: Apache-2.0
"""Builds tkdc-sim with a mistake planted in it: a patch of tests/sim/mutants.

The tree's own build stays as it is. The one object whose source is patched is compiled again, as
the build compiles it but faster, and linked in front of the libraries that have the right one.
"""

import json
import shlex
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/dev"
MUTANTS = ROOT / "tests/sim/mutants"
FASTER = {"-O2": "-O1", "-g1": "-g0", "-Werror": "-Wno-error"}


def names() -> list[str]:
    return sorted(path.stem for path in MUTANTS.glob("*.patch"))


def patched_file(name: str) -> str:
    patch = (MUTANTS / f"{name}.patch").read_text()
    return next(line.split()[1].removeprefix("b/") for line in patch.splitlines()
                if line.startswith("+++ "))


def patched(name: str, work: Path) -> Path:
    """The source with the mistake in it, under work."""
    source = patched_file(name)
    out = work / f"{name}-{Path(source).name}"
    subprocess.run(["patch", "-p1", "--quiet", "-o", out, "-i", MUTANTS / f"{name}.patch"],
                   cwd=ROOT, check=True)
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


def compile_patched(name: str, work: Path) -> Path:
    source = patched_file(name)
    mistaken = patched(name, work)
    one = compiled_in(source)
    if one["file"] != str(ROOT / source):
        unity = work / f"{name}-unity.cc"
        text = Path(one["file"]).read_text()
        unity.write_text(text.replace(f'"{ROOT / source}"', f'"{mistaken}"'))
        mistaken = unity
    out = work / f"{name}.o"
    words = [FASTER.get(word, word) for word in shlex.split(one["command"])]
    words[words.index("-o") + 1] = str(out)
    words[words.index("-c") + 1] = str(mistaken)
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
    subprocess.run([*words[:at], planted, *words[at:]], cwd=BUILD, check=True)
    planted.unlink()
    return program
