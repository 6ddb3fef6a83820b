# SPDX-License-Identifier: Apache-2.0
"""Hosts with a systemd each, installed by the collection over SSH, and what happens to them then.

    python3 -m tests.rollout [--short] [--only WORD]

With TKDC_ROLLOUT_SERVERS=2 a realm on two servers, by the steps of the short form.
As root. A line for each step; the last line is `rollout: ok`, or what failed. Exit status 77 with
--short, and 1 without, where this machine lets no host be started.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.rollout import (
    lab,
    packages,
    steps_certificates,
    steps_change,
    steps_faults,
    steps_give_back,
    steps_hosts,
    steps_install,
    steps_ldap,
    steps_realm,
)
from tests.rollout.lab import Lab
from tests.rollout.site import HOSTS, TWO, Site

SKIPPED = 77
# What the step says, the step, whether the short form has it.
STEPS: list[tuple[str, Callable[[Site], None], bool]] = [
    ("a wrong inventory is refused before anything is touched",
     steps_install.wrong_inventories, True),
    ("check mode on bare hosts changes nothing", steps_install.check_mode, False),
    ("install three servers and two KDC hosts; a run is killed, the next one takes it up",
     steps_install.install, True),
    ("a second run and a check after it change nothing", steps_install.second_run, True),
    ("kinit, kvno and kadmin from a client with stock packages",
     steps_install.client_commands, True),
    ("no secret left its host", steps_install.no_secret_left_its_host, True),
    ("the spare serves while the primary is cut off", steps_install.spare_serves, True),
    ("the ports stay closed when nftables is loaded anew", steps_install.keeps_its_rules, True),
    ("metrics, the doctor and a night's backup", steps_install.watched, True),
    ("kill -9 of a server", steps_faults.one_kill, True),
    ("kill -9 of each daemon", steps_faults.kills, False),
    ("each server cut off by nft", steps_faults.partitions, False),
    ("reboot of each host", steps_faults.reboots, False),
    ("each KDC host loses power while users log in", steps_faults.kdc_hosts_lose_power, False),
    ("a host loses power while keys are made", steps_faults.power_cut_amid_keys, False),
    ("a clock five minutes off", steps_hosts.clock_off, False),
    ("a full disk", steps_hosts.full_disk, False),
    ("an audit log with a file system of its own", steps_hosts.own_disk_for_the_audit_log, False),
    ("a misspelt setting is refused with file, line and key", steps_hosts.misspelt_setting, False),
    ("upgrade one server at a time while users log in", steps_change.upgrade, False),
    ("rotate krbtgt's key", steps_change.rotate_krbtgt, False),
    ("make each certificate anew while users log in", steps_certificates.rotate_certificates,
     False),
    ("an expired certificate goes on working, and is spoken of", steps_hosts.ended_certificate,
     False),
    ("promote the spare KDC", steps_change.promote, False),
    ("promote a spare while the primary has no power",
     steps_change.promote_without_the_former, False),
    ("uninstall leaves nothing", steps_install.leaves_nothing, True),
    ("import a stock realm of 1,000 principals while users log in",
     steps_realm.import_realm, False),
    ("revert it to a stock realm, with every password and keytab", steps_realm.revert, False),
    ("an imported realm takes a spare, which serves while the primary is off, and is reverted",
     steps_realm.take_a_spare, False),
    ("install anew by four administrators", steps_give_back.separate_administrators, False),
    ("revert by four administrators, where there is a spare",
     steps_give_back.revert_with_a_spare, False),
    ("install a realm on OpenLDAP; a directory dies and one is lost, a host loses power",
     steps_ldap.serve, False),
    ("promote a spare of a realm on OpenLDAP", steps_ldap.promote, False),
    ("revert it to a stock realm on OpenLDAP", steps_ldap.revert, False),
]
# What a step goes on from: the realm of the first steps, or the one that it names here.
BASE = (steps_install.install, steps_install.client_commands)
NEEDED: dict[Callable[[Site], None], tuple[Callable[[Site], None], ...]] = {
    steps_install.wrong_inventories: (),
    steps_install.check_mode: (),
    steps_install.install: (),
    steps_hosts.ended_certificate: (*BASE, steps_certificates.rotate_certificates),
    steps_change.promote_without_the_former: (*BASE, steps_change.promote),
    steps_realm.import_realm: (),
    steps_realm.take_a_spare: (),
    steps_realm.revert: (steps_realm.import_realm,),
    steps_give_back.separate_administrators: (),
    steps_give_back.revert_with_a_spare: (steps_give_back.separate_administrators,),
    steps_ldap.serve: (),
    steps_ldap.promote: (steps_ldap.serve,),
    steps_ldap.revert: (steps_ldap.serve,),
}


def say(text: str) -> None:
    print(f"rollout: {text}", flush=True)


def run_steps(site: Site, chosen: list[tuple[str, Callable[[Site], None], bool]]) -> bool:
    for title, step, _short in chosen:
        start = time.monotonic()
        print(f"rollout: {title} ... ", end="", flush=True)
        try:
            step(site)
        except (AssertionError, RuntimeError, subprocess.SubprocessError) as wrong:
            print(f"FAILED after {time.monotonic() - start:.0f} s", flush=True)
            print(f"{wrong}", file=sys.stderr)
            return False
        print("; ".join([f"{time.monotonic() - start:.0f} s", *site.taken_notes()]), flush=True)
    return True


def run_site(site: Site, chosen: list[tuple[str, Callable[[Site], None], bool]]) -> bool:
    # Servers that are killed on purpose meet checks: they latch at 3 a day unless they are told.
    site.variables["tkdc_server_settings"] = {"limits": {"opened_checks_per_day": 1000}}
    site.variables["tkdc_monitoring"] = True
    site.variables["tkdc_backup_key"] = str(site.make_backup_key())
    try:
        return run_steps(site, chosen)
    finally:
        site.close()


def choose(short: bool, word: str) -> list[tuple[str, Callable[[Site], None], bool]]:
    """With `word`: the steps that have it, behind what they need."""
    chosen = [step for step in STEPS if not (short or TWO) or step[2]]
    if not word:
        return chosen
    needed = {step[1] for step in chosen if word in step[0]}
    for step in list(needed):
        needed.update(NEEDED.get(step, BASE))
    return [step for step in chosen if step[1] in needed]


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.rollout")
    parser.add_argument("--short", action="store_true", help="a form of some minutes")
    parser.add_argument("--only", default="", help="steps with this word, after what they need")
    options = parser.parse_args()
    if reason := lab.missing():
        say(f"{'skipped' if options.short else 'FAILED'}: {reason}")
        return SKIPPED if options.short else 1
    start = time.monotonic()
    chosen = choose(options.short, options.only)
    repositories = packages.repositories(
        with_former=steps_change.upgrade in [step[1] for step in chosen])
    say(f"packages {', '.join(path.name for path in repositories)} after "
        f"{time.monotonic() - start:.0f} s")
    image = Path(subprocess.run([Path(__file__).with_name("image")], stdout=subprocess.PIPE,
                                text=True, check=True).stdout.strip())
    say(f"image {image.name} after {time.monotonic() - start:.0f} s")
    try:
        running = Lab(image, HOSTS)
        running.start()
    except (RuntimeError, AssertionError, subprocess.SubprocessError) as wrong:
        say(f"{'skipped' if options.short else 'FAILED'}: no host can be started here: {wrong}")
        return SKIPPED if options.short else 1
    try:
        say(f"{len(HOSTS)} hosts up after {time.monotonic() - start:.0f} s")
        good = run_site(Site(running, repositories), chosen)
    finally:
        running.end()
    say("ok" if good else "FAILED")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
