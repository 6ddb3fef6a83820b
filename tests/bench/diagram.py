# SPDX-License-Identifier: Apache-2.0
"""A diagram of lines as SVG: values that are apart by equal steps to the right, upwards from 0."""

from collections.abc import Callable
from dataclasses import dataclass

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 460, 320, 62, 40, 18, 46


@dataclass
class Line:
    name: str
    colour: str
    points: list[tuple[int, float]]


def nice_top(value: float) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    step = 10.0 ** (len(str(int(value))) - 1)
    return next(factor * step for factor in (1, 2, 5, 10) if factor * step >= value)


def diagram(lines: list[Line], title: str, below: str, shown: Callable[[float], str],
            left: int) -> str:
    """`shown` writes a value; `left` is where the diagram begins in its picture."""
    steps = sorted({x for line in lines for x, _ in line.points})
    top = nice_top(max(value for line in lines for _, value in line.points))
    x0, x1 = left + LEFT, left + WIDTH - RIGHT
    y0, y1 = HEIGHT - BOTTOM, TOP

    def x(value: int) -> float:
        return x0 + (x1 - x0) * steps.index(value) / (len(steps) - 1)

    def y(value: float) -> float:
        return y0 - (y0 - y1) * value / top

    parts = [f'<text x="{(x0 + x1) / 2}" y="22" text-anchor="middle">{title}</text>']
    for k in range(6):
        value = top * k / 5
        parts.append(f'<line x1="{x0}" x2="{x1}" y1="{y(value):.1f}" y2="{y(value):.1f}" '
                     'stroke="#ddd"/>'
                     f'<text x="{x0 - 6}" y="{y(value) + 4:.1f}" text-anchor="end">'
                     f'{shown(value)}</text>')
    for step in steps:
        parts.append(f'<text x="{x(step):.1f}" y="{y0 + 18}" text-anchor="middle">{step}</text>')
    parts.append(f'<text x="{(x0 + x1) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{below}</text>')
    for line in lines:
        where = " ".join(f"{x(step):.1f},{y(value):.1f}" for step, value in sorted(line.points))
        parts.append(f'<polyline points="{where}" fill="none" stroke="{line.colour}" '
                     'stroke-width="2"/>')
        parts += [f'<circle cx="{x(step):.1f}" cy="{y(value):.1f}" r="3" fill="{line.colour}"/>'
                  for step, value in line.points]
    return "\n".join(parts)


def picture(diagrams: list[str], lines: list[Line], right: bool = False) -> str:
    """Side by side, with the names of their lines in the first one."""
    begin = WIDTH - RIGHT - 90 * len(lines) if right else LEFT + 20
    legend = "".join(f'<text x="{begin + 90 * k}" y="{TOP + 4}" fill="{line.colour}">'
                     f'{line.name}</text>' for k, line in enumerate(lines))
    width = WIDTH * len(diagrams)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" '
            'font-family="sans-serif" font-size="12">\n'
            f'<rect width="{width}" height="{HEIGHT}" fill="white"/>\n'
            + "\n".join(diagrams) + f"\n{legend}\n</svg>\n")
