# SPDX-License-Identifier: Apache-2.0
"""A realm whose krb5kdc, kadmind and tools load the plugin with AddressSanitizer in it, and what
the sanitizers have to say in the end.

The stock programs are not built with the sanitizer, so its library comes first in LD_PRELOAD: it
then watches every allocation of the process, and all accesses of the plugin's own code.
"""

import re
import subprocess
from pathlib import Path

from tests.support.realm import Realm

RUNTIMES = ("libasan.so", "libubsan.so")
OURS = ("ktkdc", "tkdc-k5", "kdc-plugin/")
REPORT = "sanitizer"
# Debian's: its check of a password against the principal's name compares components with
# strcasecmp(), and they end in no NUL.
SUPPRESSED = "interceptor_via_lib:libkadm5srv_mit\n"


def runtime(name: str) -> str:
    path = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True,
                          check=True).stdout.strip()
    if not Path(path).is_absolute():
        raise FileNotFoundError(f"{name}: gcc has no sanitizer run-time library: run ./bootstrap")
    return path


class SanitizedRealm(Realm):
    def __init__(self, directory: Path, name: str, base_port: int, plugins: Path, **more):
        self.plugins = plugins.resolve()
        super().__init__(directory, name, base_port, **more)

    def write_kerberos_configuration(self) -> None:
        super().write_kerberos_configuration()
        (self.directory / "suppressed").write_text(SUPPRESSED)
        path = self.directory / "kdc.conf"
        path.write_text(path.read_text().replace(f"db_module_dir = {self.bin}\n",
                                                 f"db_module_dir = {self.plugins}\n"))

    def kdc_env(self) -> dict[str, str]:
        libraries = [*map(runtime, RUNTIMES), str(self.plugins / "libtkdc-k5.so")]
        return {**super().kdc_env(), "LD_PRELOAD": ":".join(libraries),
                "ASAN_OPTIONS": f"detect_leaks=1:exitcode=0:log_path={self.directory}/{REPORT}:"
                                f"suppressions={self.directory}/suppressed",
                "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={self.directory}/{REPORT}"}

    def complaints(self) -> list[str]:
        """Errors anywhere in these processes, and leaks of memory that our code asked for."""
        found = []
        reports = sorted(self.directory.glob(f"{REPORT}.*"))
        # Debian's kadmin.local leaks some octets: the control that leaks are looked for.
        if not reports:
            found.append("no process reported a leak: the sanitizer was not there")
        for path in reports:
            text = path.read_text(errors="replace")
            if re.search(r"ERROR: AddressSanitizer|runtime error:", text):
                found.append(text)
            found += [block for block in text.split("\n\n")
                      if "leak of" in block and any(name in block for name in OURS)]
        return found
