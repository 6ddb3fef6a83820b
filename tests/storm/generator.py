# SPDX-License-Identifier: Apache-2.0
"""tkdc-storm alone, against storm-responder, which answers at once: no realm, no server."""

from itertools import product

from tests.storm.common import none_lost, say, verdict
from tests.storm.stage import NAME, Stage, cpu_per_answer_us, new_folder
from tests.support.process import Daemon, wait_until
from tests.support.realm import default_bin

AT_ONCE = 32
LEAST_PER_S = 50_000  # by UDP with one reply in a hundred checked
START_S = 10
RESPONDER_S = 3_600  # then it ends by itself

BY = {"UDP": (), "TCP": ("--tcp",)}
CHECKED = {"1 %": ("--sample=0.01",), "all": ()}
FRESH = {"no": (), "yes": ("--fresh-tickets",)}


class Alone(Stage):
    """The generator and the responder; `how` the latter misbehaves."""

    def __init__(self, *how: str, **_of_a_realm):
        self.directory, self.bin, self.users = new_folder(), default_bin().resolve(), AT_ONCE
        self.write_password()
        self.responder = Daemon(
            "responder", [str(self.bin / "storm-responder"), "--realm", NAME, *self.who(),
                          f"--seconds={RESPONDER_S}", *how], self.env(), self.directory)

    def __enter__(self) -> "Alone":
        self.responder.start()
        wait_until(lambda: self.responder.log.read_text().endswith("\n"), START_S,
                   f"the responder's port in {self.responder.log}")
        return self

    def stop(self) -> None:
        self.responder.stop()

    def kdc_port(self) -> int:
        return int(self.responder.log.read_text())

    def env(self) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "KRB5_CONFIG": "/dev/null"}

    def processes(self) -> dict[str, list[int]]:
        return {"responder": [self.responder.pid]}


def generator(alone: Alone, seconds: float) -> bool:
    """32 users who ask again at once, by UDP and by TCP, with one reply in a hundred decrypted and

    checked and with all of them, with and without --fresh-tickets. No answer is lost or wrong,
    and by UDP with one in a hundred checked there are at least 50,000 requests per second.
    """
    runs = {case: alone.storm(f"--clients={AT_ONCE}", "--quiet", *BY[case[0]], *CHECKED[case[1]],
                              *FRESH[case[2]], duration_s=seconds)
            for case in product(BY, CHECKED, FRESH)}
    say("| by | checked | --fresh-tickets | requests/s | CPU us each, generator | responder |\n"
        "|---|---|---|---|---|---|")
    for case, result in runs.items():
        cpu = cpu_per_answer_us(result)
        say("| " + " | ".join([*case, f"{result['rate']:,.0f}", f"{cpu['tkdc-storm']:.1f}",
                               f"{cpu['responder']:.1f}"]) + " |")
    rate = runs["UDP", "1 %", "no"]["rate"]
    checked = {case: result["counts"]["checked"] / max(1, result["counts"]["ok"])
               for case, result in runs.items()}
    return verdict({
        **none_lost(*runs.values()),
        "as many checked as meant": all(share == 1 if case[1] == "all" else 0.005 < share < 0.02
                                        for case, share in checked.items()),
        f"{rate:,.0f} requests per second, at least {LEAST_PER_S:,}": rate >= LEAST_PER_S})


generator.scene = Alone
