# SPDX-License-Identifier: Apache-2.0
"""Every key that a server's or an agent's configuration may have is explained where people look:
in the example that is installed and on the manual page."""

import re

import pytest

from tests.integration.conftest import STOCK
from tests.support.realm import ROOT

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]

READ = re.compile(r'\b(?:table|file)\.\w+\(\s*"([a-z0-9_]+)"')
RATES = re.compile(r'\bread_limit\(table, "([a-z_]+)"')  # two keys each
PAGES = [
    ("mpc-engine/service/server/config.cc", "config/tkdc.toml", "docs/man/tkdc-server.8"),
    ("kdc-plugin/agent/config.cc", "config/agent.toml", "docs/man/tkdc-agent.8"),
]


def text(name: str) -> str:
    return (ROOT / name).read_text()


@pytest.mark.parametrize(("reader", "example", "page"), PAGES)
def test_every_key_is_explained(reader, example, page):
    keys = set(READ.findall(text(reader)))
    keys |= {rate + end for rate in RATES.findall(text(reader)) for end in ("_per_s", "_burst")}
    assert len(keys) > 12, "the reader is written in another way"
    in_example = set(re.findall(r"^#? ?\[*([a-z0-9_]+)\]*(?: =|$)", text(example), re.MULTILINE))
    assert not keys - in_example, f"{example} does not name these"
    on_page = set(re.findall(r"[a-z0-9_]+", text(page)))
    assert not keys - on_page, f"{page} does not name these"
