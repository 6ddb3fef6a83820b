# SPDX-License-Identifier: Apache-2.0
"""The pages of measured figures are what their files say."""

import re

import pytest

from tests.bench import measurements
from tests.support.realm import ROOT

MOST_LINES = 120


def test_the_pages_are_made_of_their_files():
    files = measurements.load()
    page = measurements.PAGE.read_text()
    assert measurements.ALL.read_text() == measurements.all_tables(files)
    assert page == measurements.with_headline(page, files)
    assert len(page.splitlines()) <= MOST_LINES


def test_every_link_to_a_table_finds_it():
    anchors = {re.sub(r"[^\w -]", "", line.lstrip("# ")).lower().replace(" ", "-")
               for line in measurements.ALL.read_text().splitlines() if line.startswith("#")}
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page != measurements.ALL]
    asked = {(page.name, anchor) for page in pages
             for anchor in re.findall(r"measurements/README\.md#([\w-]+)", page.read_text())}
    assert len(asked) > 5
    assert not {one for one in asked if one[1] not in anchors}


def test_a_row_without_all_its_columns_is_refused():
    with pytest.raises(ValueError, match="other columns"):
        measurements.table({"name": "a", "columns": ["", "µs"], "rows": [["x", "1"], ["y"]]})


def test_a_changed_figure_is_another_page():
    files = measurements.load()
    page = measurements.PAGE.read_text()
    files[measurements.HEADLINE]["rows"][0][2] += " more"
    assert measurements.with_headline(page, files) != page
    files["counts"]["tables"][0]["rows"][0][1] += "0"
    assert measurements.all_tables(files) != measurements.ALL.read_text()
