# SPDX-License-Identifier: Apache-2.0
"""The programs of earlier releases, which tests/previous_release names by version and commit, the
latest first: built from the repository's own history, once, outside the checkout (in
~/.cache/tkdc/previous, or below XDG_CACHE_HOME). For tests with little optimisation, which takes
half the compiler's time; for benchmarks as `make build` builds."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("tkdc", "tkdc-server", "tkdc-agent", "tkdc-k5", "ktkdc")
JOBS = os.environ.get("JOBS") or str(os.cpu_count() or 2)


class NoHistoryError(Exception):
    """What to fetch."""


def releases() -> list[tuple[str, str]]:
    """Version and commit of each: first the one whose servers work together with these, last the
    oldest one whose state these programs open."""
    lines = (ROOT / "tests" / "previous_release").read_text().splitlines()
    return [(line.split()[0], line.split()[1]) for line in lines]


def binaries(release: tuple[str, str], optimised: bool = False) -> Path:
    version, commit = release
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "tkdc" / "previous" / (commit if optimised else f"{commit}-quick")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "bin").is_dir():
            _build(folder, version, commit, optimised)
    return folder / "bin"


def _git(*arguments: str, **more) -> subprocess.CompletedProcess:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=False,
                          **more)


def _build(folder: Path, version: str, commit: str, optimised: bool) -> None:
    if _git("cat-file", "-e", f"{commit}^{{commit}}").returncode != 0:
        raise NoHistoryError(f"the history here does not reach release {version}: "
                        f"`git fetch --unshallow`, or `git fetch origin {commit}`")
    source, build = folder / "source", folder / "build"
    for old in (source, build):
        shutil.rmtree(old, ignore_errors=True)
    source.mkdir()
    archive = _git("archive", commit)
    subprocess.run(["tar", "-x", "-C", str(source)], input=archive.stdout, check=True)
    # A kind that its CMakeLists.txt does not know, whose flags can be given here.
    kind = ["-DCMAKE_BUILD_TYPE=RelWithDebInfo"] if optimised else [
        "-DCMAKE_BUILD_TYPE=Quick", "-DCMAKE_C_FLAGS_QUICK=-O1 -w",
        "-DCMAKE_CXX_FLAGS_QUICK=-O1 -w --param=ggc-min-heapsize=524288"]
    for step in (["cmake", "-S", str(source), "-B", str(build), "-G", "Ninja", *kind,
                  "-DCMAKE_UNITY_BUILD=ON", f"-DTKDC_COMMIT={commit[:12]}"],
                 ["cmake", "--build", str(build), "-j", JOBS, "--target", *PROGRAMS]):
        done = subprocess.run(step, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"release {version} ({commit}) is not built: {done.stdout[-4000:]}"
                               f"{done.stderr[-4000:]}")
    (build / "bin").rename(folder / "bin")
    for made in (source, build):
        shutil.rmtree(made)
