# SPDX-License-Identifier: Apache-2.0
"""A file system of two MiB in memory, which a test fills up, and a realm one of whose servers has
it for its audit log. A server's store may lie on one, too. Mounting it takes root."""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

from tests.support.realm import Realm


def as_root(*argv: str) -> None:
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    subprocess.run([*sudo, *argv], check=True, timeout=60)


class SmallDisk:
    def __init__(self, folder: Path):
        self.folder = folder

    def mount(self) -> None:
        self.folder.mkdir()
        as_root("mount", "-t", "tmpfs", "-o", f"size=2m,mode=0700,uid={os.geteuid()}", "tkdc-test",
                str(self.folder))

    def unmount(self) -> None:
        if os.path.ismount(self.folder):
            as_root("umount", str(self.folder))

    def fill(self, room: int = 0) -> None:
        """But for so many octets."""
        with (self.folder / "ballast").open("wb", buffering=0) as out:
            with contextlib.suppress(OSError):
                while out.write(b"x" * 4096) == 4096:
                    pass
            out.truncate(max(0, out.tell() - room))

    def hold_store(self, server: Path) -> None:
        """Of a server that is not there yet, or stopped: it is moved."""
        config, store = server / "tkdc.toml", server / "store"
        if store.exists():
            shutil.move(store, self.folder)
        text = config.read_text()
        assert text.count('path = "store"') == 1
        config.write_text(text.replace('path = "store"', f'path = "{self.folder}/store"'))

    def make_room(self) -> None:
        (self.folder / "ballast").unlink()


class SmallDiskRealm(Realm):
    full = 1  # the server

    def create(self) -> None:
        super().create()
        self.disk.mount()
        self.use_disk()

    def use_disk(self) -> None:
        config = self.server_directory(self.full) / "tkdc.toml"
        text = config.read_text()
        assert text.count('file = "audit.jsonl"') == 1
        config.write_text(text.replace('file = "audit.jsonl"',
                                       f'file = "{self.disk.folder}/audit.jsonl"'))

    def stop(self) -> None:
        super().stop()
        self.disk.unmount()

    @property
    def disk(self) -> SmallDisk:
        return SmallDisk(self.directory / "small")
