# SPDX-License-Identifier: Apache-2.0
"""Some of `make attack`'s attacks (tests/attack), with the control whose guard is taken out."""

import subprocess
import sys

import pytest

from tests.integration.conftest import STOCK
from tests.support.realm import ROOT

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
SHORT_S = 420


def test_known_attacks_learn_nothing():
    run = subprocess.Popen([sys.executable, "-m", "tests.attack", "--short"], cwd=ROOT, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        said, _ = run.communicate(timeout=SHORT_S)
    finally:
        run.terminate()  # and its realm with it
        run.wait(60)
    assert said.splitlines()[-1:] == ["attack: ok"], said
    assert run.returncode == 0
