# SPDX-License-Identifier: Apache-2.0
"""A realm whose database says who may delegate to whom (delegating_module/), with tkdc or
without."""

from tests.support.realm import Realm


class DelegatingRealm(Realm):
    def write_kerberos_configuration(self) -> None:
        super().write_kerberos_configuration()
        path = self.directory / "kdc.conf"
        text = path.read_text()
        changed = text.replace("db_library = db2\n", "db_library = delegating\n").replace(
            "db_library = ktkdc\n", "db_library = ktkdc\n        tkdc_wrapped = delegating\n")
        if self.stock:
            changed = changed.replace("[dbmodules]\n",
                                      f"[dbmodules]\n    db_module_dir = {self.bin}\n")
        assert changed != text
        path.write_text(changed)
