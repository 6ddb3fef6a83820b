# SPDX-License-Identifier: Apache-2.0
"""The short form of `make rollout-test`: hosts with a systemd each, installed by Ansible. It builds
packages, so it runs where it is asked for: TKDC_TEST_ROLLOUT=1."""

import os
import subprocess
import sys

import pytest

from tests.rollout.__main__ import SKIPPED
from tests.support.clients import ROOT

TIMEOUT_S = 3600  # packages may have to be built first


@pytest.mark.behind
@pytest.mark.skipif(os.environ.get("TKDC_TEST_ROLLOUT") != "1",
                    reason="builds packages and hosts: run `make rollout-test SHORT=1`")
def test_hosts_are_installed_and_left_by_the_playbooks():
    done = subprocess.run([sys.executable, "-m", "tests.rollout", "--short"], cwd=ROOT, text=True,
                          capture_output=True, timeout=TIMEOUT_S, check=False)
    if done.returncode == SKIPPED:
        pytest.skip(done.stdout.splitlines()[-1])
    assert done.stdout.splitlines()[-1:] == ["rollout: ok"], done.stdout + done.stderr[-6000:]
    assert done.returncode == 0
