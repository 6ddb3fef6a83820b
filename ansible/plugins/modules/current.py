#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Restarts a unit that runs an older program or has read older files than there are now.

Handlers are lost when a play breaks off; what this looks at is not. So a half-done run is taken up
by the next one.
"""

import time
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: current
short_description: A unit that runs what is installed and configured
description: Restarts a running unit whose program or files are newer than its process.
options:
  unit: {description: The unit, type: str, required: true}
  files: {description: What it reads when it starts, type: list, elements: path, default: []}
author: tkdc maintainers
"""
EXAMPLES = r"""
- name: Have the server read its configuration
  tkdc.appliance.current: {unit: tkdc-server@server0.service, files: [/etc/tkdc/server0/tkdc.toml]}
"""
RETURN = r"""
reason: {description: Why it was restarted, returned: always, type: str}
"""


def properties(module: AnsibleModule) -> dict[str, str]:
    _status, said, _errors = module.run_command(
        ["systemctl", "show", "-p", "MainPID,ExecMainStartTimestampMonotonic,ActiveState",
         module.params["unit"]], check_rc=True)
    return dict(line.split("=", 1) for line in said.splitlines())


def reason_of(module: AnsibleModule, seen: dict[str, str]) -> str:
    age_s = time.monotonic() - int(seen["ExecMainStartTimestampMonotonic"]) / 1e6
    started_s = time.time() - age_s
    for path in map(Path, module.params["files"]):
        if path.exists() and path.stat().st_ctime > started_s:
            return f"{path} is newer"
    maps = Path("/proc") / seen["MainPID"] / "maps"
    for line in maps.read_text().splitlines():
        if " /usr/" in line and line.endswith("(deleted)"):
            return f"{line.split(maxsplit=5)[5]}: it runs the one of before"
    return ""


def main() -> None:
    module = AnsibleModule(
        argument_spec={"unit": {"type": "str", "required": True},
                       "files": {"type": "list", "elements": "path", "default": []}},
        supports_check_mode=True,
    )
    seen = properties(module)
    if seen["MainPID"] == "0":  # it will read all of it when it starts
        module.exit_json(changed=False, reason="")
    reason = reason_of(module, seen)
    if reason and not module.check_mode:
        module.run_command(["systemctl", "restart", module.params["unit"]], check_rc=True)
    module.exit_json(changed=bool(reason), reason=reason)


if __name__ == "__main__":
    main()
