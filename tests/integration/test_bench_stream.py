# SPDX-License-Identifier: Apache-2.0
"""tkdc bench stream: all octets arrive, whatever the sizes of rings and pieces."""

import json
import subprocess

import pytest

from tests.support.realm import default_bin


@pytest.mark.parametrize(("ring", "piece", "records"), [
    (1 << 20, 1 << 16, "auto"), (1 << 20, 1 << 16, "openssl"), (1000, 70_001, "auto"),
])
def test_all_octets_arrive(ring, piece, records):
    # The program compares each piece's number and fails where one differs.
    done = subprocess.run([str(default_bin() / "tkdc"), "bench", "stream", "--seconds", "0.2",
                           "--ring", str(ring), "--piece", str(piece), "--records", records,
                           "--json"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["checked"]
    assert report["writer"]["octets"] == report["reader"]["octets"] > 0
    assert report["writer"]["octets"] % piece == 0
