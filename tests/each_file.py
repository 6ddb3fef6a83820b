# SPDX-License-Identifier: Apache-2.0
"""Each file of the product compiles on its own.

    python3 -m tests.each_file [JOBS]

Builds join several sources into one, where a file finds what another one has included. Here the
compiler reads each by itself (-fsyntax-only), and headers too, but for those that a source
includes before anything else. Where a source asserts something it is read with assertions and
without. Ninja runs it, in build/each: what has not changed is not read again.

Tests are joined in every build, so they are not read; clang-tidy reads each (`make lint`).
"""

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ALONE = ROOT / "build" / "tidy"  # where each source stands alone, as clang-tidy has it
# Package.* builds the examples, a source each.
ELSEWHERE = ("examples/", "tests/")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.MULTILINE)
ASSERTS = re.compile(r"\bassert\(")  # and no static_assert
# Dependencies for ninja. Headers seldom use all that they define.
RULES = """\
rule read
  command = $compile -MD -MT $out -MF $out.d && touch $out
  depfile = $out.d
  deps = gcc
  description = $out
"""

@dataclass(frozen=True)
class Source:
    path: Path
    flags: tuple[str, ...]  # the compiler and what decides how it reads

    @property
    def search(self) -> tuple[Path, ...]:
        return tuple(Path(flag[2:]) for flag in self.flags if flag.startswith("-I"))


def parse(entry: dict) -> Source:
    words = shlex.split(entry["command"])
    at = words.index("-o")
    del words[at:at + 2]
    words.remove("-c")
    words.remove(entry["file"])
    flags = [word for word in words if not word.startswith("-O")]
    return Source(Path(entry["file"]), tuple(flags))


@cache
def text(path: Path) -> str:
    return path.read_text()


@cache
def includes(path: Path, search: tuple[Path, ...]) -> tuple[Path, ...]:
    """What stands there, in order; a header of the system by its relative name."""
    found = []
    for name in INCLUDE.findall(text(path)):
        candidates = [folder / name for folder in (path.parent, *search)]
        here = (Path(os.path.normpath(c)) for c in candidates if c.is_file())
        found.append(next(here, Path(name)))
    return tuple(found)


@cache
def closure(path: Path, search: tuple[Path, ...]) -> frozenset[Path]:
    """The file and all that it reads."""
    seen: set[Path] = set()
    ahead = [path]
    while ahead:
        at = ahead.pop()
        if at not in seen:
            seen.add(at)
            ahead += includes(at, search) if at.is_absolute() else ()
    return frozenset(seen)


def readers(sources: list[Source]) -> dict[Path, Source]:
    """For each header a source that reads it, so that its flags suffice."""
    found: dict[Path, Source] = {}
    for source in sources:
        for path in closure(source.path, source.search):
            found.setdefault(path, source)
    return found


def first_includes(sources: list[Source]) -> set[Path]:
    return {path for source in sources for path in includes(source.path, source.search)[:1]}


def command(source: Source, path: Path, asserts: bool = True) -> str:
    words = [*source.flags, "-O0", "-fsyntax-only"]
    if not asserts:
        words.append("-DNDEBUG")
    if path.suffix == ".h":
        language = "c" if source.path.suffix == ".c" else "c++"
        # Not as the main file, of which it would be said that #pragma once stands in it.
        words += ["-Wno-unused", "-x", language, "-include", str(path), os.devnull]
    else:
        words.append(str(path))
    return shlex.join(words)


def to_read(files: list[Path], sources: list[Source]) -> dict[Path, Source]:
    """Files and the sources whose flags suit them, but for headers that a source includes first."""
    own = {source.path: source for source in sources}
    first = first_includes(sources)
    reader = readers(sources)
    chosen = {}
    for path in files:
        if path in first:
            continue
        near = [source for source in sources if source.path.parent == path.parent]
        chosen[path] = own.get(path) or reader.get(path) or (near[0] if near else None)
    unknown = [str(path) for path, source in chosen.items() if source is None]
    if unknown:
        raise SystemExit("each: no source includes or neighbours these: " + ", ".join(unknown))
    return chosen


def escaped(value: str) -> str:
    return value.replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def write_ninja(folder: Path, chosen: dict[Path, Source], root: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [RULES]
    for path, source in chosen.items():
        ways = (True, False) if ASSERTS.search(text(path)) else (True,)
        for asserts in ways:
            name = f"{path.relative_to(root)}{'' if asserts else '.release'}.read"
            compile_ = command(source, path, asserts).replace("$", "$$")
            lines.append(f"build {escaped(name)}: read {escaped(str(path))}\n"
                         f"  compile = {compile_}\n")
    (folder / "build.ninja").write_text("\n".join(lines))


def read_each(folder: Path, chosen: dict[Path, Source], root: Path, jobs: str = "2") -> int:
    write_ninja(folder, chosen, root)
    return subprocess.run(["ninja", "--quiet", "-C", folder, "-j", jobs, "-k", "0"]).returncode


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z", "--", "*.c", "*.cc", "*.h"], cwd=ROOT,
                            capture_output=True, check=True)
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if is_read(path) and path.is_file()]


def is_read(path: Path) -> bool:
    """Sources that a build has joined or generated stand below build/."""
    name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""
    return bool(name) and not name.startswith((*ELSEWHERE, "build/"))


def generate(jobs: str) -> int:
    """Headers that the build makes."""
    configured = subprocess.run(["cmake", "--preset", "tidy"], cwd=ROOT).returncode
    return configured or subprocess.run(
        ["cmake", "--build", "--preset", "tidy", "-j", jobs], cwd=ROOT).returncode


def main() -> int:
    jobs = sys.argv[1] if len(sys.argv) > 1 else "2"
    if generate(jobs):
        return 1
    entries = json.loads((ALONE / "compile_commands.json").read_text())
    sources = [source for source in map(parse, entries) if is_read(source.path)]
    chosen = to_read(tracked(), sources)
    status = read_each(ROOT / "build" / "each", chosen, ROOT, jobs)
    headers = sum(path.suffix == ".h" for path in chosen)
    sys.stdout.write(f"each: {'FAILED' if status else 'ok'}: "
                     f"{len(chosen) - headers} sources and {headers} headers\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
