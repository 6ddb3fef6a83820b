# SPDX-License-Identifier: Apache-2.0
"""tkdc bench ctr: --exchange device and none where there is no GPU, and what they refuse.

What they compute is tested on the host's loops by unit/cli and unit/cuda."""

import json
import subprocess

import pytest

from tests.support.realm import default_bin


def bench(*options):
    return subprocess.run([str(default_bin() / "tkdc"), "bench", "ctr", "--seconds", "0.1",
                           "--cohort", "64", "--json", *options],
                          capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("mode", ["device", "none"])
def test_without_a_gpu_the_status_is_2_and_the_reason_is_named(mode):
    done = bench("--exchange", mode, "--backend", "cuda", "--security", "semi-honest")
    if done.returncode == 0:
        assert json.loads(done.stdout)["mode"] == mode
        return
    assert done.returncode == 2
    assert done.stdout == ""
    assert "GPU" in done.stderr or "CUDA" in done.stderr


@pytest.mark.parametrize("mode", ["device", "none"])
@pytest.mark.parametrize(("options", "named"), [
    (["--security", "semi-honest"], "--backend cuda"),
    (["--backend", "cuda"], "--security semi-honest"),
    (["--backend", "cuda", "--security", "semi-honest", "--lanes", "2"], "one lane"),
])
def test_what_does_not_go_together_is_named(mode, options, named):
    done = bench("--exchange", mode, *options)
    assert done.returncode == 1
    assert named in done.stderr


def test_three_processes_say_their_mode_and_generator():
    for generator in ("aes-ctr", "chacha20"):
        done = bench("--zero-shares", generator, "--backend", "cpu")
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        assert report["mode"] == "tls"
        assert report["zero_shares"] == generator
    assert json.loads(bench("--backend", "cpu").stdout)["zero_shares"] == "aes-ctr"
