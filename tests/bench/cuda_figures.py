# SPDX-License-Identifier: Apache-2.0
"""Registers and instructions of the CUDA kernels, and the floor they set: needs no GPU.

    python3 -m tests.bench.cuda_figures build/cuda/cuda/gpu.cu.o

Counts machine instructions of sm_90 as cuobjdump prints them. A floor is what the busiest unit
of an H200 needs for them if nothing else cost anything: a measurement can only be slower. Of the
mask kernels only the generators are counted, not how they come to the message, which depends on
its length and alignment: of AES-CTR counters, keys and rounds, of ChaCha20 the loops of rounds.
Of malicious mode's check a kernel's loops count as often as a block's S-boxes make them run.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURE = "sm_90"

# An H200 by its data sheet and the CUDA programming guide's table of throughputs for compute
# capability 9.0: results of integer and logical instructions per clock and multiprocessor, and of
# all instructions.
PROCESSORS, CLOCK_HZ, LOGICAL_PER_CLOCK, ISSUED_PER_CLOCK = 132, 1.98e9, 64, 128
REGISTERS, MAX_THREADS = 65536, 2048
LOGICAL = {"LOP3", "SHF", "IADD3", "ISETP", "PRMT", "SEL", "VIADD", "LEA"}

MASKS = (("MaskByAes", 128), ("MaskByChaCha", 64))  # octets that a thread makes
ROUNDS, ROUND_LOOP = 10, 64  # of AES-128 and of ChaCha20's double rounds; a loop of so many is one
STREAMS = 2
MESSAGE_OCTETS = 360         # for each block, masked
SBOXES_PER_BLOCK_AND_ROUND = 16

# A SHA-1 compression in the shape of the fewest bits: products and sums of planes in its rounds
# (cuda_test counts them: RippleSchedule.FitsAProgramAndAQueuesGraphs), a bit sent for each product.
SHA1_PRODUCTS, SHA1_SUMS, COLUMNS = 11035, 15472, 32
# Of malicious mode's check: a thread of a lift or of sums has eight lanes of 32 S-boxes.
OCTET_THREADS = ROUNDS * SBOXES_PER_BLOCK_AND_ROUND / 32 / 8
PRODUCTS, POINTS = 3, 31                   # of the S-box's form
LIFTS = {"X": 48, "Y": 72, "Z": 72}        # strands in both x, both y, z
EXTENDS = {"0": (2, 0), "1": (3, 1)}       # x, y: how many, and how many of them of two maps
IMAGES_IMAD = 128                          # multiplications of a strand's images, eight lanes
ELEMENTS, ALL_FOLDS = 10, 4 / 3            # of a vector; 1 + 1/4 + 1/16 ..
# Bits: a block is 64 octets of lanes in 16 slots; z's two components in each slot.
BITS_OF_BLOCK, BIT_POINTS, BIT_STRANDS_OF_Z = 64 * 8 * 16, 65, 32


def mask_row(mask: str) -> str:
    """What the row of a zero-share's kernels is called."""
    return f"{mask} (streams)"


def tool(name: str) -> str:
    if own := os.environ.get("CUDA_ROOT"):  # the machine's toolkit instead of PyPI's
        return str(Path(own) / "bin" / name)
    toolkit = ROOT / "build/cuda-toolkit"
    found = sorted(toolkit.glob(f"lib/python3*/site-packages/nvidia/*/bin/{name}"))
    if not found:
        sys.exit(f"cuda_figures: no {name}; run cuda/fetch-toolkit")
    return str(found[-1])


def cuobjdump(option: str, path: str) -> str:
    command = [tool("cuobjdump"), option, "-arch", ARCHITECTURE, path]
    environment = {"PATH": str(Path(tool("nvdisasm")).parent) + ":/usr/bin:/bin"}
    return subprocess.run(command, env=environment, capture_output=True, text=True,
                          check=True).stdout


def short_name(mangled: str) -> str:
    """`octets::Norm` of the mangled name of its kernel; template arguments follow a blank."""
    body = re.search(r"body_kernelINS0_(.*?)EEvNS0_4View", mangled)
    text = body.group(1) if body else mangled
    parts, rest = [], text.lstrip("N")
    while match := re.match(r"(\d+)", rest):
        size = int(match.group(1))
        rest = rest[match.end():]
        parts.append(rest[:size])
        rest = rest[size:]
    argument = re.match(r"IL(?:[bi]|NS\w+?E)(\d)E", rest)
    return "::".join(parts) + (f" {argument.group(1)}" if argument else "")


def registers(path: str) -> dict[str, int]:
    found = re.findall(r"Function (\S+?):\s*\n\s*REG:(\d+)", cuobjdump("-res-usage", path))
    return {short_name(name): int(count) for name, count in found}


class KernelCode:
    """One kernel's instructions: (address, opcode, operands)."""

    def __init__(self) -> None:
        self.instructions: list[tuple[int, str, str]] = []

    def counts(self, first: int = 0, last: int = 1 << 62) -> Counter:
        found = Counter(op.split(".")[0] for at, op, _ in self.instructions if first <= at <= last)
        del found["NOP"]
        return found

    def round_loops(self) -> list[Counter]:
        return self.loops(ROUND_LOOP)

    def loops(self, least: int = 0) -> list[Counter]:
        """Loops of `least` instructions and more, in their order."""
        return [counts for _, _, counts in self.spans(least)]

    def spans(self, least: int = 0) -> list[tuple[int, int, Counter]]:
        """The same with their first and last address."""
        loops = []
        for at, first in self.branches():
            if first < at and sum((counts := self.counts(first, at)).values()) >= least:
                loops.append((first, at, counts))
        return loops

    def branches(self) -> list[tuple[int, int]]:
        """From where to where."""
        return [(at, int(target.group(1), 16)) for at, op, operands in self.instructions
                if op.startswith("BRA") and (target := re.search(r"0x([0-9a-f]+)", operands))]


def kernels(path: str) -> dict[str, KernelCode]:
    found: dict[str, KernelCode] = {}
    current = None
    for line in cuobjdump("-sass", path).splitlines():
        if name := re.search(r"Function : (\S+)", line):
            current = found.setdefault(short_name(name.group(1)), KernelCode())
        code = re.match(r"\s+/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+ )?\s*([A-Z0-9_.]+)\s*(.*?);", line)
        if code and current:
            current.instructions.append((int(code.group(1), 16), code.group(2), code.group(3)))
    return found


def floor_ns(counts: Counter, per_block: float) -> float:
    logical = sum(counts[op] for op in LOGICAL)
    clocks = max(logical / LOGICAL_PER_CLOCK, sum(counts.values()) / ISSUED_PER_CLOCK)
    return clocks * per_block / (PROCESSORS * CLOCK_HZ) * 1e9


def threads_resident(count: int) -> int:
    blocks = REGISTERS // (-(-count // 8) * 8 * 128)
    return min(MAX_THREADS, blocks * 128)


def row(name: str, count: int, counts: Counter, per_block: float) -> float:
    ns = floor_ns(counts, per_block)
    sys.stdout.write(f"{name:<26}{count:>10}{threads_resident(count):>9}"
                     f"{sum(counts.values()):>14}{counts['LOP3']:>7}{per_block:>16.1f}"
                     f"{ns:>10.3f}\n")
    return ns


def generators(code: dict[str, KernelCode], name: str) -> Counter:
    """Of both streams of a thread. Loops that read memory are not a generator's."""
    spans = [span for span in code[f"{name} 3"].spans(ROUND_LOOP) if not span[2]["LDG"]]
    counts: Counter = Counter()
    if name == "MaskByChaCha":
        for _, _, loop in spans:
            counts.update(scaled(loop, ROUNDS))
        return counts
    # A loop over the streams around one over the rounds. The last round has no MixColumns: it
    # leaves the loop, or the compiler has put what all rounds have, once more, in front of it.
    (first, last, rounds), (outer_first, outer_last, both) = spans
    assert outer_first < first and last < outer_last
    counts.update(both)
    counts.update(scaled(rounds, ROUNDS - 2))
    for at, target in code[f"{name} 3"].branches():
        if first < at < last < target:
            counts.update(code[f"{name} 3"].counts(first, at))
    return scaled(counts, STREAMS)


def sha1(used: dict[str, int], code: dict[str, KernelCode]) -> None:
    """For each compression, all rounds. Of Round the loops alone, with what sums and products have
    each for themselves; of Pack each instruction once.

    Round runs for a component of 32 columns, Pack for 32 bits of the message.
    """
    sys.stdout.write("\nkernel                     registers  threads  instructions   LOP3"
                     "  threads/compr.  ns/compr.\n")
    loops = code["bits::Round"].loops(16)
    # Each perhaps as one that does four at once, then the rest.
    absorb, compute = (min(half, key=Counter.total)
                       for half in (loops[:len(loops) // 2], loops[len(loops) // 2:]))
    counts: Counter = Counter({op: SHA1_PRODUCTS * n for op, n in absorb.items()})
    counts.update({op: (SHA1_PRODUCTS + SHA1_SUMS) * n for op, n in compute.items()})
    sys.stdout.write(f"  a product absorbed: {sum(absorb.values())} instructions; "
                     f"a product or sum: {sum(compute.values())}\n")
    total = row("bits::Round (loops)", used["bits::Round"], counts, 2 / COLUMNS)
    for name, threads in (("Pack", SHA1_PRODUCTS / 32), ("Slice", 2 * 22 / COLUMNS),
                          ("Unslice", 2 * 5 / COLUMNS)):
        kernel = f"bits::{name}"
        total += row(kernel, used[kernel], code[kernel].counts(), threads)
    for mask, unit in MASKS:
        ns = row(mask_row(mask), used[f"{mask} 0"], generators(code, mask),
                 SHA1_PRODUCTS / 8 / unit)
        sys.stdout.write(f"floor of a compression with {mask}: {total + ns:.2f} ns, "
                         f"{1000 / (total + ns):.0f} million/s\n")


def scaled(counts: Counter, by: float) -> Counter:
    return Counter({op: n * by for op, n in counts.items()})


Steps = dict[str, list[tuple[str, Counter]]]  # of each step: [(kernel, counts)]


def lifted(code: dict[str, KernelCode], side: int, strands: int, per_strand: int = 1) -> Counter:
    """A thread of Lift: the loop over strands, and the rest for each of the factors."""
    kernel = code[f"check::Lift {side}"]
    loop = max(kernel.loops(), key=Counter.total)
    counts = scaled(loop, strands / round(loop["IMAD"] / IMAGES_IMAD))  # the compiler unrolls it
    rest = kernel.counts()
    rest.subtract(loop)
    counts.update(scaled(rest, per_strand))
    return counts


def folded(code: dict[str, KernelCode], elements: float) -> list[tuple[str, Counter]]:
    loop = max(code["check::FoldPoints"].loops(), key=Counter.total)
    return [("check::FoldPoints", scaled(loop, elements / 4 * ALL_FOLDS)),
            ("check::Fold", scaled(code["check::Fold"].counts(), 2 * elements / 4 * ALL_FOLDS))]


def summed(code: dict[str, KernelCode]) -> Counter:
    """A thread of Sums: the products of one block and point."""
    return min(code["check::Sums"].round_loops(), key=Counter.total)


def executed(code: dict[str, KernelCode]) -> Steps:
    """What the check's kernels execute for an AES-128 block.

    Of Extend it is all that its code has: of the transform's four variants a thread runs one."""
    steps: Steps = {}
    for argument, (values, of_two_maps) in EXTENDS.items():
        kernel = code[name := f"check::Extend {argument}"]
        slots = [loop for loop in kernel.loops() if sum(loop.values()) < 1000]
        counts = scaled(kernel.counts(), values)
        for loop in slots:
            counts.update(scaled(loop, of_two_maps))
        # Four threads have 32 lanes where one of a lift has eight.
        steps[f"factors {'xy'[int(argument)]}, points"] = [(name, scaled(counts, OCTET_THREADS))]
    per_point = scaled(summed(code), OCTET_THREADS * PRODUCTS)
    steps["lifted sums"] = [("check::Sums", scaled(per_point, POINTS))]
    for k, (side, strands) in enumerate(LIFTS.items()):
        counts = lifted(code, k, strands, 1 if side == "Z" else 2)
        steps[f"lift {side.lower()}"] = [(f"check::Lift {k}", scaled(counts, OCTET_THREADS))]
    steps["folds"] = folded(code, ELEMENTS)
    return steps


def executed_for_bits(code: dict[str, KernelCode]) -> Steps:
    """The same for a SHA-1 compression in the shape of the fewest bits. BitPoints' threads branch:
    all of its code is counted, each instruction once."""
    blocks = SHA1_PRODUCTS / BITS_OF_BLOCK
    one = {"points": ("check::BitPoints", scaled(code["check::BitPoints"].counts(), 16 * 9)),
           "lifted sums": ("check::Sums", scaled(summed(code), 8 * BIT_POINTS)),
           "lift x": ("check::LiftBits 0", scaled(code["check::LiftBits 0"].counts(), 16)),
           "lift y": ("check::LiftBits 1", scaled(code["check::LiftBits 1"].counts(), 16)),
           "lift z": ("check::Lift 2", scaled(lifted(code, 2, BIT_STRANDS_OF_Z), 8))}
    steps = {step: [(name, scaled(counts, blocks))] for step, (name, counts) in one.items()}
    steps["folds"] = folded(code, SHA1_PRODUCTS / 16)
    return steps


def check(used: dict[str, int], code: dict[str, KernelCode]) -> None:
    for what, steps in (("AES-128 block", executed(code)),
                        ("SHA-1 compression", executed_for_bits(code))):
        sys.stdout.write("\nmalicious mode's check     registers  threads  instructions   LOP3"
                         f"   IMAD  ns/{what}\n")
        total = 0.0
        for step, parts in steps.items():
            for name, counts in parts:
                ns = floor_ns(counts, 1)
                total += ns
                sys.stdout.write(f"{step + ': ' + name[7:]:<27}{used[name]:>9}"
                                 f"{threads_resident(used[name]):>9}{sum(counts.values()):>14.0f}"
                                 f"{counts['LOP3']:>7.0f}{counts['IMAD']:>7.0f}{ns:>10.3f}\n")
        sys.stdout.write(f"sum: {total:.2f} ns for each {what}\n")
    for name, of in (("check::Product", 1), ("check::ProductOfPlanes", 32)):
        counts = scaled(code[name].counts(), 1 / of)
        sys.stdout.write(f"{name}, one of {of}: {used[name]} registers, "
                         f"{sum(counts.values()):.0f} instructions, {counts['LOP3']:.0f} LOP3, "
                         f"{counts['IMAD']:.0f} IMAD\n")


def main() -> int:
    path = sys.argv[1]
    used, code = registers(path), kernels(path)
    sys.stdout.write("kernel                     registers  threads  instructions   LOP3"
                     "  threads/block  ns/block\n")
    totals: dict[str, float] = {}
    for representation, lanes in (("octets", 32), ("planes", 32)):
        total = 0.0
        for layer in ("Norm", "Pairs", "Invert", "Product"):
            name = f"{representation}::{layer}"
            total += row(name, used[name], code[name].counts(),
                         ROUNDS * SBOXES_PER_BLOCK_AND_ROUND / lanes)
        name = f"{representation}::EncryptRound 0"
        per_round = 2 if representation == "octets" else 1  # threads for each block
        total += row(name, used[name], code[name].counts(), ROUNDS * per_round)
        totals[representation] = total
    for name, unit in MASKS:
        counts = generators(code, name)
        totals[name] = row(mask_row(name), used[f"{name} 3"], counts, MESSAGE_OCTETS / unit)
        sys.stdout.write(f"  for 16 octets of one stream: "
                         f"{counts['LOP3'] * 8 / unit:.0f} LOP3\n")
    for representation in ("octets", "planes"):
        for mask in ("MaskByAes", "MaskByChaCha"):
            ns = totals[representation] + totals[mask]
            sys.stdout.write(f"floor of {representation} and {mask}: {ns:.2f} ns for each AES-128 "
                             f"block, {1000 / ns:.0f} million blocks/s\n")
    sha1(used, code)
    check(used, code)
    return 0


if __name__ == "__main__":
    sys.exit(main())
