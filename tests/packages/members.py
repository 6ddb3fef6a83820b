# SPDX-License-Identifier: Apache-2.0
"""The members of an installation on one host, by the commands of docs/operations.md."""

import re

SERVERS = ("server0", "server1", "server2")
AGENTS = {"agent-kdc": "kdc", "agent-admin": "admin"}
REALM = "EXAMPLE.TEST"


def fingerprint_of(said: str) -> str:
    return re.search(r"^  ((?:[0-9a-f]{4}-){7}[0-9a-f]{4})$", said, re.M).group(1)


def initialise(host) -> dict[str, str]:
    """Each member's fingerprint."""
    said = {}
    host.run("mkdir post")
    for party in range(3):
        which = (f"--realm {REALM}" if party == 0 else
                 "--installation post/server0.introduction")
        said[f"server{party}"] = host.run(
            f"tkdc init --party {party} --out /etc/tkdc/server{party} "
            f"--host 127.0.0.{party + 1} {which}").stdout
        host.run(f"cp /etc/tkdc/server{party}/server{party}.introduction post/")
    for name, role in AGENTS.items():
        said[name] = host.run(f"tkdc init --agent {name} --role {role} --out /etc/tkdc/{name} "
                              "--host 127.0.0.9 --installation post/server0.introduction").stdout
        host.run(f"cp /etc/tkdc/{name}/{name}.introduction post/")
    return {name: fingerprint_of(text) for name, text in said.items()}


def join_all(host, prints: dict[str, str]) -> None:
    """And each of the commands that it prints."""
    for name in (*SERVERS, *AGENTS):
        others = [one for one in prints
                  if one != name and (name in SERVERS or one in SERVERS)]
        files = " ".join(f"post/{one}.introduction" for one in others)
        confirm = " ".join(f"--confirm {prints[one]}" for one in others)
        done = host.run(f"tkdc join --folder /etc/tkdc/{name} {confirm} {files}").stdout
        commands = [line.strip() for line in done.split("Next:")[1].splitlines() if line.strip()]
        assert len(commands) == 3
        for command in commands:
            host.run(command)
