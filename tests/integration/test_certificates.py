# SPDX-License-Identifier: Apache-2.0
"""Servers whose certificates end soon, or have ended: they work, and say so (docs/adr/0035). By
libfaketime around `tkdc init`: the certificates were made some ten years ago."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.integration.conftest import STOCK, new_realm, remove
from tests.support.monitoring import metrics
from tests.support.process import wait_until
from tests.support.realm import Realm

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
LIFE_DAYS = 3650


class Aged(Realm):
    """Its installation was made so many days ago."""

    days = 0

    def env(self) -> dict[str, str]:
        return {**super().env(), **getattr(self, "past", {})}

    def _init_installation(self) -> None:
        self.past = {"LD_PRELOAD": str(LIBRARY), "FAKETIME": f"-{self.days}d"}
        super()._init_installation()
        self.past = {}

    def status(self, *more: str) -> subprocess.CompletedProcess:
        return subprocess.run([str(self.bin / "tkdc"), "status", "--socket",
                               str(self.agent_socket("kdc")), *more], env=self.env(), text=True,
                              capture_output=True, timeout=60, check=False)


@pytest.fixture
def aged(request):
    if LIBRARY is None:
        pytest.fail("libfaketime is not installed: ./bootstrap --test")
    made = new_realm("AGED.REALM")
    made.__class__ = Aged
    made.days = LIFE_DAYS + request.param
    with made:
        yield made
    remove(made)


@pytest.mark.parametrize("aged, word", [
    (-10, r"this server's certificate ends in (9|10) days, on "),
    (10, r"this server's certificate ended on "),
], indirect=["aged"])
def test_it_works_and_says_so(aged, word):
    aged.kadmin_local("addprinc -pw secret +requires_preauth alice")
    assert aged.client("alice").kinit("alice", "secret").ok
    status = aged.status()
    assert status.returncode == 0, "a realm that works is healthy"
    assert len(re.findall(word, status.stdout)) == 3, status.stdout
    assert metrics(aged, "tkdc_server_certificate_warning") == [{"0": 1, "1": 1, "2": 1}]
    for party in range(3):
        log = aged.daemons[f"server{party}"].log
        wait_until(lambda log=log: re.search(word, log.read_text()), 10.0, "the warning")
        assert len(re.findall(word, log.read_text())) == 1, "once a day"


@pytest.mark.parametrize("aged", [-40], indirect=True)
def test_before_the_last_month_nothing_is_said(aged):
    status = aged.status()
    assert "this server's certificate" not in status.stdout
    assert metrics(aged, "tkdc_server_certificate_warning") == [{"0": 0, "1": 0, "2": 0}]
    servers = json.loads(aged.status("--json").stdout)["servers"]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", one["certificate_until"])
               for one in servers)
