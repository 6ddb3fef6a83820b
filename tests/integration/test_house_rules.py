# SPDX-License-Identifier: Apache-2.0
"""The rules of docs/STYLE.md that a program can check."""

from tests import house_rules


def test_house_rules():
    found = [problem for name in house_rules.tracked() if (house_rules.ROOT / name).exists()
             for problem in house_rules.check_file(name)]
    assert not found, "\n".join(found)


def test_each_decision_has_its_test():
    found = house_rules.check_decisions()
    assert not found, "\n".join(found)
