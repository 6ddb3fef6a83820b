# SPDX-License-Identifier: Apache-2.0
"""A client in a loop: the servers' default limits stop it, and nobody else."""

from collections import Counter

from tests.storm.common import (
    SETTLED_S,
    all_well,
    memory_within,
    p99_within,
    recovered,
    say,
    verdict,
)
from tests.storm.scene import TIMESTAMP, Scene
from tests.storm.stage import LATE_ANSWERS_S, PASSWORD

LOOP = "loop"
AT_ONCE = 256
USER_KEY_PER_S, USER_KEY_BURST = 50, 1_000  # the defaults of [limits]
LOOP_TIMEOUT_MS = 5_000
OTHERS_PER_S, AGAIN_PER_S = 5, 2
OTHERS_P99_MS = 8_000
LEAST_S = 40


def client_in_a_loop(scene: Scene, seconds: float) -> bool:
    """One user logs in again and again, 256 at once, while others log in at 5 per second:

    his key is refused beyond what user_key_per_s and user_key_burst allow, and his requests stay
    unanswered; no other login fails or takes over 15 s, and p99 of the others is within 8 s. Once
    the loop has ended his own logins flow within 8 s.
    """
    scene.kadmin_local(f'addprinc -pw "{PASSWORD}" {LOOP}')
    he = ["--user", LOOP, "--password-file", str(scene.password_file)]
    duration = max(LEAST_S, seconds)
    loop = scene.start_storm(f"--clients={AT_ONCE}", "--quiet", "--warmup=0",
                             f"--timeout-ms={LOOP_TIMEOUT_MS}", "--retransmit-ms=1000",
                             duration_s=duration, name=LOOP, who=he)
    others = scene.storm(f"--rate={OTHERS_PER_S}", "--poisson", "--quiet",
                         duration_s=duration - 5, report="client-in-a-loop")
    looped = scene.finish_storm(loop, duration, name=LOOP)
    limited = scene.limited()
    # His key is the one that most timestamps were opened with.
    done = [line for line in scene.operations("kdc") if line["status"] == "ok"]
    his = Counter(line["key"] for line in done
                  if line["op"] == "open" and line["usage"] == TIMESTAMP).most_common(1)[0][0]
    own = sum(line["key"] == his for line in done)
    # The generator's clock starts before the servers' first operation, and ends after the last.
    allowed = USER_KEY_BURST + USER_KEY_PER_S * (looped["duration_s"] + 1)
    say(f"{LOOP}: {looped['counts']['ok']} tickets, {looped['counts']['lost']} unanswered, "
        f"{own} operations of {allowed:.0f} allowed; {limited} refused")
    again = scene.storm(f"--rate={AGAIN_PER_S}", "--quiet", "--warmup=0", duration_s=SETTLED_S,
                        who=he)
    return verdict({
        "the loop was refused": limited > 0 and looped["counts"]["lost"] > 0,
        "its key did no more than is allowed": 0 < own <= allowed,
        "no wrong ticket for it": looped["counts"]["wrong"] == again["counts"]["wrong"] == 0,
        **all_well(others),
        **p99_within(OTHERS_P99_MS, others),
        **recovered("the loop", again, -LATE_ANSWERS_S, AGAIN_PER_S, SETTLED_S),
        **memory_within(scene)})
