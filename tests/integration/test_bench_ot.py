# SPDX-License-Identifier: Apache-2.0
"""tkdc bench ot: what it measures fitted, by each kernel, and its text can be read."""

import json
import subprocess

import pytest

from tests.support.realm import default_bin


def bench(*arguments):
    return subprocess.run([str(default_bin() / "tkdc"), "bench", "ot", *arguments],
                          capture_output=True, text=True, timeout=300)


# Octets of an OT: a bit for each chunk of columns but one, and the check's.
@pytest.mark.parametrize(("kernel", "k", "octets"), [
    ("auto", 2, 63 / 8), ("auto", 4, 31 / 8), ("aesni", 8, 15 / 8), ("reference", 4, 31 / 8),
])
def test_what_it_measures_fits(kernel, k, octets):
    # The program compares each run's last OTs and fails where one does not fit.
    done = bench("--seconds", "0.02", "--kernel", kernel, "--k", str(k), "--json",
                 *(["--transport", "tcp", "--rows", "1920", "--batch-blocks", "16"]
                   if kernel == "reference" else []))
    if kernel == "aesni" and "no kernel" in done.stderr:
        pytest.skip("this CPU has no AES instructions")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["checked"]
    assert kernel in ("auto", report["kernel"])
    names = {"semi_honest_hashed", "malicious_hashed", "malicious_correlated"}
    assert {one["figure"] for one in report["figures"]} == names
    for one in report["figures"]:
        assert one["k"] == k
        if kernel != "reference":  # whose short runs bear the setup
            assert octets < one["octets"] < 1.02 * octets + 0.1
        assert one["ots_per_s"] > 0
        assert one["floor_cpu_ns"] > 0


def test_the_text_names_what_it_measured():
    done = bench("--seconds", "0.02", "--k", "4")
    assert done.returncode == 0, done.stderr
    for words in ("malicious_hashed, k = 4, tls", "floor of both", "octets each"):
        assert words in done.stdout
    assert "tkdc bench ot --k 4" in bench("--help").stdout


def test_a_kernel_that_is_not_there_is_refused():
    done = bench("--kernel", "abacus")
    assert done.returncode != 0
    assert "it has" in done.stderr
