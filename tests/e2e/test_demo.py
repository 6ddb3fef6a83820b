# SPDX-License-Identifier: Apache-2.0
"""`make demo`, from its first line to its last."""

import os
import shutil
import subprocess
import tempfile

import pytest

from tests.integration.conftest import STOCK, free_base_port
from tests.support.realm import ROOT

pytestmark = [pytest.mark.skipif(STOCK, reason="the demo is about tkdc")]
TIMEOUT_S = 600


@pytest.mark.parametrize(("servers", "mode", "says"), [
    ("3", "", ["security: malicious"]),
    # What it does and more the next one does: with TKDC_DEMO=all only.
    pytest.param("2", "", ["two servers, malicious"], marks=pytest.mark.skipif(
        os.environ.get("TKDC_DEMO") != "all", reason="TKDC_DEMO=all plays it")),
    ("2", "tables", ["two servers, malicious", "lookup tables served"]),
], ids=["make demo", "make demo SERVERS=2", "make demo SERVERS=2 MODE=tables"])
def test_demo(servers, mode, says):
    directory = tempfile.mkdtemp(prefix="tkdc-demo-")
    env = {**os.environ, "TKDC_DEMO_DIRECTORY": directory, "KEEP": "",
           "SERVERS": servers, "MODE": mode, "TKDC_DEMO_PORT": str(free_base_port())}
    done = subprocess.run(["/usr/bin/python3", "-m", "tests.e2e.demo"], cwd=ROOT, env=env,
                          capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("demo: ok")
    for words in says:
        assert words in done.stdout
    shutil.rmtree(directory, ignore_errors=True)
