# SPDX-License-Identifier: Apache-2.0
"""An installation as its administrators make it: each member in a folder of its own, with `tkdc
init --party` and --agent, then `tkdc join` with the introductions of the others.

The servers listen on 127.0.0.1, .2 and .3, since no two may be on one host.
"""

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.realm import Realm

SERVERS = ("server0", "server1", "server2")
AGENTS = {"agent-kdc": "kdc", "agent-admin": "admin"}


@dataclass
class Administrators:
    """Makes members below `root` with this `tkdc`; `post` is where introductions are exchanged."""

    tkdc: Path
    root: Path
    realm: str
    base_port: int = 7700
    options: tuple[str, ...] = ()  # of the member that begins the installation
    fingerprints: dict[str, str] = field(default_factory=dict)

    @property
    def post(self) -> Path:
        return self.root / "post"

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess:
        return subprocess.run([str(self.tkdc), *arguments], input=stdin, text=True,
                              capture_output=True, timeout=60, check=False)

    def init(self, name: str, *arguments: str) -> str:
        """The introduction goes to the post; its fingerprint is what the administrator reads."""
        self.post.mkdir(parents=True, exist_ok=True)
        folder = self.root / name
        done = self.run("init", "--out", str(folder), *arguments)
        assert done.returncode == 0, done.stderr
        introduction = folder / f"{name}.introduction"
        shutil.copy(introduction, self.post)
        lines = done.stdout.splitlines()
        after = next(i for i, line in enumerate(lines) if line.startswith("Fingerprint of "))
        self.fingerprints[name] = lines[after + 2].strip()
        return done.stdout

    def init_server(self, party: int, *arguments: str, host: str = "") -> str:
        begins = ("--realm", self.realm, *self.options)
        joins = ("--installation", str(self.post / "server0.introduction"))
        return self.init(f"server{party}", "--party", str(party),
                         "--host", host or f"127.0.0.{party + 1}", "--base-port",
                         str(self.base_port), *(joins if party else begins), *arguments)

    def init_agent(self, name: str, role: str, *arguments: str) -> str:
        return self.init(name, "--agent", name, "--role", role, "--host", "127.0.0.9",
                         "--installation", str(self.post / "server0.introduction"), *arguments)

    def init_all(self) -> None:
        for party in range(3):
            self.init_server(party)
        for name, role in AGENTS.items():
            self.init_agent(name, role)

    def others(self, name: str) -> list[str]:
        wanted = [*SERVERS, *AGENTS] if name in SERVERS else list(SERVERS)
        return [other for other in wanted if other != name]

    def join(self, name: str, *files: Path, fingerprints: list[str] | None = None,
             options: tuple[str, ...] = (), stdin: str = "") -> subprocess.CompletedProcess:
        """With all that this member needs from the post, unless others are given."""
        paths = files or tuple(self.post / f"{one}.introduction" for one in self.others(name))
        if fingerprints is None:
            fingerprints = [self.fingerprints[one] for one in self.others(name)]
        confirm = [word for one in fingerprints for word in ("--confirm", one)]
        return self.run("join", "--folder", str(self.root / name), *confirm, *options,
                        *map(str, paths), stdin=stdin)

    def join_all(self) -> None:
        for name in (*SERVERS, *AGENTS):
            done = self.join(name)
            assert done.returncode == 0, done.stderr


class MembersRealm(Realm):
    """A realm on such an installation."""

    def _init_installation(self) -> None:
        options = ("--lanes", str(self.lanes))
        self.administrators = Administrators(self.bin / "tkdc", self.installation, self.name,
                                             self.ports.base, options)
        self.administrators.init_all()
        self.administrators.join_all()
