# SPDX-License-Identifier: Apache-2.0
"""Looks at an inventory's variables, on the controller: no host is asked and none is changed.

playbooks/preflight.yml runs it on all hosts of the inventory before anything else. It fails on a
variable that a host's roles need and that is missing or of another type, as the roles' argument
specs have them; and on the name of a variable or a group that nobody reads. It reads no value but
to see its type, and repeats none but such as are of a wrong one.
"""

import difflib
from pathlib import Path

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.plugins.action import ActionBase

ROLES = Path(__file__).resolve().parents[2] / "roles"
# What a host of a group is installed by.
GROUPS = {"tkdc_servers": ("server",), "tkdc_kdcs": ("kdc", "agent"), "tkdc_storms": ("storm",)}


def nearest(name: str, names: set[str]) -> str:
    """By two thirds of its letters at least, behind what all have: one further away is no help."""
    own = {one.removeprefix("tkdc_"): one for one in names}
    near = difflib.get_close_matches(name.removeprefix("tkdc_"), sorted(own), 1, 2 / 3)
    return f"did you mean {own[near[0]]}?" if near else "ansible/README.md lists those there are"


class ActionModule(ActionBase):
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        wrong = self.wrong(task_vars)
        result["changed"] = False
        if wrong:
            result.update(failed=True, msg=[*wrong, "Nothing was changed on any host"])
        return result

    def specs(self, role: str) -> dict:
        path = ROLES / role / "meta" / "argument_specs.yml"
        return self._loader.load_from_file(str(path))["argument_specs"]

    def wrong(self, task_vars: dict) -> list[str]:
        groups = {name for name in task_vars["groups"] if name.startswith("tkdc_")}
        out = [f"{name}: no such group; {nearest(name, set(GROUPS))}"
               for name in sorted(groups - set(GROUPS))]
        if not groups:
            out.append(f"no host is in one of the groups {', '.join(GROUPS)}")
        roles = [role for group, roles in GROUPS.items() if group in task_vars["group_names"]
                 for role in roles]
        if not roles:  # another host of the administrator's
            return out
        known = {name for path in ROLES.iterdir() for entry in self.specs(path.name).values()
                 for name in entry.get("options", {})}
        out += [f"{name}: no such variable; {nearest(name, known)}" for name in sorted(task_vars)
                if name.startswith("tkdc_") and name not in known]
        return out + self.missing_or_mistyped(roles, task_vars)

    def missing_or_mistyped(self, roles: list[str], task_vars: dict) -> list[str]:
        options = {name: option for role in roles
                   for name, option in self.specs(role)["main"]["options"].items()}
        given = {name: task_vars[name] for name in options if name in task_vars}
        found = ArgumentSpecValidator(options).validate(
            self._templar.template(given), validate_role_argument_spec=True)
        return list(found.error_messages)
