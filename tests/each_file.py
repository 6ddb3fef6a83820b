# SPDX-License-Identifier: Apache-2.0
"""Each file compiles on its own, and the programs that are installed as a release.

    python3 -m tests.each_file [JOBS]

The builds that run tests join several sources into one, where a file finds what another one
has included. Here the release's programs are built source by source. What they do not compile
the compiler only reads (-fsyntax-only), and headers too, but for those that a source includes
before anything else. Ninja runs it, in build/each: what has not changed is not read again.

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
RELEASE = ROOT / "build" / "release"
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
    output: str  # the object, as ninja names it
    flags: tuple[str, ...]  # the compiler and what decides how it reads

    @property
    def search(self) -> tuple[Path, ...]:
        return tuple(Path(flag[2:]) for flag in self.flags if flag.startswith("-I"))


def parse(entry: dict) -> Source:
    words = shlex.split(entry["command"])
    at = words.index("-o")
    output = words[at + 1]
    del words[at:at + 2]
    words.remove("-c")
    words.remove(entry["file"])
    # With assertions: the release's programs are compiled without.
    flags = [word for word in words if word != "-DNDEBUG" and not word.startswith("-O")]
    return Source(Path(entry["file"]), output, tuple(flags))


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


def command(source: Source, path: Path) -> str:
    words = [*source.flags, "-O0", "-fsyntax-only"]
    if path.suffix == ".h":
        language = "c" if source.path.suffix == ".c" else "c++"
        # Not as the main file, of which it would be said that #pragma once stands in it.
        words += ["-Wno-unused", "-x", language, "-include", str(path), os.devnull]
    else:
        words.append(str(path))
    return shlex.join(words)


def to_read(files: list[Path], sources: list[Source], compiled: set[str]) -> dict[Path, Source]:
    """Files that nothing has compiled on their own, each with the source whose flags suit it."""
    own = {source.path: source for source in sources}
    # Assertions are not read in a release, so these are read once more.
    done = {source.path for source in sources
            if source.output in compiled and not ASSERTS.search(text(source.path))}
    done |= first_includes(sources)
    reader = readers(sources)
    chosen = {}
    for path in files:
        if path in done:
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
        name = str(path.relative_to(root)) + ".read"
        compile_ = command(source, path).replace("$", "$$")
        lines.append(f"build {escaped(name)}: read {escaped(str(path))}\n  compile = {compile_}\n")
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


def build_programs(jobs: str) -> int:
    configured = subprocess.run(["cmake", "--preset", "release"], cwd=ROOT).returncode
    return configured or subprocess.run(
        ["cmake", "--build", "--preset", "release", "-j", jobs, "--target", "installed-programs",
         "--", "-k", "0"], cwd=ROOT).returncode


def compiled_objects() -> set[str]:
    listed = subprocess.run(["ninja", "-C", RELEASE, "-t", "inputs", "installed-programs"],
                            capture_output=True, check=True, text=True)
    return set(listed.stdout.splitlines())


def main() -> int:
    jobs = sys.argv[1] if len(sys.argv) > 1 else "2"
    if build_programs(jobs):
        return 1
    entries = json.loads((RELEASE / "compile_commands.json").read_text())
    sources = [source for source in map(parse, entries) if is_read(source.path)]
    chosen = to_read(tracked(), sources, compiled_objects())
    status = read_each(ROOT / "build" / "each", chosen, ROOT, jobs)
    headers = sum(path.suffix == ".h" for path in chosen)
    sys.stdout.write(f"each: {'FAILED' if status else 'ok'}: the release's programs, "
                     f"{len(chosen) - headers} more sources and {headers} headers\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
