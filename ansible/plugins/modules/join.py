#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Joins a member to the others by `tkdc join`, and keeps its configuration as that and the
inventory's settings say.

`tkdc join` writes beside the file in use, as the service's user. With the settings put in, the
service's own --check-config reads the result before it takes the place of the former. What is not
there yet, introductions or fingerprints, is returned and nothing is changed: an installation waits
for its people.
"""

import os
import pwd
import shutil
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


class Member:
    def __init__(self, module: AnsibleModule):
        self.module, given = module, module.params
        self.folder, self.daemon = Path(given["folder"]), given["daemon"]
        self.kind = "tkdc.toml" if self.daemon == "tkdc-server" else "agent.toml"
        self.config = self.folder / self.kind
        self.others = [name for name in given["members"] if name != given["name"]]
        if self.daemon == "tkdc-agent":
            self.others = [name for name in self.others if name.startswith("server")]

    def is_confirmed(self, name: str) -> bool:
        path = self.folder / "introductions" / f"{name}.introduction"
        return path.exists() and path.read_text() == self.module.params["introductions"].get(name)

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

    def own(self, path: Path) -> None:
        entry = pwd.getpwnam(self.daemon)
        os.chown(path, entry.pw_uid, entry.pw_gid)

    def joined(self) -> str:
        """What `tkdc join` writes now. Confirmed introductions are kept in the folder by it."""
        given, scratch = self.module.params, Path(tempfile.mkdtemp(prefix="tkdc-join-", dir="/run"))
        try:
            self.own(scratch)
            command = ["tkdc", "join", "--folder", str(self.folder), "--out", str(scratch / "out")]
            for name in self.others:
                if not self.is_confirmed(name):
                    command += ["--confirm", given["fingerprints"][name]]
                path = scratch / f"{name}.introduction"
                path.write_text(given["introductions"][name])
                self.own(path)
                command.append(str(path))
            self.run(command)
            return (scratch / "out").read_text()
        finally:
            shutil.rmtree(scratch)

    def replace(self, text: str) -> None:
        new = self.folder / f"{self.kind}.new"
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
        self.own(new)
        try:
            self.run([self.daemon, "--config", str(new), "--check-config"])
            new.replace(self.config)
        finally:
            new.unlink(missing_ok=True)
        self.tell_systemd()

    def tell_systemd(self) -> None:
        """Its credentials, and whom it may talk to: the unit's template cannot know them."""
        for command in (["tkdc", "unit", "--config", str(self.config)],
                        ["systemctl", "daemon-reload"]):
            status, said, errors = self.module.run_command(command)
            if status != 0:
                self.module.fail_json(msg=errors.strip() or said.strip(), rc=status)

    def own_all(self) -> None:
        for path in (self.folder, *self.folder.rglob("*")):
            if path.owner() != self.daemon:
                self.own(path)


def settle(module: AnsibleModule, member: Member) -> None:
    before = member.config.read_text() if member.config.exists() else ""
    known = all(member.is_confirmed(name) for name in member.others)
    if module.check_mode and not known:
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
        },
        supports_check_mode=True,
    )
    member = Member(module)
    if module.check_mode and not (member.folder / f"{module.params['name']}.introduction").exists():
        module.exit_json(changed=True, waiting=[])
    if waiting := member.waiting():
        module.exit_json(changed=False, waiting=waiting)
    settle(module, member)


if __name__ == "__main__":
    main()
