# SPDX-License-Identifier: Apache-2.0
"""What gpu_report reads out of other programs' output: ncu, compute-sanitizer, cuda_figures."""

import csv
import re
from dataclasses import dataclass, field

from tests.bench.cuda_figures import mask_row, short_name

# What ncu is asked for, by the names of its metrics.
METRICS = {
    "ns": "gpu__time_duration.sum",
    "registers": "launch__registers_per_thread",
    "possible_pct": "sm__maximum_warps_per_active_cycle_pct",
    "occupancy_pct": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "alu_pct": "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
    "issue_pct": "sm__inst_issued.avg.pct_of_peak_sustained_active",
    "dram_pct": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
}
# Where a version of ncu does not know one of them: sections that have most.
SECTIONS = ("LaunchStats", "Occupancy", "SpeedOfLight", "ComputeWorkloadAnalysis")


def sanitizer_findings(text: str) -> int | None:
    """Errors and hazards by the summary of compute-sanitizer; None: it came to none."""
    found = re.findall(r"=+ (?:ERROR|RACECHECK) SUMMARY: (\d+) (?:error|hazard)", text)
    return int(found[-1]) if found else None


def sanitizer_refused(text: str) -> str | None:
    """Why compute-sanitizer did not work on this machine, in its words."""
    for line in text.splitlines():
        if re.search(r"device not supported|Internal Sanitizer Error|failed to (?:start|attach)",
                     line, re.IGNORECASE):
            return line.strip("= \t")
    return None


def figures(text: str) -> dict[str, dict[str, float]]:
    """Rows of cuda_figures' first tables: registers, instructions and floors by kernel."""
    found: dict[str, dict[str, float]] = {}
    for line in text.splitlines():
        row = re.match(r"(\S.*?)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s*$", line)
        if row and ": " not in row.group(1):
            found.setdefault(row.group(1), {
                "registers": int(row.group(2)), "instructions": int(row.group(4)),
                "lop3": int(row.group(5)), "floor_ns": float(row.group(7))})
    return found


def plain_name(name: str) -> str:
    """`octets::Norm` and `MaskByAes 3`, from a mangled or a demangled name."""
    if "body_kernel<" not in name:
        return short_name(name)
    body = name.split("body_kernel<", 1)[1].rsplit(">(", 1)[0]
    body = body.replace("(anonymous namespace)::", "").replace("tkdc::cuda::", "")
    argument = re.match(r"([\w:]+)<\(\w+\)(\d+)>", body)
    return f"{argument.group(1)} {argument.group(2)}" if argument else body


@dataclass
class Kernel:
    """All launches of one kernel that were looked at."""

    launches: int = 0
    total_ns: float = 0.0
    values: dict[str, float] = field(default_factory=dict)  # by METRICS, means weighted by time


def number(text: str | None) -> float | None:
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None


def ncu_kernels(text: str) -> dict[str, Kernel]:
    """The raw page of ncu as CSV (base units): a line of names, one of units, one per launch."""
    lines = text.splitlines()
    head = next((k for k, line in enumerate(lines) if line.startswith('"ID"')), None)
    if head is None:
        return {}
    found: dict[str, Kernel] = {}
    sums: dict[str, dict[str, tuple[float, float]]] = {}
    for row in csv.DictReader(lines[head:]):
        ns = number(row.get(METRICS["ns"]))
        if not (row.get("ID") or "").strip().isdigit() or ns is None:
            continue
        name = plain_name(row["Kernel Name"])
        kernel = found.setdefault(name, Kernel())
        kernel.launches += 1
        kernel.total_ns += ns
        for key, metric in METRICS.items():
            value = number(row.get(metric))
            if key != "ns" and value is not None:
                total, weight = sums.setdefault(name, {}).get(key, (0.0, 0.0))
                sums[name][key] = (total + value * ns, weight + ns)
    for name, values in sums.items():
        found[name].values = {key: total / weight for key, (total, weight) in values.items()
                              if weight > 0}
    return found


def floor_of(name: str, floors: dict[str, dict[str, float]]) -> float | None:
    """Of all launches of a cohort; that of the four mask kernels stands for them together."""
    row = floors.get(name)
    return row["floor_ns"] if row else None


def together(kernels: dict[str, Kernel]) -> dict[str, Kernel]:
    """The layers' mask kernels as the one row that cuda_figures has; rounds, last ones among
    them, too."""
    found: dict[str, Kernel] = {}
    for name, kernel in kernels.items():
        as_row = re.sub(r"^(Mask\w+) \d$", mask_row(r"\1"), name)
        as_row = re.sub(r"^(\w+::EncryptRound) \d$", r"\1 0", as_row)
        whole = found.setdefault(as_row, Kernel())
        before, whole.total_ns = whole.total_ns, whole.total_ns + kernel.total_ns
        whole.launches += kernel.launches
        for key, value in kernel.values.items():
            mean = whole.values.get(key, value)
            summed = mean * before + value * kernel.total_ns
            whole.values[key] = summed / max(whole.total_ns, 1e-9)
    return found
