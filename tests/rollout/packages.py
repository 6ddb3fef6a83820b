# SPDX-License-Identifier: Apache-2.0
"""Packages of a commit in a signed repository, built once and kept outside the tree.

What is not committed does not go in (config/debian/make). The key that signs is drawn for each
repository and forgotten with the run that built it: hosts get its public half by SSH.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.rollout import lab

ROOT = Path(__file__).resolve().parents[2]
# What packages are made of. A commit that changes nothing of it has the packages of the one before.
SOURCES = ("CMakeLists.txt", "CMakePresets.json", "mpc-engine", "kdc-plugin", "circuits", "cuda",
           "config", "tests/storm", "docs/man", "docs/operations.md", "docs/operations",
           "LICENSE")


def cache() -> Path:
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "tkdc-rollout"
    return Path(os.environ.get("TKDC_ROLLOUT_CACHE", default))


def git(*argv: str) -> str:
    return subprocess.run(["git", *argv], cwd=ROOT, check=True, capture_output=True,
                          text=True).stdout.strip()


def last_change(commit: str) -> str:
    """The last commit up to this one that could change a package."""
    present = [name for name in SOURCES if git("ls-tree", "--name-only", commit, name)]
    return git("rev-list", "-1", commit, "--", *present)


def previous_change(commit: str) -> str:
    return last_change(f"{last_change(commit)}^")


class Signer:
    """With a key of its own, which is gone when it is closed."""

    def __init__(self) -> None:
        self.home = tempfile.TemporaryDirectory()
        self.env = {**os.environ, "GNUPGHOME": self.home.name}
        subprocess.run(["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key",
                        "rollout@tkdc.invalid", "ed25519", "sign"], env=self.env, check=True)

    def sign(self, packages: Path, out: Path) -> None:
        subprocess.run([ROOT / "config" / "debian" / "repository", "rollout@tkdc.invalid",
                        str(packages), str(out)], env=self.env, check=True,
                       stdout=subprocess.DEVNULL)

    def close(self) -> None:
        subprocess.run(["gpgconf", "--kill", "all"], env=self.env, check=False)
        self.home.cleanup()


def sign(packages: Path, out: Path) -> None:
    signer = Signer()
    try:
        signer.sign(packages, out)
    finally:
        signer.close()


def environment() -> dict[str, str]:
    """With a cache of compiled files where there is one: two commits have most in common."""
    launcher = shutil.which("ccache")
    if launcher is None:
        return dict(os.environ)
    return {"CMAKE_C_COMPILER_LAUNCHER": launcher, "CMAKE_CXX_COMPILER_LAUNCHER": launcher,
            **os.environ}


def build(commit: str, out: Path) -> None:
    """In a checkout of its own, so that the tree that is worked in stays as it is."""
    tree = out.with_suffix(".tree")
    shutil.rmtree(tree, ignore_errors=True)
    subprocess.run(["git", "clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(tree)],
                   check=True)
    subprocess.run(["git", "-C", str(tree), "checkout", "--quiet", commit], check=True)
    try:
        # Under one name for all commits: a cache of compiled files knows paths.
        packages = out.parent / "building"
        subprocess.run(["config/debian/make", str(packages)], cwd=tree,
                       env=environment(), check=True)
        sign(packages, out)
        shutil.rmtree(packages)
    finally:
        shutil.rmtree(tree, ignore_errors=True)


def repository(commit: str = "HEAD") -> Path:
    """The folder with the packages of this commit, built if nobody has yet."""
    name = last_change(commit)[:12]
    out = cache() / f"packages-{name}"
    out.parent.mkdir(parents=True, exist_ok=True)
    with open(cache() / "packages.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not out.exists():
            build(name, out)
    return out


def repositories(with_former: bool) -> list[Path]:
    """What is installed, and what it is upgraded to: of the commit before this one's packages, and
    of this one. TKDC_ROLLOUT_REPOSITORY names them, of a `make repository` before: FOLDER or
    FOLDER:NEWER."""
    if made := os.environ.get("TKDC_ROLLOUT_REPOSITORY"):
        return [Path(folder) for folder in made.split(":")]
    former = [repository(previous_change("HEAD"))] if with_former else []
    return [*former, repository()]


if __name__ == "__main__":
    print(lab.missing() or repository())
