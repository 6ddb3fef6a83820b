# SPDX-License-Identifier: Apache-2.0
"""A program that was built against the engine's library runs with every later one of its soname."""

import re
import shutil
import subprocess

import pytest

from tests import engine_abi
from tests.integration.conftest import STOCK

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]


def test_names_and_layout_are_as_promised():
    now, promised = engine_abi.current(), engine_abi.promised()
    gone = [line for line in promised if line not in now]
    assert not gone, f"programs rely on these: see tests/engine_abi.py\n{chr(10).join(gone)}"
    fresh = [line for line in now if line not in promised]
    assert not fresh, f"promise them too: see tests/engine_abi.py\n{chr(10).join(fresh)}"


def test_every_type_of_the_headers_is_measured():
    text, measured = "", engine_abi.LAYOUT.read_text()
    for header in engine_abi.HEADERS:
        lines = header.read_text().splitlines()
        text += "\n".join(line.partition("//")[0] for line in lines) + "\n"
    types = re.findall(r"^ *(?:enum )?(?:struct|class)(?: \[\[\w+\]\])? (\w+)[^;{]*\{", text, re.M)
    assert {"Party", "PartyOptions", "Member", "Port", "Ring", "Result"} <= set(types)
    assert not [one for one in types if not re.search(rf"SIZE\((\w+::)?{one}\b", measured)]
    values = re.findall(r"\bk[A-Z]\w*", text)
    assert not [one for one in values if f"::{one})" not in measured]


def changed(tmp_path, header: str, old: str, new: str) -> list[str]:
    """The layout with another text in a copy of the headers."""
    for folder in ("tkdc", "in_tree"):
        shutil.copytree(engine_abi.API / folder, tmp_path / folder)
    text = (tmp_path / "tkdc" / header).read_text()
    assert text.count(old) == 1
    (tmp_path / "tkdc" / header).write_text(text.replace(old, new))
    return engine_abi.layout((tmp_path, tmp_path / "in_tree", engine_abi.INCLUDE[0]))


def test_a_changed_layout_is_seen(tmp_path):
    now = engine_abi.layout()
    seen = changed(tmp_path / "member", "party.h", "  int timeout_ms = 30'000;",
                   "  bool more = false;\n  std::string longer;\n  int timeout_ms = 30'000;")
    assert set(now) - set(seen) >= {line for line in now if "PartyOptions.timeout_ms" in line}
    seen = changed(tmp_path / "value", "party.h", "kSemiHonest, kMalicious",
                   "kMalicious, kSemiHonest")
    assert len(set(now) - set(seen)) == 2


def test_a_changed_name_is_seen(tmp_path):
    source, library = tmp_path / "a.cc", tmp_path / "liba.so.0"
    source.write_text("int first(int) { return 1; }\n")

    def names() -> list[str]:
        subprocess.run(["c++", "-shared", "-fPIC", "-Wl,-soname,liba.so.0", source, "-o", library],
                       check=True)
        return engine_abi.names(library)

    assert names() == ["name _Z5firsti"]
    assert engine_abi.soname(library) == "liba.so.0"
    source.write_text("int first(long) { return 1; }\n")
    assert names() == ["name _Z5firstl"]
