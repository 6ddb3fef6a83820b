# SPDX-License-Identifier: Apache-2.0
"""tkdc bench ctr: --exchange device, none and host where there is no GPU, and what they refuse;
several sizes and a second backend; tkdc bench sha1, check and zero-shares.

What they compute is tested on the host's loops by unit/bench and unit/cuda."""

import json
import subprocess

import pytest

from tests.support.realm import default_bin


def bench(*options):
    small = [] if "--cohort" in options else ["--cohort", "64"]
    return subprocess.run([str(default_bin() / "tkdc"), "bench", "ctr", "--seconds", "0.1",
                           *small, "--json", *options],
                          capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("mode", ["device", "none", "host"])
def test_without_a_gpu_the_status_is_2_and_the_reason_is_named(mode):
    done = bench("--exchange", mode, "--backend", "cuda", "--security", "semi-honest")
    if done.returncode == 0:
        assert json.loads(done.stdout)["mode"] == mode
        return
    assert done.returncode == 2
    assert done.stdout == ""
    assert "GPU" in done.stderr or "CUDA" in done.stderr


@pytest.mark.parametrize("mode", ["device", "none", "host"])
@pytest.mark.parametrize(("options", "named"), [
    (["--security", "semi-honest"], "--backend cuda"),
    (["--backend", "cuda"], "--security semi-honest"),
    (["--backend", "cuda", "--security", "semi-honest", "--lanes", "2"], "one lane"),
    (["--cohort", "8"], "16 to 4194304"),
    (["--cohort", "2^23"], "16 to 4194304"),
    (["--cohort", "many"], "no list of sizes"),
])
def test_what_does_not_go_together_is_named(mode, options, named):
    done = bench("--exchange", mode, *options)
    if mode == "host" and "--lanes" in options:  # cohorts at once
        assert "lane" not in done.stderr
        return
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


def reports(*options):
    done = bench(*options)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_size_is_measured_by_both_backends():
    found = reports("--cohort", "2^5..2^7x4,48", "--backend", "scalar", "--against", "cpu",
                    "--security", "semi-honest")
    assert [report["cohort_blocks"] for report in found] == [32, 32, 128, 128, 48, 48]
    assert [report["backend"] for report in found[0::2]] == ["scalar"] * 3
    assert len({report["backend"] for report in found[1::2]}) == 1
    assert all(report["checked"] and report["blocks_per_s"] > 0 for report in found)


def test_a_second_backend_that_is_none_is_refused_before_anything_is_measured():
    done = bench("--backend", "cpu", "--against", "abacus")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "abacus" in done.stderr


def test_a_packets_limit_is_named():
    done = bench("--cohort", "2^22", "--backend", "cpu")
    assert done.returncode == 1
    assert "2097152" in done.stderr and "--lanes 2" in done.stderr


def sha1(*options):
    return subprocess.run([str(default_bin() / "tkdc"), "bench", "sha1", "--seconds", "0.1",
                           "--json", *options], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("security", ["semi-honest", "malicious"])
def test_sha1_takes_the_shape_of_the_fewest_bits(security):
    done = sha1("--cohort", "8,64", "--backend", "cpu", "--against", "scalar", "--security",
                security)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["cohort_compressions"] for report in found] == [8, 8, 64, 64]
    for report in found:
        assert report["mode"] == "tls"
        assert report["checked"] and report["compressions_per_s"] > 0
        assert report["compressions"] % report["cohort_compressions"] == 0
        if security == "semi-honest":
            assert report["rounds"] == 2165
            assert report["bytes_per_compression_per_party"] == 1379.375
        else:
            assert report["rounds"] > 2165


def test_sha1_names_what_it_cannot_do():
    for options, named in ((["--cohort", "2^19"], "8 to 262144"),
                           (["--exchange", "device"], "--exchange"),
                           (["--exchange", "host"], "--backend cuda"),
                           (["--exchange", "host", "--backend", "cuda"], "semi-honest"),
                           (["--backend", "abacus"], "abacus")):
        done = sha1(*options)
        assert done.returncode == 1, options
        assert named in done.stderr
    done = sha1("--exchange", "host", "--backend", "cuda", "--security", "semi-honest",
                "--cohort", "64")
    if done.returncode != 0:
        assert done.returncode == 2
        assert "GPU" in done.stderr or "CUDA" in done.stderr


def check(*options):
    return subprocess.run([str(default_bin() / "tkdc"), "bench", "check", "--seconds", "0.02",
                           "--products", "4000", "--json", *options],
                          capture_output=True, text=True, timeout=120)


def test_the_check_of_both_kinds_of_claims_is_measured():
    done = check()
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["claims"] for report in found] == ["S-boxes", "bits"]
    for report in found:
        assert report["products"] >= 4000
        assert min(report[step] for step in ("points_ns", "lift_ns", "fold_ns")) > 0


def zero_shares(*options):
    return subprocess.run([str(default_bin() / "tkdc"), "bench", "zero-shares", "--seconds", "0.02",
                           "--json", *options], capture_output=True, text=True, timeout=120)


def test_both_generators_of_zero_shares_are_measured():
    done = zero_shares()
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["zero_shares"] for report in found] == ["aes-ctr", "chacha20"]
    for report in found:
        assert report["by"].startswith("cpu, ")
        assert report["ns_per_aes128_block"] * report["bytes_per_s"] == pytest.approx(360e9)


@pytest.mark.parametrize("program", [check, zero_shares])
def test_a_gpu_beside_the_cpu_is_measured_or_its_lack_named(program):
    done = program("--backend", "cuda")
    assert done.returncode in (0, 2)
    if done.returncode == 2:
        assert done.stdout == ""
        assert "GPU" in done.stderr or "CUDA" in done.stderr
