# SPDX-License-Identifier: Apache-2.0
"""docs/operations/status-json.md has each field that `tkdc status --json` prints, and no other."""

import json
import re
import subprocess

import pytest

from tests.integration.conftest import STOCK
from tests.support.realm import ROOT

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
PAGE = ROOT / "docs" / "operations" / "status-json.md"
# Objects whose names are operations or outcomes.
BY_NAME = ("by", "counters", "results")


def described(page: str) -> set[str]:
    return set(re.findall(r"`([a-z][a-z0-9_.]*)`", page))


def fields(value, below: str = "") -> set[str]:
    """By their own names, and an agent's by the object's, too."""
    if isinstance(value, list):
        return set().union(*(fields(one, below) for one in value))
    if not isinstance(value, dict):
        return set()
    found = set()
    for name, inner in value.items():
        if below in BY_NAME:
            found |= fields(inner)
            continue
        found |= {f"agent.{name}" if below == "agent" else name} | fields(inner, name)
    return found


def test_each_field_is_described(realm, client, shared_user):
    assert client().kinit(shared_user.name, shared_user.password).ok
    page = described(PAGE.read_text())
    tkdc = [str(realm.bin / "tkdc"), "status", "--json", "--config"]
    for config in ("agent-kdc/agent.toml", "server1/tkdc.toml"):
        done = subprocess.run([*tkdc, str(realm.installation / config)], text=True, timeout=60,
                              capture_output=True, check=False)
        shown = fields(json.loads(done.stdout))
        assert {"healthy", "servers", "disks", "free_mib", "times", "bounds_ms"} < shown
        assert shown - {"agent"} <= page | {"agent"}, sorted(shown - page)


def test_nothing_else_is_described():
    sources = "".join(path.read_text() for folder in ("mpc-engine", "kdc-plugin")
                      for path in (ROOT / folder).rglob("*") if path.suffix in (".cc", ".h"))
    told = described(PAGE.read_text())
    lost = {name for name in told if f'"{name.rpartition(".")[2]}"' not in sources}
    assert not lost - {"agent.toml"}, sorted(lost)


def test_what_is_not_described_is_seen():
    document = {"healthy": True, "servers": [{"party": 0, "times": {"by": {"seal": {"new": 1}}}}]}
    assert fields(document) - described("`healthy` `servers` `party` `times` `by`") == {"new"}
