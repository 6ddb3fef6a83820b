# SPDX-License-Identifier: Apache-2.0
"""A client in a loop: the servers' default limits stop it, and nobody else."""

from collections import Counter

from tests.storm.common import failures, say, verdict
from tests.storm.scene import PASSWORD, Scene

LOOP = "loop"
AT_ONCE = 256
USER_KEY_PER_S, USER_KEY_BURST = 50, 1_000  # the defaults of [limits]
LOOP_TIMEOUT_MS = 5_000
OTHERS_PER_S = 5
LEAST_S = 40


def client_in_a_loop(scene: Scene, seconds: float) -> bool:
    """One user logs in again and again, 256 at once, while others log in at 5 per second:

    his key is refused beyond what user_key_per_s and user_key_burst allow, and his requests stay
    unanswered; no other login fails, and he himself gets in again once the loop has ended.
    """
    scene.kadmin_local(f'addprinc -pw "{PASSWORD}" {LOOP}')
    duration = max(LEAST_S, seconds)
    loop = scene.start_storm(f"--clients={AT_ONCE}", "--quiet", "--warmup=0",
                             f"--timeout-ms={LOOP_TIMEOUT_MS}", "--retransmit-ms=1000",
                             duration_s=duration, name=LOOP,
                             who=["--user", LOOP, "--password-file", str(scene.password_file)])
    others = scene.storm(f"--rate={OTHERS_PER_S}", "--poisson", "--quiet",
                         duration_s=duration - 5, report="client-in-a-loop")
    looped = scene.finish_storm(loop, duration, name=LOOP)
    limited = scene.limited()
    # His key is the one that most timestamps were opened with.
    keys = Counter(line["key"] for line in scene.operations("kdc")
                   if line["op"] == "open" and line["usage"] == 1 and line["status"] == "ok")
    his = keys.most_common(1)[0][0]
    own = [line for line in scene.operations("kdc")
           if line["key"] == his and line["status"] == "ok"]
    # The generator's clock starts before the servers' first operation, and ends after the last.
    allowed = USER_KEY_BURST + USER_KEY_PER_S * (looped["duration_s"] + 1)
    say(f"{LOOP}: {looped['counts']['ok']} tickets, {looped['counts']['lost']} unanswered, "
        f"{len(own)} operations of {allowed:.0f} allowed; {limited} refused. Others: p99 "
        f"{others['latency_ms']['p99']:.0f} ms")
    again = scene.client(LOOP).kinit(LOOP, PASSWORD)
    return verdict({
        "the loop was refused": limited > 0 and looped["counts"]["lost"] > 0,
        "its key did no more than is allowed": 0 < len(own) <= allowed,
        "no wrong ticket": looped["counts"]["wrong"] == 0,
        "no other login failed": failures(others) == 0,
        "the loop's user gets in again": again.ok})
