# SPDX-License-Identifier: Apache-2.0
"""The tools of `make bench` and `make scaling`: a regression shows, a plot is one."""

import xml.etree.ElementTree as ElementTree

from tests.bench import instructions, lut_scaling, migration, scaling
from tests.bench.diagram import HEIGHT

PROFILE = """\
ob=/somewhere/bench-workload
fn=tkdc::(anonymous namespace)::invert(unsigned long, unsigned char const*)'2
10 400
calls=3 0
10 9000
11 100
fn=tkdc::gf64::lift_tile(tkdc::ClaimTile const&) const
12 30
ob=/lib/libc.so.6
fn=memcpy
1 7777
"""


def test_only_a_functions_own_costs_in_the_program_count():
    assert instructions.own_costs(PROFILE) == {"invert": 500, "gf64::lift_tile": 30}


def test_names_lose_their_types():
    name = ("std::vector<int, tkdc::Wiping<int> > "
            "tkdc::(anonymous namespace)::Cohort<8ul>::load(int) const [clone .part.0]")
    assert instructions.plain(name) == "Cohort::load"


def figures(total, invert):
    return {"aes gfni": {"total": total, "functions": {"invert": invert, "load": 5}}}


def test_a_regression_shows():
    before = figures(100, 50)
    assert instructions.regressions(before, figures(100, 50)) == []
    assert instructions.regressions(before, figures(102, 51)) == []
    assert instructions.regressions(before, figures(110, 50)) == \
        ["aes gfni: total: 100 -> 110 (+10.0%)"]
    assert instructions.regressions(before, figures(100, 60)) == \
        ["aes gfni: invert: 50 -> 60 (+20.0%)"]
    assert instructions.regressions(before, figures(80, 60)) == []  # cheaper in all
    assert instructions.regressions({}, figures(100, 50)) == []


def test_the_plot_has_every_point():
    points = [{"lanes": lanes, "cohort": cohort, "blocks_per_s": 1000 * lanes + cohort,
               "cpu_us_per_block": 10 / lanes}
              for lanes in scaling.LANES for cohort in scaling.COHORTS]
    root = ElementTree.fromstring(scaling.plot(points))
    circles = [e for e in root.iter() if e.tag.endswith("circle")]
    assert len(circles) == 2 * len(points)
    assert all(0 < float(c.get("cy")) < HEIGHT for c in circles)
    assert len({c.get("cx") for c in circles}) == 2 * len(scaling.COHORTS)


def test_the_plot_of_lookup_tables_has_every_point():
    points = [{"mode": mode, "by": by, "value": value, "ahead_cpu_us": 9000.0 / (k + 1),
               "ahead_octets": 10_000.0 * value, "online_cpu_us": 9.0}
              for by, values in lut_scaling.VALUES.items() for mode in lut_scaling.COLOURS
              for k, value in enumerate(values)]
    root = ElementTree.fromstring(lut_scaling.plot(points))
    circles = [e for e in root.iter() if e.tag.endswith("circle")]
    assert len(circles) == len(points)
    assert all(0 < float(c.get("cy")) < HEIGHT for c in circles)
    steps = sum(len(values) for values in lut_scaling.VALUES.values())
    assert len({c.get("cx") for c in circles}) == steps
    rows = lut_scaling.rows(points)
    assert len(rows) == len(points)
    assert rows[0] == ["blocks at once", "1", "AES-LT", "9,000", "10,000", "9.0"]


def test_a_migration_that_lost_something_fails():
    whole = {"principals_that_differ": [], "stock_logins": 100, "stock_logins_tried": 100}
    assert migration.came_back_whole(whole)
    assert not migration.came_back_whole(whole | {"principals_that_differ": ["princ a@B"]})
    assert not migration.came_back_whole(whole | {"stock_logins": 99})
    assert not migration.came_back_whole(whole | {"stock_logins": 0, "stock_logins_tried": 0})
