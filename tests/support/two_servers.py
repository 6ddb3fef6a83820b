# SPDX-License-Identifier: Apache-2.0
"""What the tests of a realm on two servers ask of its servers, and do with their folders."""

import json
import re
import shutil
import subprocess
from pathlib import Path

from tests.support.rebuild_key import rebuild_from


def tkdc(two, *words) -> subprocess.CompletedProcess:
    return subprocess.run([str(two.bin / "tkdc"), *map(str, words)], env=two.env(), text=True,
                          capture_output=True, timeout=60, check=False)


def config(two, party: int) -> Path:
    return two.server_directory(party) / "tkdc.toml"


def warned(two) -> list[bool]:
    said = json.loads(two.tool("tkdc", "status", "--json", "--config",
                               str(two.installation / "agent-admin" / "agent.toml")))
    return ["the only way back" in one.get("backup_warning", "") for one in said["servers"]]


def back_up(two, party: int) -> Path:
    made = tkdc(two, "backup", "make", "--config", config(two, party))
    assert made.returncode == 0, made.stderr
    return Path(made.stdout.partition(":")[0])


def restore(two, party: int, file: Path, *words) -> subprocess.CompletedProcess:
    key = two.directory / f"{party}.key"
    digest = re.search(r"digest +([0-9a-f]{64})",
                       tkdc(two, "backup", "verify", file, "--key", key).stdout)[1]
    return tkdc(two, "restore", file, "--key", key, "--into", two.server_directory(party),
                "--digest", digest, *words)


def lose(two, *parties: int) -> None:
    for party in parties:
        two.daemons[f"server{party}"].stop()
        shutil.rmtree(two.server_directory(party) / "store")


def servers_of(two) -> list[dict]:
    """What tkdc status says of each, also while it warns or one is away."""
    done = tkdc(two, "status", "--json", "--config",
                two.installation / "agent-admin" / "agent.toml")
    return json.loads(done.stdout)["servers"]


def pools_of(two, party: int) -> dict:
    return servers_of(two)[party]["pair"]


def given_up(two, party: int) -> int:
    log = two.daemons[f"server{party}"].log.read_text()
    return log.count("pools are not used any more")


def shares_of(two) -> list[dict]:
    return [one.get("shares", {}) for one in servers_of(two)]


def epochs(two) -> list[int]:
    return [one.get("refresh_epoch", -1) for one in shares_of(two)]


def refreshed_text(two, party: int) -> str:
    return tkdc(two, "shares", "status", "--config", config(two, party)).stdout


def stolen(two, party: int, name: str) -> str:
    """A copy of a server's folder: its configuration."""
    folder, copy = two.server_directory(party), two.directory / f"{name}{party}"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("*.sock"))
    text = (copy / "tkdc.toml").read_text().replace(str(folder), str(copy))
    (copy / "tkdc.toml").write_text(text)
    return str(copy / "tkdc.toml")


def keys_of(two, principals: tuple, *words: str) -> set:
    """Of two configurations, and options."""
    return {key.fields["key"] for principal in principals
            for key in rebuild_from(two, principal, list(words[:2]), *words[2:])}
