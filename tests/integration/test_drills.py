# SPDX-License-Identifier: Apache-2.0
"""The page of drills is played: its short ones here, all of them by `make drill`."""

import tempfile
from pathlib import Path

import pytest

from tests.drills.page import PAGE, sections
from tests.drills.play import play_all
from tests.drills.realm import DrillRealm
from tests.integration.conftest import STOCK, free_base_port, remove

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]


def test_short_drills_end_with_logins():
    directory = Path(tempfile.mkdtemp(prefix="tkdc-"))
    with DrillRealm(directory, "DRILL.REALM", free_base_port()) as realm:
        took = play_all(realm, short=True)
    remove(realm)
    assert len(took) == sum(one.short for one in sections(PAGE.read_text())) >= 6


def test_a_line_that_nobody_types_is_found():
    with pytest.raises(ValueError, match="nobody types"):
        sections(PAGE.read_text() + "\n    tkdc status\n")
    read = sections(PAGE.read_text())
    assert all(one.lines for one in read)
    assert sum(line.refused for one in read for line in one.lines) == 1
