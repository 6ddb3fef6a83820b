# SPDX-License-Identifier: Apache-2.0
"""The realm that drills share: each member was made by its administrator, and shares have MACs."""

from tests.integration.test_shares import turn_on
from tests.support.members import MembersRealm


class DrillRealm(MembersRealm):
    def _init_installation(self) -> None:
        super()._init_installation()
        for party in range(3):
            turn_on(self, party)
