#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Makes one member of an installation on its own host, by `tkdc init`; returns its introduction.

The introduction and its fingerprint are public. Everything else that `tkdc init` makes stays on the
host: this module neither reads nor returns it.
"""

import hashlib
import tempfile
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: member
short_description: One member of a tkdc installation
description: Runs C(tkdc init) once, and returns the member's public introduction.
options:
  name: {description: The member's name, type: str, required: true}
  folder: {description: Where its files are, type: path, required: true}
  host: {description: How the other members reach this host, type: str, required: true}
  party: {description: A server's number, type: int, choices: [0, 1, 2]}
  role: {description: An agent's role, type: str, choices: [kdc, admin]}
  realm: {description: Begins an installation of this realm, type: str}
  installation: {description: Text of a server's introduction, type: str}
  settings: {description: More options of tkdc init, type: dict, default: {}}
author: tkdc maintainers
"""
EXAMPLES = r"""
- name: Make server 0
  tkdc.appliance.member:
    {name: server0, folder: /etc/tkdc/server0, party: 0, host: 10.0.1.5, realm: EXAMPLE.TEST}
"""
RETURN = r"""
introduction: {description: Its introduction, returned: always, type: str}
fingerprint: {description: The introduction's, returned: always, type: str}
"""
# Of a realm on three servers, and on two.
TITLES = ("tkdc-introduction 1\n", "tkdc-introduction 2\n")
LABEL = b"tkdc introduction fingerprint 1"


def fingerprint(text: str) -> str:
    """As `tkdc init` prints it: the first half of BLAKE2b under a label, in groups of four."""
    digits = hashlib.blake2b(text.encode(), key=LABEL, digest_size=32).hexdigest()[:32]
    return "-".join(digits[i:i + 4] for i in range(0, 32, 4))


def host_of(text: str) -> str:
    return next((line[5:] for line in text.splitlines() if line.startswith("host ")), "")


def command_for(parameters: dict, installation: str) -> list[str]:
    out = ["tkdc", "init", "--out", parameters["folder"], "--host", parameters["host"]]
    if parameters["party"] is not None:
        out += ["--party", str(parameters["party"])]
    else:
        out += ["--agent", parameters["name"], "--role", parameters["role"]]
    out += ["--installation", installation] if installation else ["--realm", parameters["realm"]]
    for option, value in parameters["settings"].items():
        out += [f"--{option.replace('_', '-')}", str(value)]
    return out


def make(module: AnsibleModule) -> None:
    given = module.params["installation"]
    with tempfile.NamedTemporaryFile("w", suffix=".introduction") as file:
        file.write(given or "")
        file.flush()
        status, said, errors = module.run_command(
            command_for(module.params, file.name if given else ""))
    if status != 0:
        module.fail_json(msg=errors.strip() or said.strip(), rc=status)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "folder": {"type": "path", "required": True},
            "host": {"type": "str", "required": True},
            "party": {"type": "int", "choices": [0, 1, 2]},
            "role": {"type": "str", "choices": ["kdc", "admin"]},
            "realm": {"type": "str"},
            "installation": {"type": "str"},
            "settings": {"type": "dict", "default": {}},
        },
        mutually_exclusive=[("party", "role"), ("realm", "installation")],
        required_one_of=[("party", "role"), ("realm", "installation")],
        supports_check_mode=True,
    )
    name = module.params["name"]
    path = Path(module.params["folder"]) / f"{name}.introduction"
    changed = not path.exists()
    if changed and not module.check_mode:
        make(module)
    # Of keys that are drawn and not in use yet: what the other members are to know.
    following = path.parent / "next" / path.name
    if following.exists():
        path = following
    text = path.read_text() if path.exists() else ""
    if text and not text.startswith(TITLES):  # a link in the service's folder, say
        module.fail_json(msg=f"{path} is no introduction; see who put it there")
    if text and host_of(text) != module.params["host"]:
        module.fail_json(msg=f"{path} was made for host {host_of(text)}, and the inventory says "
                             f"{module.params['host']}: the other members know it by the former")
    module.exit_json(changed=changed, introduction=text,
                     fingerprint=fingerprint(text) if text else "")


if __name__ == "__main__":
    main()
