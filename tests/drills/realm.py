# SPDX-License-Identifier: Apache-2.0
"""The realm that drills share: its shares have MACs."""

from tests.integration.test_shares import turn_on
from tests.support.realm import Realm


class DrillRealm(Realm):
    def _init_installation(self) -> None:
        super()._init_installation()
        for party in range(3):
            turn_on(self, party)
