# SPDX-License-Identifier: Apache-2.0
"""What packages make on a host and leave there by Debian's policy, the collection takes away: users
and groups, by the words of its own task. That nothing else is left `make rollout-test` looks at."""

import re

import yaml

from tests.support.clients import ROOT

TASKS = ROOT / "ansible" / "roles" / "packages" / "tasks" / "uninstall.yml"


def made() -> dict[str, set[str]]:
    """Users, who have a group of their name each, and groups."""
    lines = [line.split() for path in (ROOT / "config").glob("*.sysusers.conf")
             for line in path.read_text().splitlines() if line[:2] in ("u ", "g ")]
    users = {line[1] for line in lines if line[0] == "u"}
    return {"user": users, "group": users | {line[1] for line in lines if line[0] == "g"}}


def test_each_user_and_group_of_the_packages_is_removed():
    words = next(task for task in yaml.safe_load(TASKS.read_text())
                 if task["name"] == "Remove the services' users and groups"
                 )["ansible.builtin.shell"]["cmd"]
    assert "tkdc-monitor" in made()["group"], "the control: that is one"
    for kind, names in made().items():
        removed = re.search(rf"for {kind} in ([^;]+); do", words)[1].split()
        assert set(removed) == names
