# SPDX-License-Identifier: Apache-2.0
"""make gpu-report with made-up programs in the GPU's place: what it reads out of their output, what
ends it, and what is named as not run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench import gpu_parse, gpu_report, gpu_table
from tests.bench.cuda_figures import mask_row

NCU = '''\
==PROF== Connected to process 7 (/bin/tkdc)
"ID","Process ID","Kernel Name","Block Size","gpu__time_duration.sum",\
"launch__registers_per_thread","sm__maximum_warps_per_active_cycle_pct",\
"sm__warps_active.avg.pct_of_peak_sustained_active",\
"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active"
"","","","","ns","register/thread","%","%","%"
"0","7","_ZN4tkdc4cuda12_GLOBAL__N_111body_kernelINS0_6octets4NormEEEvNS0_4ViewEPKNS0_4TickEj",\
"(128, 1, 1)","1,000.00","32","100.00","80.00","60.00"
"1","7","_ZN4tkdc4cuda12_GLOBAL__N_111body_kernelINS0_6octets4NormEEEvNS0_4ViewEPKNS0_4TickEj",\
"(128, 1, 1)","3,000.00","32","100.00","90.00","n/a"
"2","7","void tkdc::cuda::(anonymous namespace)::body_kernel<tkdc::cuda::MaskByChaCha<(int)0>>\
(tkdc::cuda::View, const tkdc::cuda::Tick *, unsigned int)","(128, 1, 1)","500","48","62","50","40"
"3","7","void tkdc::cuda::(anonymous namespace)::body_kernel<tkdc::cuda::MaskByChaCha<(int)3>>\
(tkdc::cuda::View, const tkdc::cuda::Tick *, unsigned int)","(128, 1, 1)","1500","48","62","70","40"
==PROF== Disconnected
'''

MASK = mask_row("MaskByChaCha")
FIGURES = f'''\
kernel                     registers  threads  instructions   LOP3  threads/block  ns/block
octets::Norm                      32     2048           281    164             5.0     0.060
{MASK}            48     1280          1980    640             5.6     0.444
floor of octets and MaskByAes: 4.19 ns for each AES-128 block, 239 million blocks/s
{MASK}            48     1280          1980    640            21.6     1.701
factors x, points: Extend 0      146      384          5984   4430    396     0.285
'''

CLEAN = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"


def test_ncu_is_read_by_kernel():
    kernels = gpu_parse.ncu_kernels(NCU)
    assert set(kernels) == {"octets::Norm", "MaskByChaCha 0", "MaskByChaCha 3"}
    norm = kernels["octets::Norm"]
    assert (norm.launches, norm.total_ns) == (2, 4000.0)
    assert norm.values["occupancy_pct"] == 87.5  # weighted by time
    assert norm.values["alu_pct"] == 60.0        # of the launch that has it
    mask = gpu_parse.together(kernels)[MASK]
    assert (mask.launches, mask.total_ns, mask.values["occupancy_pct"]) == (2, 2000.0, 65.0)
    assert gpu_parse.ncu_kernels("==ERROR== LibraryNotLoaded\n") == {}


def test_names_are_those_of_the_figures():
    assert gpu_parse.plain_name("void tkdc::cuda::(anonymous namespace)::body_kernel<tkdc::cuda::"
                                "octets::EncryptRound<(bool)1>>(tkdc::cuda::View)") \
        == "octets::EncryptRound 1"
    assert list(gpu_parse.together({"octets::EncryptRound 0": gpu_parse.Kernel(),
                                    "octets::EncryptRound 1": gpu_parse.Kernel()})) \
        == ["octets::EncryptRound 0"]


def test_figures_are_those_of_a_cohort():
    floors = gpu_parse.figures(FIGURES)
    assert set(floors) == {"octets::Norm", MASK}
    assert floors[MASK]["floor_ns"] == 0.444
    assert floors["octets::Norm"] == {"registers": 32, "instructions": 281, "lop3": 164,
                                      "floor_ns": 0.060}


@pytest.mark.parametrize(("text", "findings"), [
    (CLEAN, 0),
    ("========= Invalid __global__ read\n========= ERROR SUMMARY: 3 errors\n", 3),
    ("========= ERROR SUMMARY: 1 error\n", 1),
    ("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n", 0),
    ("========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)\n", 2),
    ("nothing\n", None),
])
def test_the_sanitizers_summary_is_read(text, findings):
    assert gpu_parse.sanitizer_findings(text) == findings


def test_a_sanitizer_that_does_not_work_here_says_why():
    assert gpu_parse.sanitizer_refused("========= Error: Device not supported\n") \
        == "Error: Device not supported"
    assert gpu_parse.sanitizer_refused(CLEAN) is None
    assert gpu_parse.sanitizer_refused("========= Program hit cudaErrorNotSupported\n") is None


def measured(mode, **more):
    return {"aes": 128, "mode": mode, "backend": "cuda", "blocks_per_s": 4e8, "lanes": 1,
            "cohort_blocks": 1024, "zero_shares": "chacha20", "security": "semi-honest",
            "cpu_us_per_block": 0.5, **more}


# A stand-in for all programs: what it prints and its status come from files beside it, by its own
# name and its second word; what it was called with is kept.
STAND_IN = '''#!/bin/bash
folder=$(dirname "$0")
name=$(basename "$0")
printf '%s\\n' "$name $*" >>"$folder/calls"
for key in "$name.$2.$4" "$name.$2" "$name"; do
  [[ -f $folder/$key.out ]] || continue
  cat "$folder/$key.out"
  [[ -f $folder/$key.err ]] && cat "$folder/$key.err" >&2
  exit "$(cat "$folder/$key.status" 2>/dev/null || echo 0)"
done
'''


class Machine:
    """A folder of stand-ins, and a run of gpu_report with them."""

    def __init__(self, folder):
        self.folder, self.out = folder / "bin", folder / "out"
        self.folder.mkdir()
        for name in ("gpu_test", "tkdc"):
            self.program(name)
        self.says("gpu_test", "[  PASSED  ] 9 tests.\n")
        for mode in ("none", "device"):
            self.says(f"tkdc.ctr.{mode}", json.dumps(measured(mode)) + "\n")
        pcie = {"to_device_bytes_per_s": 5e10, "from_device_bytes_per_s": 5.1e10,
                "both_bytes_per_s_each_way": 4.5e10}
        self.says("tkdc.ctr.host", json.dumps(measured(
            "host", pcie=pcie, of_pcie_limit=0.5, pcie_limit_blocks_per_s=1.25e8,
            message_bytes_per_s_each_way=2.25e10)) + "\n")
        self.says("tkdc.ctr", json.dumps(measured("tls")) + "\n")
        sha1 = {"compressions_per_s": 3e6, "cpu_us_per_compression": 1.5,
                "cohort_compressions": 512, "backend": "cuda", "lanes": 2,
                "zero_shares": "chacha20", "security": "malicious"}
        self.says("tkdc.sha1.host", json.dumps(sha1 | {"mode": "host"}) + "\n")
        self.says("tkdc.sha1", json.dumps(sha1 | {"mode": "tls"}) + "\n")
        self.says("tkdc.zero-shares", json.dumps(
            {"zero_shares": "chacha20", "by": "GPU 0", "bytes_per_s": 1e12,
             "ns_per_aes128_block": 0.36}) + "\n")
        self.says("tkdc.check", "".join(json.dumps(line) + "\n" for line in (
            {"claims": "none", "by": "GPU 0", "gf64_products_per_s_by_integers": 2.5e11,
             "gf64_products_per_s_bit_sliced": 1.25e11},
            {"claims": "bits", "by": "GPU 0", "products": 16384, "points_ns": 1.25,
             "lift_ns": 2.5, "fold_ns": 0.75})))
        (folder / "figures.txt").write_text(FIGURES)

    def program(self, name):
        path = self.folder / name
        path.write_text(STAND_IN)
        path.chmod(0o755)

    def says(self, key, output, errors="", status=0):
        (self.folder / f"{key}.out").write_text(output)
        (self.folder / f"{key}.err").write_text(errors)
        (self.folder / f"{key}.status").write_text(str(status))

    def run(self, *options):
        return subprocess.run(
            [sys.executable, "-m", "tests.bench.gpu_report", "--programs", str(self.folder),
             "--out", str(self.out), "--tools", str(self.folder), *options],
            capture_output=True, text=True, timeout=120, check=False,
            env=os.environ | {"PATH": "/usr/bin:/bin"})

    def steps(self):
        report = json.loads((self.out / "report.json").read_text())
        return {step["step"]: step for step in report["steps"]}

    def calls(self):
        return (self.folder / "calls").read_text().splitlines()


def with_tools(machine):
    for name in ("ncu", "compute-sanitizer", "nvidia-smi"):
        machine.program(name)
    machine.says("ncu", NCU)
    machine.says("compute-sanitizer", CLEAN)
    machine.says("nvidia-smi", "NVIDIA H200, 580.1\n")
    return machine


def test_all_of_it_is_run_and_written(tmp_path):
    machine = with_tools(Machine(tmp_path))
    done = machine.run()
    assert done.returncode == 0, done.stderr
    assert {step["state"] for step in machine.steps().values()} == {"ok"}
    table = (machine.out / "report.md").read_text()
    assert done.stdout == table
    assert "NVIDIA H200, 580.1" in table
    assert "300 million blocks/s | 400.00 million | reached" in table
    assert "link allows | 50.0 % | missed" in table
    assert "| 50.0 | 51.0 | 45.0 | 125.00 |" in table
    assert "| `octets::Norm` | 2 | 32 | 100 | 88 | 60 |  |  | 0.015 | 0.060 | 393 % |" in table
    assert "0.360" in table
    assert "| SHA-1 | malicious | cuda | chacha20 | 512 | 2 | 3.00 | 1.50 |" in table
    assert "| host | cuda | chacha20 | 512 | 2 | 3.00 |" in table
    assert "| bits | GPU 0 | 16,384 | 1.25 | 2.50 | 0.75 |" in table
    assert "| GPU 0 | 250.0 | 125.0 |" in table
    calls = "\n".join(machine.calls())
    for part in ("gpu_test --lose-device=7", "bench check", "--exchange none",
                 "--exchange device", "--exchange host --lanes 4",
                 "2^10..2^22x4", "--against cpu", "--security malicious", "bench zero-shares",
                 "--tool memcheck", "--tool racecheck", "--tool initcheck", "--launch-count 91"):
        assert part in calls, part


def test_what_is_not_installed_is_named(tmp_path):
    machine = Machine(tmp_path)
    (tmp_path / "figures.txt").unlink()
    done = machine.run()
    assert done.returncode == 0, done.stderr
    not_run = {name for name, step in machine.steps().items() if step["state"] == "not run"}
    assert not_run >= {"ncu", "memcheck", "racecheck", "initcheck", "floors"}
    assert "not installed" in (machine.out / "report.md").read_text()


def test_without_a_gpu_the_status_is_2_and_nothing_is_written(tmp_path):
    machine = Machine(tmp_path)
    machine.says("gpu_test", "", "gpu_test: nothing was tested: no driver\n", 2)
    done = machine.run()
    assert done.returncode == 2
    assert "nothing was measured" in done.stderr and "no driver" in done.stderr
    assert not machine.out.exists()


def test_a_wrong_result_ends_all_of_it(tmp_path):
    machine = with_tools(Machine(tmp_path))
    good = json.dumps(measured("device", cohort_blocks=77))
    machine.says("tkdc.ctr.device", good + "\n", "tkdc bench: differs from OpenSSL's AES\n", 1)
    done = machine.run()
    assert done.returncode == 1
    assert "WRONG" in done.stderr and "OpenSSL" in done.stderr
    assert "wrong" in (machine.out / "report.md").read_text()
    assert "| 77 |" in (machine.out / "report.md").read_text()  # what came before it stays
    assert not any("host" in call or call.startswith("ncu") for call in machine.calls())


def test_a_device_that_is_not_lost_cleanly_is_a_failure(tmp_path):
    machine = with_tools(Machine(tmp_path))
    path = machine.folder / "gpu_test"
    path.write_text('#!/bin/bash\n[[ $1 == --lose-device=7 ]] && echo "the result is WRONG" '
                    '&& exit 1\nexit 0\n')
    done = machine.run()
    assert done.returncode == 1
    assert machine.steps()["device lost at step 7"]["state"] == "wrong"
    assert "the result is WRONG" in (machine.out / "report.md").read_text()


def test_findings_of_a_sanitizer_are_a_failure(tmp_path):
    machine = with_tools(Machine(tmp_path))
    machine.says("compute-sanitizer", "========= ERROR SUMMARY: 2 errors\n", "", 0)
    done = machine.run()
    assert done.returncode == 1
    assert machine.steps()["racecheck"]["state"] == "wrong"


def test_a_sanitizer_that_refuses_the_device_is_not_run(tmp_path):
    machine = with_tools(Machine(tmp_path))
    machine.says("compute-sanitizer", "========= Error: Device not supported\n"
                 "========= ERROR SUMMARY: 1 error\n", "", 1)
    done = machine.run()
    assert done.returncode == 0, done.stderr
    assert machine.steps()["memcheck"]["state"] == "not run"


def test_nothing_begins_when_the_time_is_over(tmp_path):
    machine = with_tools(Machine(tmp_path))
    done = machine.run("--minutes", "0.05")
    assert done.returncode == 0, done.stderr
    steps = machine.steps()
    assert steps["gpu_test"]["state"] == "ok"
    assert steps["memcheck"]["detail"] == "the time is over"


def test_what_does_not_end_is_no_pass(tmp_path, monkeypatch):
    machine = Machine(tmp_path)
    (machine.folder / "gpu_test").write_text(
        "#!/bin/bash\n[[ $1 == --gtest_filter=none ]] && exit\n"
        f"echo begun\nsleep 60 & echo $! >{tmp_path}/child; wait\n")
    report = gpu_report.Report(machine.out, machine.folder, [], 0.04)
    monkeypatch.setattr(gpu_report, "bench_all", lambda _: None)
    assert gpu_report.run_all(report) == 1
    assert machine.steps()["gpu_test"]["state"] == "not in time"
    assert (machine.out / "gpu_test.log").read_text() == "begun\n"  # what it said so far
    child = Path(f"/proc/{(tmp_path / 'child').read_text().strip()}/stat")
    assert not child.exists() or child.read_text().rsplit(")", 1)[1].split()[0] == "Z"


def test_a_table_of_nothing_is_empty():
    assert gpu_table.table(["a"], []) == ""
