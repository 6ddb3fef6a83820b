# SPDX-License-Identifier: Apache-2.0
"""One login by one id: krb5kdc draws it, and the agent and all three servers write it down."""

import json
import re
import subprocess

import pytest

from tests.integration.conftest import RECOVERY_S, SERVICE, STOCK
from tests.support.process import wait_until

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
ENDS_IN_ID = re.compile(r"TKDC_REQUEST=([0-9a-f]{16})$")


def kdc_lines(realm) -> list[str]:
    return (realm.directory / "kdc.trace").read_text().splitlines()


def id_of(lines: list[str], *words: str) -> str:
    """Of the one line with these words."""
    found = [line for line in lines if all(word in line for word in words)]
    assert len(found) == 1, (words, lines)
    match = ENDS_IN_ID.search(found[0])
    assert match, found[0]
    return match[1]


def audited(realm, party: int, request: str) -> list[dict]:
    log = realm.server_directory(party) / "audit.jsonl"
    shown = realm.tool("tkdc", "audit", "show", str(log), "--request", request)
    return [json.loads(line)["event"] for line in shown.splitlines()]


def operations(realm, request: str) -> list[tuple]:
    return sorted((one["op"], one["usage"]) for one in realm.operations("kdc")
                  if one.get("request") == request)


def test_a_login_and_a_ticket_are_followed_by_their_ids(realm, client, shared_user):
    before = len(kdc_lines(realm))
    user = client()
    assert user.kinit(shared_user.name, shared_user.password).ok
    assert user.kvno(SERVICE).ok
    wait_until(lambda: any("TGS_REQ" in line for line in kdc_lines(realm)[before:]), RECOVERY_S,
               "krb5kdc's line")
    lines = kdc_lines(realm)[before:]
    login = id_of(lines, "AS_REQ", "ISSUE: ", f"{shared_user.name}@{realm.name}")
    ticket = id_of(lines, "TGS_REQ", "ISSUE: ", SERVICE)
    assert login != ticket
    for request, wanted in ((login, ("open", 1)), (ticket, ("open", 2))):
        asked = operations(realm, request)
        assert wanted in asked and any(op == "seal" for op, _ in asked), asked
        of_servers = [audited(realm, party, request) for party in range(3)]
        kinds = [sorted((one["operation"], one["usage"]) for one in events)
                 for events in of_servers]
        assert kinds[0] == kinds[1] == kinds[2]
        # An operation in two parts is one at the agent, two jobs at the servers.
        assert set(kinds[0]) == set(asked) and len(kinds[0]) >= len(asked)
    nobody = realm.tool("tkdc", "audit", "show", str(realm.server_directory(0) / "audit.jsonl"),
                        "--request", "0123456789abcdef")
    assert nobody == ""


def test_what_kadmin_asks_is_no_clients_request(realm, new_user):
    new_user()
    assert not any("request" in one for one in realm.operations("admin"))


def test_servers_that_may_not_know_ids_are_told_none(realm, client, shared_user, healthy):
    """An agent.toml of the release before, whose servers would refuse a request with an id."""
    config = realm.installation / "agent-kdc" / "agent.toml"
    text = config.read_text()
    assert "request_ids = true\n" in text
    config.write_text(text.replace("request_ids = true\n", ""))
    realm.daemons["agent-kdc"].stop()
    realm.start_agent("kdc")
    try:
        healthy(restarted=("agent-kdc",))
        before = len(kdc_lines(realm))
        assert client().kinit(shared_user.name, shared_user.password).ok
        login = id_of(kdc_lines(realm)[before:], "AS_REQ", "ISSUE: ")
        assert operations(realm, login)
        assert not any(audited(realm, party, login) for party in range(3))
    finally:
        config.write_text(text)
        realm.daemons["agent-kdc"].stop()
        realm.start_agent("kdc")
    healthy(restarted=("agent-kdc",))


@pytest.mark.parametrize("daemon", ["tkdc-agent", "tkdc-server"])
def test_lines_are_json_where_that_is_asked_for(realm, daemon, tmp_path):
    argv = [str(realm.bin / daemon), "--config", str(tmp_path / "none.toml")]
    text = subprocess.run([*argv, "--log", "text"], capture_output=True, text=True, check=False)
    assert text.returncode == 1 and text.stderr.startswith(f"{daemon}: "), text
    done = subprocess.run([*argv, "--log", "json"], capture_output=True, text=True, check=False)
    told = json.loads(done.stderr)
    assert done.returncode == 1 and told["level"] == "error" and told["program"] == daemon, done
    assert "none.toml" in told["message"]
    wrong = subprocess.run([*argv, "--log", "xml"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2, wrong
