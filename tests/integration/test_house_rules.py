# SPDX-License-Identifier: Apache-2.0
"""The rules of docs/STYLE.md that a program can check."""

import re
from pathlib import Path

import pytest

from tests import house_alike, house_arrows, house_prose, house_rules


def test_house_rules():
    found = [problem for name in house_rules.tracked() if (house_rules.ROOT / name).exists()
             for problem in house_rules.check_file(name)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("name", "line"), [
    ("tests/unit/a_test.cc", "sodium_hex2bin(out, 4, text, 8, nullptr, nullptr, nullptr);"),
    ("tests/storm/a.cc", "fail(std::strerror(errno));"),
    ("kdc-plugin/agent/a.cc", "gmtime_r(&now, &utc);"),
    ("mpc-engine/tools/a.cc", "if (::rename(draft, path) != 0) return failed();"),
    ("kdc-plugin/migrate/a.cc", "return fsync(fd) == 0;"),
    ("mpc-engine/tools/a.cc", "getopt_long(argc, argv, words, options, nullptr);")])
def test_what_there_is_one_of_is_not_written_again(tmp_path, monkeypatch, name, line):
    monkeypatch.setattr(house_rules, "ROOT", tmp_path)
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text(f"// SPDX-License-Identifier: Apache-2.0\n{line}\n")
    assert [one for one in house_rules.check_file(name) if ": another " in one]


def test_a_long_line_of_an_example_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(house_rules, "ROOT", tmp_path)
    (tmp_path / "config").mkdir()
    (tmp_path / "config/a.toml").write_text(f"# {'a' * 98}\n# {'a' * 99}\n")
    assert house_rules.check_file("config/a.toml") == ["config/a.toml:2: 101 columns"]


def test_prose_is_for_people():
    found = [fault for name in house_prose.pages()
             for fault in house_prose.faults(name, (house_prose.ROOT / name).read_text())]
    assert not found, "\n".join(found)


LONG = " ".join(["word"] * 30)
PAGE = f"""\
# {LONG}

{LONG}. So `tkdc status --config /etc/tkdc/agent-kdc/agent.toml` is the command that
says it.

- An item. {LONG} - {LONG}

      code {LONG}

  goes on. {LONG}

And then:

    code {LONG}

| a table | {LONG} |
"""


def test_prose_is_broken_anew_and_nothing_else_is():
    after = house_prose.rewrapped(PAGE)
    assert house_prose.rewrapped(after) == after
    assert after.split() == PAGE.split()
    lines = after.split("\n")
    assert [line for line in lines if len(line) > house_prose.COLUMNS] == [
        line for line in PAGE.split("\n") if line.lstrip().startswith(("#", "code", "|"))]
    assert any("`tkdc status --config /etc/tkdc/agent-kdc/agent.toml`" in line for line in lines)
    assert not any(line.startswith("  - ") for line in lines), "a list that was none"
    assert len(house_prose.faults("docs/adr/a.md", PAGE)) == 2
    assert not house_prose.faults("a.md", "It is short. So is this one.\n")


def test_a_sentence_that_two_readings_cannot_untangle_is_seen():
    most = "It" + " is" * (house_prose.MOST_WORDS - 1)
    page = "It is short. So is this.\n\n" * 9 + f"{house_prose.rewrapped(most)}{{}}.\n"
    assert not house_prose.faults("docs/a.md", page.format(""))
    assert "a sentence of 46 words, over 45" in house_prose.faults("docs/a.md",
                                                                   page.format("\nso"))[0]
    assert not house_prose.faults("docs/adr/a.md", page.format("\nso")), "a decision's reasons"
    for stop in ":;":
        joined = page.format(f"{stop}\nSo it is")
        assert "a sentence of 48 words" in house_prose.faults("docs/a.md", joined)[0], stop
    assert not house_prose.faults("docs/a.md", page.format(".\nSo it is"))


def test_each_decision_has_its_test():
    found = house_rules.check_decisions() + house_rules.check_parts()
    assert not found, "\n".join(found)


def test_the_protocols_interface_stays_short():
    name, most = "mpc-engine/protocol/protocol.h", 150
    assert house_rules.FEWER_LINES[name] == most
    assert len((house_rules.ROOT / name).read_text().splitlines()) <= most


def test_each_room_stands_among_the_folders():
    assert house_arrows.ROOMS.keys() <= house_arrows.folders_named()


def test_arrows_run_one_way():
    found = house_arrows.check(house_rules.tracked())
    assert not found, "\n".join(found)


def test_what_is_alike_is_so_on_purpose():
    found = house_alike.check(house_rules.tracked())
    assert not found, "\n".join(found)


TOY, LIST = "tests/unit/toy/", "tests/support/protocol_list.cc"


def test_a_protocol_is_its_folder_and_a_line_in_the_list():
    """docs/ARCHITECTURE.md, How to add a protocol: the toy has needed no other file."""
    built = (*house_arrows.SOURCE, "CMakeLists.txt")
    naming = {name for name in house_rules.tracked() if name.endswith(built)
              and re.search(r"\b(tkdc_)?toy\b", (house_rules.ROOT / name).read_text(), re.I)}
    assert {name for name in naming if not name.startswith(TOY)} == {LIST}
    assert len([line for line in (house_rules.ROOT / LIST).read_text().splitlines()
                if '{"toy", ' in line]) == 1
    assert any(name.startswith(TOY) for name in naming)


def a_house(tmp_path, files: dict[str, str]) -> dict[str, set[str]]:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return house_arrows.includes(list(files), tmp_path)


def test_an_arrow_upwards_is_seen(tmp_path):
    graph = a_house(tmp_path, {"mpc-engine/rep3/a.h": '#include "service/job/b.h"\n',
                               "mpc-engine/service/job/b.h": ""})
    assert house_arrows.arrows(graph)["mpc-engine/rep3"] == {"mpc-engine/service/job"}
    assert house_arrows.arrows_not_allowed(graph) == [
        "mpc-engine/rep3/a.h: includes mpc-engine/service/job/b.h: mpc-engine/rep3 does not stand "
        "on mpc-engine/service/job"]


def test_an_arrow_is_seen_however_it_is_written(tmp_path):
    for written in ('"../service/job/b.h"', "<service/job/b.h>"):
        graph = a_house(tmp_path, {"mpc-engine/rep3/a.h": f"#include {written}\n",
                                   "mpc-engine/service/job/b.h": ""})
        assert len(house_arrows.arrows_not_allowed(graph)) == 1, written


def test_what_is_in_no_room_is_not_included(tmp_path):
    graph = a_house(tmp_path, {"mpc-engine/rep3/a.h": '#include "support/b.h"\n'
                                                      "#include <vector>\n"})
    assert house_arrows.arrows_not_allowed(graph) == [
        "mpc-engine/rep3/a.h: includes support/b.h, which is in no room"]


def test_a_circle_of_files_is_seen(tmp_path):
    """Also one that closes through a header and the source of its name."""
    graph = a_house(tmp_path, {"mpc-engine/rep3/a.h": '#include "rep3/b.h"\n',
                               "mpc-engine/rep3/b.h": "",
                               "mpc-engine/rep3/b.cc": '#include "rep3/a.h"\n',
                               "mpc-engine/rep3/c.cc": '#include "rep3/a.h"\n'})
    assert not house_arrows.circle(graph)
    assert sorted(house_arrows.circle(house_arrows.units(graph))) == [
        "mpc-engine/rep3/a", "mpc-engine/rep3/b"]


def test_a_file_in_no_room_is_seen(tmp_path):
    assert house_arrows.room_of("mpc-engine/cellar/a.h") is None
    assert house_arrows.room_of("mpc-engine/rep3/unit/aes/a.h") == "mpc-engine/rep3/unit"
    assert house_arrows.room_of("mpc-engine/rep3/unit/aes/new/a.h") is None
    assert house_arrows.room_of("mpc-engine/service/cellar/a.h") is None
    files = ["attic/a.cc", "tests/unit/a.cc", "examples/a/a.cc", "attic/a.py",
             "mpc-engine/base/a.h"]
    a_house(tmp_path, dict.fromkeys(files, ""))
    in_rooms = house_arrows.sources([*files, "attic/gone.cc"], tmp_path)
    assert in_rooms == ["attic/a.cc", "mpc-engine/base/a.h"], "a new top folder, too"
    with pytest.raises(ValueError, match="not below it"):
        house_arrows.room("mpc-engine/attic", "mpc-engine/roof")


def test_readme_lists_the_top_folders():
    table = (house_rules.ROOT / "README.md").read_text().partition("\n## Folders\n")[2]
    rows = table.partition("\n## ")[0]
    listed = re.findall(r"^\| \[([\w-]+)\]\(\1/\) \| \S.* \|$", rows, re.MULTILINE)
    there = {Path(name).parts[0] for name in house_rules.tracked() if "/" in name}
    assert sorted(listed) == sorted(one for one in there if not one.startswith("."))


SIX = [f"    step_{n}();" for n in range(6)]


def two_alike(tmp_path, entry: str, **texts: list[str]) -> list[str]:
    files = {"docs/STYLE.md": f"{house_alike.SECTION}\n{entry}\n\n## Commits\n"}
    files |= {f"base/{name}.cc": "\n".join(lines) + "\n" for name, lines in texts.items()}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return house_alike.check(list(files), tmp_path)


def test_six_lines_alike_are_seen(tmp_path):
    other = ["// A comment.", *SIX[:3], "", "  // Another.", *(" " + line for line in SIX[3:])]
    assert two_alike(tmp_path, "", a=["int x;", *SIX], b=other) == [
        "base/a.cc:2: 6 lines as in base/b.cc:2: make them one, or say in docs/STYLE.md why not"]
    assert two_alike(tmp_path, "", a=SIX, b=[*SIX[:5], "other();"]) == []


def test_six_lines_alike_within_a_file_are_seen(tmp_path):
    assert len(two_alike(tmp_path, "", a=[*SIX, "between();", *SIX], b=[])) == 1


def test_an_entry_explains_a_pair_that_it_names(tmp_path):
    assert two_alike(tmp_path, "- `a.cc`, `base/b.cc`: since.", a=SIX, b=SIX) == []
    assert two_alike(tmp_path, "- `base/`: since.", a=SIX, b=SIX) == []
    for half in ("- `a.cc`: since.", "- `a.cc`: since.\n- `b.cc`: since."):
        assert "base/a.cc:1: 6 lines" in two_alike(tmp_path, half, a=SIX, b=SIX)[0], half
    assert two_alike(tmp_path, "- `c.cc`: gone.", a=SIX, b=[])[0] == (
        "docs/STYLE.md: no file is called c.cc")


def test_an_entry_that_explains_nothing_is_seen(tmp_path):
    assert two_alike(tmp_path, "- `a.cc`, `b.cc`: since.", a=SIX, b=[]) == [
        "docs/STYLE.md: nothing that stands twice is explained by the entry of a.cc"]


def test_a_file_without_an_ending_is_looked_at_and_a_link_is_not(tmp_path):
    script = "#!/bin/bash\n" + "\n".join(SIX) + "\n"
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/STYLE.md").write_text(f"{house_alike.SECTION}\n")
    (tmp_path / "run").write_text(script)
    (tmp_path / "again").symlink_to("run")
    assert not house_alike.check(["run", "again"], tmp_path)
    (tmp_path / "stop").write_text(script)
    assert len(house_alike.check(["run", "again", "stop"], tmp_path)) == 1
