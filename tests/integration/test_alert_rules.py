# SPDX-License-Identifier: Apache-2.0
"""Each alert rule that is shipped: promtool reads it, it fires by its fault, and by no other's.
"""

import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
RULES = ROOT / "config/monitoring/tkdc.rules.yml"
# Series whose value is the fault, and what it is while all is well.
FAULTS = {
    "TkdcExporterAway": ('up{job="tkdc"}', 0, 1),
    "TkdcAgentAway": ("tkdc_agent_up", 0, 1),
    "TkdcOtherAgentAway": ('tkdc_other_agent_up{agent="agent-admin"}', 0, 1),
    "TkdcKeysGone": ('tkdc_agent_operations_total{outcome="unknown_key"}', "0+60", 0),
    "TkdcServerDown": ("tkdc_server_up", 0, 1),
    "TkdcServerAway": ('tkdc_server_reachable{server="1"}', 0, 1),
    "TkdcNoSession": ('tkdc_server_session_up{server="1"}', 0, 1),
    "TkdcLatched": ('tkdc_server_latched{server="1"}', 1, 0),
    "TkdcClockWrong": ('tkdc_server_clock_error{server="1"}', 1, 0),
    "TkdcRevokedNow": ('tkdc_server_revoked_now{server="1"}', 1, 0),
    "TkdcClockOff": ('tkdc_server_clock_warning{server="1"}', 1, 0),
    "TkdcAuditLogClosed": ('tkdc_server_audit_trouble{server="1"}', 1, 0),
    "TkdcAuditLogBehind": ('tkdc_server_audit_behind{server="1"}', 1, 0),
    "TkdcDiskLow": ('tkdc_server_disk_warning{server="1"}', 1, 0),
    "TkdcBackupOld": ('tkdc_server_backup_warning{server="1"}', 1, 0),
    "TkdcDroppedLate": ('tkdc_server_dropped_warning{server="1"}', 1, 0),
    "TkdcCertificateEnds": ('tkdc_server_certificate_warning{server="1"}', 1, 0),
    "TkdcFormerKeys": ('tkdc_server_former_keys{server="1"}', 1, 0),
    "TkdcSharesDiffer": ('tkdc_server_shares_alarms_total{server="1"}', 1, 0),
    "TkdcSharesAuditOverdue": ('tkdc_server_shares_audit_warning{server="1"}', 1, 0),
    "TkdcEpochs": ('tkdc_server_epoch_alarms{server="1"}', 2, 0),
    "TkdcGarbledUsedUp": ('tkdc_server_garbled_missed_total{server="1"}', "0+60", 0),
    "TkdcPoolLow": ('tkdc_server_pair_pool_least{server="1"}', 8191, 8192),
    "TkdcKeyNearLimit": ('tkdc_server_seals_near_limit{server="1"}', 1, 0),
    "TkdcChecksBroken": ('tkdc_server_checks_broken{server="1"}', "0+1", 0),
    "TkdcAgentSilent": ('tkdc_server_agents_warning{server="1"}', 1, 0),
    "TkdcAgentLimited": ('tkdc_server_agent_limited_total{agent="kdc", server="1"}', "0+60", 0),
    "TkdcExporterOld": ("tkdc_exporter_fields_unknown", 1, 0),
}
SLOW = {"TkdcFormerKeys"}  # they wait for days
STEPS = 75  # minutes: longer than any other rule waits
SLOW_STEPS = 8 * 24  # hours


def rules() -> list[dict]:
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def is_slow(fault: str | None) -> bool:
    return fault in SLOW


def case(fault: str | None, states: dict[str, list]) -> dict:
    """All series, one of them as the fault has it; the alerts expected after the last step."""
    step, steps = ("1h", SLOW_STEPS) if is_slow(fault) else ("1m", STEPS)
    inputs = [{"series": name, "values": f"{bad if alert == fault else good}x{steps}"}
              for alert, (name, bad, good) in FAULTS.items()]
    expected = [{"eval_time": f"{steps}{step[1]}", "alertname": alert, "exp_alerts": alerts}
                for alert, alerts in states.items()]
    return {"interval": step, "input_series": inputs, "alert_rule_test": expected}


def promtool(tmp_path, cases: list[dict]) -> list[subprocess.CompletedProcess]:
    """Those of one interval in a file each."""
    runs = []
    for step in ("1m", "1h"):
        path = tmp_path / f"test-{step}.yml"
        path.write_text(yaml.safe_dump({
            "rule_files": [str(RULES)], "evaluation_interval": step,
            "tests": [one for one in cases if one["interval"] == step]}))
        runs.append(subprocess.run(["promtool", "test", "rules", str(path)], capture_output=True,
                                   text=True, check=False))
    return runs


def said(runs: list[subprocess.CompletedProcess]) -> str:
    return "".join(run.stdout + run.stderr for run in runs)


def test_promtool_reads_the_rules():
    checked = subprocess.run(["promtool", "check", "rules", str(RULES)], capture_output=True,
                             text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_each_rule_has_its_fault_here():
    assert [rule["alert"] for rule in rules()] == list(FAULTS)


def test_a_rule_fires_by_no_other_fault(tmp_path):
    cases = [case(fault, {alert: [] for alert in FAULTS if alert != fault})
             for fault in (None, *FAULTS)]
    quiet = promtool(tmp_path, cases)
    assert all(run.returncode == 0 for run in quiet), said(quiet)


def test_a_slow_rule_waits(tmp_path):
    """Not within the hour in which all others fire."""
    hasty = case(None, {fault: [] for fault in SLOW})
    for one in hasty["input_series"]:
        if one["series"] in {FAULTS[fault][0] for fault in SLOW}:
            one["values"] = f"1x{STEPS}"
    quiet = promtool(tmp_path, [hasty])
    assert all(run.returncode == 0 for run in quiet), said(quiet)


def test_a_fault_of_few_among_many_is_none(tmp_path):
    """One principal's lost key wakes nobody up while others log in, nor does a reserve that a
    login misses now and then; of two servers the reserve is another."""
    gone, used_up = FAULTS["TkdcKeysGone"][0], FAULTS["TkdcGarbledUsedUp"][0]
    ok = gone.replace("unknown_key", "ok")
    of_two = 'tkdc_server_pair_missed_total{server="1"}'

    def quiet(series: dict[str, str], alert: str) -> bool:
        one = {"interval": "1m", "alert_rule_test": [
            {"eval_time": "60m", "alertname": alert, "exp_alerts": []}],
            "input_series": [{"series": name, "values": f"{values}x60"}
                             for name, values in series.items()]}
        return all(run.returncode == 0 for run in promtool(tmp_path, [one]))

    assert quiet({gone: "0+2", ok: "0+60"}, "TkdcKeysGone")
    assert not quiet({gone: "0+60", ok: "0+60"}, "TkdcKeysGone"), "krbtgt's"
    assert quiet({used_up: "0+1", of_two: "0+1"}, "TkdcGarbledUsedUp")
    assert not quiet({used_up: "0", of_two: "0+60"}, "TkdcGarbledUsedUp")


def test_a_pool_of_three_servers_is_never_low(tmp_path):
    """They have none; nor have two that have just begun."""
    one = {"interval": "1m", "input_series": [
        {"series": FAULTS["TkdcPoolLow"][0], "values": "0x60"}], "alert_rule_test": [
        {"eval_time": "60m", "alertname": "TkdcPoolLow", "exp_alerts": []}]}
    quiet = promtool(tmp_path, [one])
    assert all(run.returncode == 0 for run in quiet), said(quiet)


def test_a_rule_fires_by_its_fault(tmp_path):
    """Each is told to be quiet, and is not."""
    told = promtool(tmp_path, [case(fault, {fault: []}) for fault in FAULTS])
    text = said(told)
    assert all(run.returncode != 0 for run in told)
    assert [fault for fault in FAULTS if f"alertname: {fault}," not in text] == [], text
