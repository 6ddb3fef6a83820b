# SPDX-License-Identifier: Apache-2.0
"""docs/security.md: who gets what is a table by deployment, without a gap, and each bound of its
chapter for cryptographers is what the page says that proves it. Whether a cell's words are true, no
test can say."""

import re

from tests import house_rules

PAGE = house_rules.ROOT / "docs/security.md"
DEPLOYMENTS = ["three servers, malicious mode", "three servers, semi-honest mode", "two servers",
               "stock KDC"]
INTRUDERS = ["a server's disk or backup", "the KDC host's disk or backup",
             "one server, and reads it", "one server, and changes it", "the KDC host",
             "the KDC host and one server", "two servers", "the network",
             "one server's administrator's account", "a kadmin administrator's account"]
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def table(text: str, heading: str) -> list[list[str]]:
    section = re.split(r"^#+ ", text[text.index(heading) + len(heading):], flags=re.M)[0]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in section.splitlines()
            if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows if not row[0].startswith("---")]


def powers(text: str) -> set[str]:
    raised = {one.translate(RAISED) for one in re.findall(r"2(⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text)}
    return raised | set(re.findall(r"2\^(-\d+)", text))


def test_who_gets_what_is_a_table_without_a_gap():
    head, *rows = table(PAGE.read_text(), "## Threat model\n")
    assert head[1:] == DEPLOYMENTS
    assert [re.match(r"\*\*(.+?)\*\*", row[0])[1] for row in rows] == INTRUDERS
    assert all(len(row) == len(head) for row in rows)
    empty = [(row[0], head[at]) for row in rows for at, cell in enumerate(row) if not cell]
    assert empty == [("**two servers**", "stock KDC")], "it has one"


def test_each_bound_is_that_of_the_page_which_proves_it():
    text = PAGE.read_text()
    assert text.index("## Threat model") < text.index("## For cryptographers")
    _, *rows = table(text, "### Bounds\n")
    assert len(rows) >= 5
    for what, bound in rows:
        page, said = re.search(r"\((protocols/[^)#]+)", bound)[1], powers(bound)
        assert len(said) == 1, what
        assert said <= powers((PAGE.parent / page).read_text()), f"{what}: {page} says another"
