# SPDX-License-Identifier: Apache-2.0
"""Everything that docs/performance.md and docs/testing.md promise of a GPU, in one run.

    python3 -m tests.bench.gpu_report --programs build/cuda/bin --out build/gpu-report

Runs gpu_test, tkdc bench ctr, sha1, check and zero-shares, ncu and compute-sanitizer, in this
order, and writes report.json and report.md anew after each step, so that what was measured stays
when the time is over. Status 0: all ran and was right. 1: something was wrong, or did not end in
time; a wrong result ends the whole. 2: no GPU can be used. What is not installed is named as not
run.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench import gpu_parse, gpu_table

NO_DEVICE = 2
SIZES = "2^10..2^22x4"
LOST_AT = (0, 7, 33)  # steps of a cohort, of some 40
PROFILED_BLOCKS = 1 << 18
PROFILED_KERNELS = 1 + 10 * (4 * 2 + 1)  # of one AES-128 cohort: keys, layers and masks, rounds
# Every kernel once in the self-test, and both sorts of cohorts between three parties. The test
# that asks for too much memory is left out: a tool counts the refusal as an error.
SANITIZED = "Gpu.PassesItsSelfTest:Settings/GpuCohorts.*/5:Settings/GpuRipples.*/0"
RESIDENT = ["--backend", "cuda", "--security", "semi-honest", "--json"]


class WrongResultError(Exception):
    """A result that is not right: nothing after it is worth measuring."""


@dataclass
class Report:
    out: Path
    programs: Path
    roots: list[Path]
    minutes: float
    begun: float = field(default_factory=time.monotonic)
    device: str = ""
    floors: dict = field(default_factory=dict)
    steps: list[dict] = field(default_factory=list)
    measurements: list[dict] = field(default_factory=list)
    kernels: dict[str, gpu_parse.Kernel] = field(default_factory=dict)
    failed: bool = False

    def write(self) -> None:
        whole = {"device": self.device, "steps": self.steps, "measurements": self.measurements,
                 "profiled_blocks": PROFILED_BLOCKS, "floors": self.floors,
                 "kernels": {name: vars(kernel) for name, kernel in self.kernels.items()}}
        (self.out / "report.json").write_text(json.dumps(whole, indent=1) + "\n")
        (self.out / "report.md").write_text(gpu_table.markdown(whole))

    def note(self, step: str, state: str, detail: str = "", seconds: float = 0.0) -> None:
        sys.stderr.write(f"gpu-report: {step}: {state}{': ' + detail if detail else ''}\n")
        self.steps.append({"step": step, "state": state, "detail": detail,
                           "seconds": round(seconds, 1)})
        self.failed |= state not in ("ok", "not run")
        self.write()

    def find(self, name: str) -> str | None:
        """A tool in the toolkits' folders, else in PATH."""
        for root in self.roots:
            for pattern in (f"bin/{name}", f"compute-sanitizer/{name}", f"{name}",
                            f"nsight-compute*/{name}"):
                if found := sorted(p for p in root.glob(pattern) if p.is_file()):
                    return str(found[-1])
        return shutil.which(name)

    def run(self, argv: list[str], limit_s: float) -> tuple[int | None, str, str, float]:
        """Status (None: not in time), output, errors, seconds."""
        begun = time.monotonic()
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace", start_new_session=True) as running:
            try:
                output, errors = running.communicate(
                    timeout=max(1.0, min(limit_s, self.left())))
                status = running.returncode
            except subprocess.TimeoutExpired:
                # Its children too, the parties of tkdc bench: they would hold the GPU.
                os.killpg(running.pid, signal.SIGKILL)
                output, errors = running.communicate()
                status = None
        return status, output, errors, time.monotonic() - begun

    def left(self) -> float:
        return 60 * self.minutes - (time.monotonic() - self.begun)


# ---- steps

def look_at_device(report: Report) -> str | None:
    """Why there is no GPU to be used; None: there is one."""
    asking = [str(report.programs / "gpu_test"), "--gtest_filter=none"]
    status, _, errors, _ = report.run(asking, 60)
    if status != 0:
        return errors.strip() or f"gpu_test ended with {status}"
    report.out.mkdir(parents=True, exist_ok=True)
    asked = "name,driver_version,memory.total,clocks.max.sm,pcie.link.gen.max,pcie.link.width.max"
    if tool := report.find("nvidia-smi"):
        _, output, _, _ = report.run([tool, f"--query-gpu={asked}", "--format=csv,noheader"], 30)
        report.device = output.strip()
    else:
        report.note("nvidia-smi", "not run", "not installed")
    return None


def run_gpu_test(report: Report) -> None:
    status, output, errors, seconds = report.run([str(report.programs / "gpu_test")], 180)
    (report.out / "gpu_test.log").write_text(output + errors)
    if status is None:
        report.note("gpu_test", "not in time", "", seconds)
    elif status != 0:
        report.note("gpu_test", "wrong", f"status {status}: gpu_test.log", seconds)
        raise WrongResultError("gpu_test failed; see gpu_test.log")
    else:
        passed = [line for line in output.splitlines() if "PASSED" in line]
        report.note("gpu_test", "ok", passed[-1].strip() if passed else "", seconds)


def bench(report: Report, what: str, *options: str, limit_s: float = 120) -> None:
    """tkdc bench; each line of its output is a measurement, also when it then fails."""
    if report.left() < 5:
        report.note(what, "not run", "the time is over")
        return
    argv = [str(report.programs / "tkdc"), "bench", *options]
    status, output, errors, seconds = report.run(argv, limit_s)
    for line in output.splitlines():
        try:
            measured = json.loads(line)
        except ValueError:
            continue  # cut off
        report.measurements.append({"what": what, **measured})
    if status is None:
        report.note(what, "not in time", "", seconds)
    elif status != 0:
        report.note(what, "wrong", errors.strip(), seconds)
        raise WrongResultError(f"{what}: {errors.strip()}")
    else:
        report.note(what, "ok", "", seconds)


def lose_device(report: Report) -> None:
    """A process each, which loses its GPU in the middle of a cohort."""
    for step in LOST_AT:
        what = f"device lost at step {step}"
        if report.left() < 5:
            report.note(what, "not run", "the time is over")
            continue
        argv = [str(report.programs / "gpu_test"), f"--lose-device={step}"]
        status, output, errors, seconds = report.run(argv, 60)
        said = (output + errors).strip()
        report.note(what, "not in time" if status is None else "wrong" if status else "ok", said,
                    seconds)
        if status:
            raise WrongResultError(f"{what}: {said}")


def bench_all(report: Report) -> None:
    for mode, lanes, sizes in (("none", 1, SIZES), ("device", 1, SIZES), ("host", 4, SIZES),
                               ("host", 2, "2^18,2^20")):
        bench(report, f"ctr, {mode}" + (f", {lanes} lanes" if mode == "host" else ""), "ctr",
              "--exchange", mode, "--lanes", str(lanes), "--cohort", sizes, "--seconds", "0.5",
              *(["--against", "cpu"] if mode == "none" else []), *RESIDENT)
    for mode in ("none", "device"):
        bench(report, f"ctr, {mode}, AES-CTR", "ctr", "--exchange", mode, "--cohort", "2^18,2^20",
              "--seconds", "0.5", "--zero-shares", "aes-ctr", *RESIDENT)
        bench(report, f"ctr, {mode}, AES-256", "ctr", "--exchange", mode, "--cohort", "2^20",
              "--seconds", "0.5", "--aes", "256", *RESIDENT)
    bench(report, "sha1, host", "sha1", "--exchange", "host", "--lanes", "2", "--cohort",
          "2^12..2^18x8", "--seconds", "1", "--against", "cpu", *RESIDENT)
    for products in ("2^14", "2^18", "2^21"):
        bench(report, f"check, {products} products", "check", "--backend", "cuda", "--products",
              str(2 ** int(products[2:])), "--json")
    bench(report, "zero-shares", "zero-shares", "--backend", "cuda", "--json")
    for security, sizes in (("semi-honest", "2^14..2^20x8"), ("malicious", "2^14..2^17x8")):
        bench(report, f"ctr, TLS, {security}", "ctr", "--backend", "cuda", "--against", "cpu",
              "--security", security, "--lanes", "2", "--cohort", sizes, "--seconds", "2",
              "--json", limit_s=150)
    for security, sizes in (("semi-honest", "2^14,2^17"), ("malicious", "2^14")):
        bench(report, f"sha1, TLS, {security}", "sha1", "--backend", "cuda", "--against", "cpu",
              "--security", security, "--lanes", "2", "--cohort", sizes, "--seconds", "1", "--json")


def profile(report: Report) -> None:
    """One cohort's kernels, by ncu."""
    tool = report.find("ncu")
    if tool is None:
        report.note("ncu", "not run", "not installed")
        return
    target = [str(report.programs / "tkdc"), "bench", "ctr", "--exchange", "none",
              "--seconds", "0.1", "--cohort", str(PROFILED_BLOCKS), *RESIDENT]
    common = [tool, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
              "--launch-count", str(PROFILED_KERNELS)]
    wanted = (["--metrics", ",".join(gpu_parse.METRICS.values())],
              [part for name in gpu_parse.SECTIONS for part in ("--section", name)])
    for choice in wanted:
        if report.left() < 10:
            report.note("ncu", "not run", "the time is over")
            return
        status, output, errors, seconds = report.run([*common, *choice, *target], 120)
        (report.out / "ncu.csv").write_text(output + errors)
        report.kernels = gpu_parse.ncu_kernels(output)
        if report.kernels:
            report.note("ncu", "ok", "", seconds)
            return
    said = [line for line in (output + errors).splitlines() if "==ERROR==" in line]
    report.note("ncu", "not run",
                said[0] if said else f"status {status}, no kernels: ncu.csv", seconds)


def sanitize(report: Report, kind: str) -> None:
    tool = report.find("compute-sanitizer")
    if tool is None:
        report.note(kind, "not run", "compute-sanitizer is not installed")
        return
    if report.left() < 20:
        report.note(kind, "not run", "the time is over")
        return
    status, output, errors, seconds = report.run(
        [tool, "--tool", kind, str(report.programs / "gpu_test"), f"--gtest_filter={SANITIZED}"],
        90)
    text = output + errors
    (report.out / f"{kind}.log").write_text(text)
    findings, refused = gpu_parse.sanitizer_findings(text), gpu_parse.sanitizer_refused(text)
    if refused:
        report.note(kind, "not run", refused, seconds)
    elif status is None:
        report.note(kind, "not in time", "", seconds)
    elif findings is None:
        report.note(kind, "not run", f"no summary: {kind}.log", seconds)
    elif findings > 0 or status != 0:
        report.note(kind, "wrong", f"{findings} findings, status {status}: {kind}.log", seconds)
    else:
        report.note(kind, "ok", "0 findings", seconds)


def read_floors(report: Report) -> None:
    for place in (report.programs.parent / "figures.txt", report.programs / "figures.txt"):
        if place.is_file() and (floors := gpu_parse.figures(place.read_text())):
            report.floors = floors
            return
    report.note("floors", "not run", "no figures.txt of cuda_figures beside the programs")


def run_all(report: Report) -> int:
    if why := look_at_device(report):
        sys.stderr.write(f"gpu-report: nothing was measured: {why}\n")
        return NO_DEVICE
    read_floors(report)
    try:
        run_gpu_test(report)
        lose_device(report)
        bench_all(report)
    except WrongResultError as wrong:
        sys.stderr.write(f"gpu-report: WRONG, and ended: {wrong}\n")
        return 1
    profile(report)
    for kind in ("memcheck", "racecheck", "initcheck"):
        sanitize(report, kind)
    return 1 if report.failed else 0


def usual_roots(options: argparse.Namespace) -> list[Path]:
    roots = [options.cuda_root] if options.cuda_root else []
    # What cuda/fetch-toolkit has installed beside the programs.
    toolkit = options.programs.resolve().parents[1] / "cuda-toolkit"
    roots += toolkit.glob("lib/python3*/site-packages/nvidia/cu13")
    return [*roots, Path("/usr/local/cuda"), Path("/usr/local/nvidia"),
            *Path("/opt/nvidia").glob("*/*")]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m tests.bench.gpu_report")
    parser.add_argument("--programs", type=Path, default=Path("build/cuda/bin"),
                        help="folder of gpu_test and tkdc")
    parser.add_argument("--out", type=Path, default=Path("build/gpu-report"))
    parser.add_argument("--cuda-root", type=Path, help="where ncu and compute-sanitizer are")
    parser.add_argument("--tools", type=Path,
                        help="the one folder to look for them in, beside PATH")
    parser.add_argument("--minutes", type=float, default=9.5, help="nothing begins after them")
    options = parser.parse_args(arguments)
    roots = [options.tools] if options.tools else usual_roots(options)
    report = Report(options.out, options.programs, roots, options.minutes)
    status = run_all(report)
    if status != NO_DEVICE:
        sys.stdout.write((report.out / "report.md").read_text())
    return status


if __name__ == "__main__":
    sys.exit(main())
