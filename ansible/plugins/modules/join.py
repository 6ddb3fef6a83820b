#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Joins a member to the others by `tkdc join`, and keeps its configuration as that and the
inventory's settings say.

`tkdc join` writes beside the file in use, as the service's user. With the settings put in, the
service's own --check-config reads the result before it takes the place of the former. What is not
there yet, introductions or fingerprints, is returned and nothing is changed: an installation waits
for its people.

The folder is the service's, and this runs as root: no link in it is followed, and nothing in it is
given to the service that somebody else made by another name.
"""

import contextlib
import os
import pwd
import shutil
import stat
import tempfile
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: join
short_description: Configuration of a member of a tkdc installation
description: Confirms the other members' introductions and writes tkdc.toml or agent.toml.
options:
  name: {description: The member's name, type: str, required: true}
  folder: {description: Where its files are, type: path, required: true}
  daemon: {description: What runs it, type: str, required: true, choices: [tkdc-server, tkdc-agent]}
  members: {description: Names of all that must be known, type: list, elements: str, required: true}
  introductions: {description: Texts by name, type: dict, required: true}
  fingerprints: {description: As they were read to you, type: dict, required: true}
  settings: {description: Tables of its configuration, type: dict, default: {}}
  forget_former:
    description: Members that have made their keys anew are known by the new ones alone
    type: bool
    default: false
author: tkdc maintainers
"""
EXAMPLES = r"""
- name: Join server 0
  tkdc.appliance.join:
    name: server0
    folder: /etc/tkdc/server0
    daemon: tkdc-server
    members: [server0, server1, server2, kdc0-kdc, kdc0-admin]
    introductions: "{{ introductions }}"
    fingerprints: "{{ tkdc_fingerprints }}"
    settings: {data: {masked_blocks: 128}}
"""
RETURN = r"""
waiting: {description: What is missing; nothing was changed then, returned: always, type: list}
"""


def toml_value(value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return "[" + ", ".join(toml_value(one) for one in value) + "]"
    text = str(value)
    if text.isdigit():  # what came through a template
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def with_settings(text: str, settings: dict) -> str:
    """A table's keys go behind its heading, in the place of what stands there; lists of tables to
    the end."""
    lines = text.splitlines()
    for table, keys in settings.items():
        if isinstance(keys, list):
            for one in keys:
                lines += ["", f"[[{table}]]", *(f"{k} = {toml_value(v)}" for k, v in one.items())]
            continue
        if f"[{table}]" not in lines:
            lines += ["", f"[{table}]"]
        first = lines.index(f"[{table}]") + 1
        end = next((i for i in range(first, len(lines)) if lines[i].startswith("[")), len(lines))
        kept = [line for line in lines[first:end] if line.split(" = ")[0] not in keys]
        lines[first:end] = [*(f"{k} = {toml_value(v)}" for k, v in keys.items()), *kept]
    return "\n".join(lines) + "\n"


class NotOursError(Exception):
    """Something in the service's folder that is no file or folder of its own."""


class Folder:
    """A folder by its descriptor, so that no name in it can lead elsewhere."""

    def __init__(self, path: Path):
        self.path = path
        self.fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)

    def read(self, *names: str) -> str | None:
        """None: there is no such file. The last of the names is the file's."""
        at = os.dup(self.fd)
        try:
            for name in names[:-1]:
                below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
                os.close(at)
                at = below
            fd = os.open(names[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise NotOursError(f"{self.path}/{'/'.join(names)}: {error.strerror}") from error
        finally:
            os.close(at)
        with os.fdopen(fd) as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise NotOursError(f"{self.path}/{'/'.join(names)} is no file")
            return file.read()

    def write(self, name: str, text: str, owner: pwd.struct_passwd) -> None:
        """A file of this name that nobody else has open, in the place of what had it."""
        self.remove(name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(name, flags, 0o600, dir_fd=self.fd), "w") as file:
            file.write(text)
            os.fchown(file.fileno(), owner.pw_uid, owner.pw_gid)

    def remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.fd)  # noqa: PTH108 (Path knows no folder's descriptor)

    def replace(self, name: str, by: str) -> None:
        os.replace(by, name, src_dir_fd=self.fd, dst_dir_fd=self.fd)  # noqa: PTH105

    def own_all(self, owner: pwd.struct_passwd) -> None:
        """Of what is root's here, since a person put it here."""
        os.fchown(self.fd, owner.pw_uid, owner.pw_gid)
        for path, folders, files, fd in os.fwalk(".", dir_fd=self.fd, follow_symlinks=False):
            for name in folders + files:
                at = os.stat(name, dir_fd=fd, follow_symlinks=False)  # noqa: PTH116
                if at.st_uid == owner.pw_uid:
                    continue
                if stat.S_ISREG(at.st_mode):
                    self.own_file(name, fd, owner)
                elif stat.S_ISDIR(at.st_mode):
                    os.chown(name, owner.pw_uid, owner.pw_gid, dir_fd=fd, follow_symlinks=False)
                else:
                    raise NotOursError(f"{self.path / path / name} is neither a file nor a folder")

    def own_file(self, name: str, fd: int, owner: pwd.struct_passwd) -> None:
        """What is looked at is what is given away."""
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=fd)
        try:
            at = os.fstat(file)
            if not stat.S_ISREG(at.st_mode) or at.st_nlink != 1:
                raise NotOursError(f"{self.path}: {name} has another name elsewhere")
            os.fchown(file, owner.pw_uid, owner.pw_gid)
        finally:
            os.close(file)


class Member:
    def __init__(self, module: AnsibleModule):
        self.module, given = module, module.params
        self.folder, self.daemon = Path(given["folder"]), given["daemon"]
        self.kind = "tkdc.toml" if self.daemon == "tkdc-server" else "agent.toml"
        self.config = self.folder / self.kind
        self.others = [name for name in given["members"] if name != given["name"]]
        if self.daemon == "tkdc-agent":
            self.others = [name for name in self.others if name.startswith("server")]

    def owner(self) -> pwd.struct_passwd:
        return pwd.getpwnam(self.daemon)

    def read(self, *names: str) -> str | None:
        with Folder(self.folder) as folder:
            return folder.read(*names)

    def is_confirmed(self, name: str) -> bool:
        text = self.read("introductions", f"{name}.introduction")
        return text is not None and text == self.module.params["introductions"].get(name)

    def forgets(self) -> bool:
        """Whether there is something to be forgotten, and it is to be."""
        return self.module.params["forget_former"] and any(
            self.read("introductions", "former", f"{name}.introduction") for name in self.others)

    def waiting(self) -> list[str]:
        given = self.module.params
        out = [f"the introduction of {name}" for name in self.others
               if not given["introductions"].get(name)]
        return out + [f"the fingerprint of {name}" for name in self.others
                      if given["introductions"].get(name) and not given["fingerprints"].get(name)
                      and not self.is_confirmed(name)]

    def run(self, command: list[str]) -> None:
        status, said, errors = self.module.run_command(
            ["runuser", "-u", self.daemon, "--", *command], cwd="/")
        if status != 0:
            self.module.fail_json(msg=errors.strip() or said.strip(), rc=status)

    def joined(self) -> str:
        """What `tkdc join` writes now. Confirmed introductions are kept in the folder by it."""
        given, scratch = self.module.params, Path(tempfile.mkdtemp(prefix="tkdc-join-", dir="/run"))
        owner = self.owner()
        try:
            command = ["tkdc", "join", "--folder", str(self.folder), "--out", str(scratch / "out")]
            if self.forgets():
                command.append("--forget-former")
            with Folder(scratch) as folder:
                for name in self.others:
                    if not self.is_confirmed(name):
                        command += ["--confirm", given["fingerprints"][name]]
                    folder.write(f"{name}.introduction", given["introductions"][name], owner)
                    command.append(str(scratch / f"{name}.introduction"))
                os.fchown(folder.fd, owner.pw_uid, owner.pw_gid)
                self.run(command)
                return folder.read("out") or ""
        finally:
            shutil.rmtree(scratch)

    def replace(self, text: str) -> None:
        new = f"{self.kind}.new"
        with Folder(self.folder) as folder:
            folder.write(new, text, self.owner())
            try:
                self.run([self.daemon, "--config", str(self.folder / new), "--check-config"])
                folder.replace(self.kind, by=new)
            finally:
                folder.remove(new)
        self.tell_systemd()

    def tell_systemd(self) -> None:
        """Its credentials, and whom it may talk to: the unit's template cannot know them."""
        for command in (["tkdc", "unit", "--config", str(self.config)],
                        ["systemctl", "daemon-reload"]):
            status, said, errors = self.module.run_command(command)
            if status != 0:
                self.module.fail_json(msg=errors.strip() or said.strip(), rc=status)

    def own_all(self) -> None:
        with Folder(self.folder) as folder:
            folder.own_all(self.owner())


def settle(module: AnsibleModule, member: Member) -> None:
    before = member.read(member.kind) or ""
    known = all(member.is_confirmed(name) for name in member.others)
    if module.check_mode and (not known or member.forgets()):
        module.exit_json(changed=True, waiting=[])
    if not module.check_mode:
        member.own_all()
    after = with_settings(member.joined(), module.params["settings"])
    if after != before and not module.check_mode:
        member.replace(after)
    module.exit_json(changed=after != before or not known, waiting=[],
                     diff={"before": before, "after": after})


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "folder": {"type": "path", "required": True},
            "daemon": {"type": "str", "required": True, "choices": ["tkdc-server", "tkdc-agent"]},
            "members": {"type": "list", "elements": "str", "required": True},
            "introductions": {"type": "dict", "required": True},
            "fingerprints": {"type": "dict", "required": True},
            "settings": {"type": "dict", "default": {}},
            "forget_former": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    member = Member(module)
    introduction = member.folder / f"{module.params['name']}.introduction"
    if module.check_mode and not introduction.exists():
        module.exit_json(changed=True, waiting=[])
    try:
        if waiting := member.waiting():
            module.exit_json(changed=False, waiting=waiting)
        settle(module, member)
    except (NotOursError, OSError) as error:
        module.fail_json(msg=f"{error}: it was not followed; see who put it there")


if __name__ == "__main__":
    main()
