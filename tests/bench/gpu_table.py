# SPDX-License-Identifier: Apache-2.0
"""gpu_report's results as Markdown, for people; figures go into docs/measurements/gpu.json."""

from tests.bench import gpu_parse

# What was aimed at on one H200: (in words, mode, key of the measurement, least)
TARGETS = (
    ("one party, data in device memory: 300 million blocks/s", "none", "blocks_per_s", 300e6),
    ("three parties in device memory: 100 million blocks/s", "device", "blocks_per_s", 100e6),
    ("with transfers: 80 % of what the measured link allows", "host", "of_pcie_limit", 0.8),
)
COLUMNS = ("registers", "possible_pct", "occupancy_pct", "alu_pct", "issue_pct", "dram_pct")


def table(head: list[str], rows: list[list[str]]) -> str:
    if not rows:
        return ""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n\n"


def million(value: float) -> str:
    return f"{value / 1e6:,.2f}" if value >= 1e6 else f"{value / 1e6:.4f}"


def giga(value: float) -> str:
    return f"{value / 1e9:.1f}"


def is_aes(m: dict) -> bool:
    return "blocks_per_s" in m


def targets(measurements: list[dict]) -> str:
    rows = []
    for words, mode, key, least in TARGETS:
        values = [m[key] for m in measurements
                  if is_aes(m) and m.get("mode") == mode and key in m and m.get("aes") == 128
                  and m.get("backend") == "cuda"]
        if values:
            best = max(values)
            said = f"{100 * best:.1f} %" if key == "of_pcie_limit" else f"{million(best)} million"
            rows.append([words, said, "reached" if best >= least else "missed"])
    return table(["target", "best", ""], rows)


def resident(measurements: list[dict]) -> str:
    rows = []
    for m in measurements:
        if not is_aes(m) or m.get("mode") == "tls":
            continue
        reached = f"{100 * m['of_pcie_limit']:.1f} %" if "of_pcie_limit" in m else ""
        rows.append([m["mode"], m["backend"], f"AES-{m['aes']}", m["zero_shares"],
                     f"{m['cohort_blocks']:,}", str(m["lanes"]), million(m["blocks_per_s"]),
                     giga(m["message_bytes_per_s_each_way"])
                     if "message_bytes_per_s_each_way" in m else "", reached])
    return table(["exchange", "backend", "keys", "zero-shares", "cohort", "lanes",
                  "million blocks/s", "GB/s of messages each way", "of the link"], rows)


def link(measurements: list[dict]) -> str:
    rows = [[m["what"], giga(p["to_device_bytes_per_s"]), giga(p["from_device_bytes_per_s"]),
             giga(p["both_bytes_per_s_each_way"]), million(m["pcie_limit_blocks_per_s"])]
            for m in measurements if (p := m.get("pcie"))]
    unique = [row for k, row in enumerate(rows) if row not in rows[:k]]
    return table(["link measured in", "GB/s to the device alone", "from it alone",
                  "each way in both", "million blocks/s it allows"], unique)


def tls(measurements: list[dict]) -> str:
    rows = []
    for m in measurements:
        if m.get("mode") != "tls":
            continue
        aes = is_aes(m)
        rows.append([f"AES-{m['aes']}" if aes else "SHA-1", m["security"], m["backend"],
                     m["zero_shares"],
                     f"{m['cohort_blocks' if aes else 'cohort_compressions']:,}", str(m["lanes"]),
                     million(m["blocks_per_s" if aes else "compressions_per_s"]),
                     f"{m['cpu_us_per_block' if aes else 'cpu_us_per_compression']:.2f}"])
    return table(["work", "security", "backend", "zero-shares", "cohort", "lanes",
                  "million/s", "CPU µs each, all parties"], rows)


def zero_shares(measurements: list[dict]) -> str:
    return table(["zero-shares", "by", "GB/s", "ns, AES-128 block"],
                 [[m["zero_shares"], m["by"], giga(m["bytes_per_s"]),
                   f"{m['ns_per_aes128_block']:.3f}"]
                  for m in measurements if "ns_per_aes128_block" in m])


def check(measurements: list[dict]) -> str:
    """Of malicious mode: its steps, and the two ways of a product."""
    steps_of = table(["claims", "by", "products", "points, ns each", "lift", "folds"],
                     [[m["claims"], m["by"], f"{m['products']:,}",
                       *(f"{m[key]:.2f}" for key in ("points_ns", "lift_ns", "fold_ns"))]
                      for m in measurements if "points_ns" in m])
    ways = table(["products in GF(2^64)", "by integers, 10^9/s", "bit-sliced"],
                 [[m["by"], giga(m["gf64_products_per_s_by_integers"]),
                   giga(m["gf64_products_per_s_bit_sliced"])]
                  for m in measurements if "gf64_products_per_s_by_integers" in m])
    return steps_of + ways


def sha1_local(measurements: list[dict]) -> str:
    rows = [[m["mode"], m["backend"], m["zero_shares"], f"{m['cohort_compressions']:,}",
             str(m["lanes"]), million(m["compressions_per_s"])]
            for m in measurements if "compressions_per_s" in m and m.get("mode") != "tls"]
    return table(["SHA-1, exchange", "backend", "zero-shares", "cohort", "lanes",
                  "million compressions/s"], rows)


def kernels(whole: dict) -> str:
    found = {name: gpu_parse.Kernel(**parts) for name, parts in whole["kernels"].items()}
    rows = []
    for name, kernel in gpu_parse.together(found).items():
        ns = kernel.total_ns / whole["profiled_blocks"]
        floor = gpu_parse.floor_of(name, whole["floors"])
        values = [kernel.values.get(key) for key in COLUMNS]
        rows.append([f"`{name}`", str(kernel.launches),
                     *("" if value is None else f"{value:.0f}" for value in values),
                     f"{ns:.3f}", "" if floor is None else f"{floor:.3f}",
                     "" if not floor or not ns else f"{100 * floor / ns:.0f} %"])
    return table(["kernel", "launches", "registers", "occupancy possible, %", "achieved, %",
                  "ALU pipe, %", "issue slots, %", "DRAM, %", "ns, block", "floor",
                  "floor / achieved"], rows)


def steps(whole: dict) -> str:
    return table(["step", "", "", "s"],
                 [[s["step"], s["state"], s["detail"].replace("|", "/").replace("\n", " "),
                   f"{s['seconds']:.1f}"] for s in whole["steps"]])


def markdown(whole: dict) -> str:
    measurements = whole["measurements"]
    parts = [f"Device (name, driver, memory, clock, link): {whole['device'] or 'not named'}\n\n",
             targets(measurements), resident(measurements), link(measurements),
             tls(measurements), sha1_local(measurements), zero_shares(measurements),
             check(measurements)]
    if profiled := kernels(whole):
        parts.append(f"One cohort of {whole['profiled_blocks']:,} blocks, one party (ncu; "
                     "clocks as they were):\n\n" + profiled)
    parts.append(steps(whole))
    return "".join(parts)
