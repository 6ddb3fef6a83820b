# SPDX-License-Identifier: Apache-2.0
"""An agent that tells the servers different things about a job (tests/support/rogue_agent).

From "same answer or not" it would learn bits of a key. Each trick, in each operation, is to be
noticed before anything is computed; the job is dropped alone, and honest jobs of other agents
that run at the same time go on.
"""

import subprocess

import pytest

from tests.integration.conftest import NAME

pytestmark = pytest.mark.behind

USES = ("seal", "open", "mac", "verify")
MANAGEMENT = ("stage", "export", "bind", "destroy", "equal")
KEYS = {  # what the key is, whose, and the usages that its class allows
    "krbtgt, GCM": (f"krbtgt/{NAME}@{NAME}", "2", "17"),
    "service, RFC 3962": (f"host/rogue.test@{NAME}", "2", "17"),
}


def rogue(realm, role: str, *options: str, timeout_s: int = 300) -> dict[str, dict[str, list]]:
    """The servers' answers by operation and trick."""
    config = realm.installation / f"agent-{role}" / "agent.toml"
    done = subprocess.run([str(realm.bin / "rogue_agent"), "--config", str(config),
                           "--timeout-ms", "1500", *options], env=realm.env(), text=True,
                          capture_output=True, timeout=timeout_s, check=False)
    assert done.returncode == 0, f"a server said ok to a trick:\n{done.stdout}{done.stderr}"
    answers: dict[str, dict[str, list]] = {}
    for line in done.stdout.splitlines():
        words = line.split()
        answers.setdefault(words[0], {})[" ".join(words[1:-3])] = words[-3:]
    return answers


def assert_refused(answers, operations) -> None:
    assert set(answers) == set(operations)
    for operation, cases in answers.items():
        assert cases.pop("honest") == ["ok"] * 3, f"{operation}: the control fails"
        assert len(cases) >= 3, f"{operation}: too few tricks were tried"
        for trick, replies in cases.items():
            assert "ok" not in replies, f"{operation}, {trick}: {replies}"


@pytest.mark.parametrize("principal,seal_usage,mac_usage", KEYS.values(), ids=KEYS.keys())
def test_tricks_with_a_key(realm, shared_logins, healthy, principal, seal_usage, mac_usage):
    with shared_logins(1) as honest:
        admin = realm.installation / "agent-admin" / "agent.toml"
        answers = rogue(realm, "kdc", "--admin-config", str(admin), "--principal", principal,
                        "--kvno", "77", "--operations", ",".join(USES),
                        "--seal-usage", seal_usage, "--mac-usage", mac_usage)
    assert_refused(answers, USES)
    assert not honest.errors, f"honest logins suffered: {honest.errors[:3]}"
    assert honest.ok > 0
    healthy()


def test_tricks_with_key_management(realm, healthy):
    answers = rogue(realm, "admin", "--operations", ",".join(MANAGEMENT), "--kvno", "77")
    assert_refused(answers, MANAGEMENT)
    healthy()
