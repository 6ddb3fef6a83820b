# SPDX-License-Identifier: Apache-2.0
"""Writes tkdc.dashboard.json, a dashboard of Grafana 10 or later on what tkdc-exporter answers, by
Grafana's own SDK (grafana-foundation-sdk, which `./bootstrap --lint` installs into .venv).

    .venv/bin/python config/monitoring/dashboard.py            writes it anew
    .venv/bin/python config/monitoring/dashboard.py --check    ends with 1 where it would differ
"""

import sys
from pathlib import Path

from grafana_foundation_sdk.builders import dashboard, prometheus, stat, timeseries
from grafana_foundation_sdk.builders.common import ReduceDataOptions, VizLegendOptions
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import LegendDisplayMode, LegendPlacement
from grafana_foundation_sdk.models.dashboard import DashboardCursorSync, DataSourceRef

FILE = Path(__file__).with_name("tkdc.dashboard.json")
SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
WHERE = 'instance=~"$instance"'
RATE = "$__rate_interval"


def rate(metric: str, by: str) -> str:
    return f"sum by ({by}) (rate({metric}{{{WHERE}}}[{RATE}]))"


def quantile(part: float, metric: str, by: str = "operation") -> str:
    return f"histogram_quantile({part}, {rate(f'{metric}_bucket', f'le, {by}')})"


def each(metric: str) -> str:
    """Of an operation, on average."""
    return f"{rate(f'{metric}_sum', 'operation')} / {rate(f'{metric}_count', 'operation')}"


def is_now(metric: str) -> str:
    return f"{metric}{{{WHERE}}}"


# Title, unit, query, what names a line.
STATS = (
    ("Healthy", "bool_yes_no", f"min({is_now('tkdc_healthy')})", ""),
    ("Servers in session", "none",
     f"sum(max by (server) ({is_now('tkdc_server_session_up')}))", ""),
    ("Latched", "bool_yes_no", f"max({is_now('tkdc_server_latched')})", ""),
    ("Keys", "none", f"max({is_now('tkdc_server_keys')})", ""),
    ("Operations a second", "ops",
     f"sum(rate(tkdc_agent_operation_seconds_count{{{WHERE}}}[{RATE}]))", ""),
    ("Failed in an hour", "none",
     f"sum(increase(tkdc_agent_operations_total{{{WHERE},outcome=~\"unavailable|inconsistent|"
     "internal\"}[1h]))", ""),
)
PANELS = {
    "Operations": (
        ("Operations, by operation", "ops",
         rate("tkdc_agent_operation_seconds_count", "operation"), "{{operation}}"),
        ("Median, as clients of the agent have it", "s",
         quantile(0.5, "tkdc_agent_operation_seconds"), "{{operation}}"),
        ("99th percentile, as clients of the agent have it", "s",
         quantile(0.99, "tkdc_agent_operation_seconds"), "{{operation}}"),
        ("99th percentile, at the servers", "s",
         quantile(0.99, "tkdc_server_operation_seconds"), "{{operation}}"),
        ("Outcomes", "ops", rate("tkdc_agent_operations_total", "outcome"), "{{outcome}}"),
        ("Jobs refused or failed, by result", "ops",
         f"sum by (result) (rate(tkdc_server_results_total{{{WHERE},result!=\"ok\",server=\"0\"}}"
         f"[{RATE}]))", "{{result}}"),
    ),
    "Servers": (
        ("Jobs that wait or run", "none", is_now("tkdc_server_pending_jobs"), "server {{server}}"),
        ("Lanes: part of the time at work", "percentunit",
         rate("tkdc_server_lane_busy_seconds_total", "server, lane"),
         "server {{server}}, lane {{lane}}"),
        ("Rounds", "ops", rate("tkdc_server_rounds_total", "server"), "server {{server}}"),
        ("Octets to the other servers", "Bps",
         rate("tkdc_server_message_bytes_sent_total", "server"), "server {{server}}"),
        ("Rounds of an operation", "none",
         each("tkdc_server_rounds_of_operations"), "{{operation}}"),
        ("Rounds of an operation: 99th percentile", "none",
         quantile(0.99, "tkdc_server_rounds_of_operations"), "{{operation}}"),
        ("Octets of an operation", "decbytes",
         each("tkdc_server_message_bytes_of_operations"), "{{operation}}"),
        ("Octets of an operation: 99th percentile", "decbytes",
         quantile(0.99, "tkdc_server_message_bytes_of_operations"), "{{operation}}"),
        ("Verification: 99th percentile of a batch", "s",
         quantile(0.99, "tkdc_server_verification_seconds", "server"), "server {{server}}"),
        ("Verification: batches", "ops", rate("tkdc_server_verification_seconds_count", "server"),
         "server {{server}}"),
        ("Garbled circuits that stand ready", "none", is_now("tkdc_server_garbled_ready"),
         "server {{server}}"),
        ("Masks that stand ready", "none", is_now("tkdc_server_masks_held"), "server {{server}}"),
        ("Garbled circuits: none was left", "ops",
         rate("tkdc_server_garbled_missed_total", "server"), "server {{server}}"),
    ),
    "Agents": (
        ("Jobs, by agent", "ops",
         f"max by (agent) (rate(tkdc_server_agent_asked_total{{{WHERE}}}[{RATE}]))", "{{agent}}"),
        ("Refused: asked too often", "ops",
         f"max by (agent) (rate(tkdc_server_agent_limited_total{{{WHERE}}}[{RATE}]))",
         "{{agent}}"),
        ("Operations under way", "none", is_now("tkdc_agent_pending"), "{{instance}}"),
        ("Clients", "none", is_now("tkdc_agent_clients"), "{{instance}}"),
        ("Other agents of the host: 1 answers, 0 does not", "none",
         is_now("tkdc_other_agent_up"), "{{agent}}, {{instance}}"),
    ),
    "Hosts": (
        ("Clocks: how far the peer's is ahead", "s", is_now("tkdc_server_peer_clock_ahead_seconds"),
         "server {{server}}, of {{peer}}"),
        ("Room left on disks", "percentunit",
         f"{is_now('tkdc_server_disk_free_bytes')} / {is_now('tkdc_server_disk_bytes')}",
         "server {{server}}, {{of}}"),
        ("Events that audit logs lack", "none", is_now("tkdc_server_audit_failures_total"),
         "server {{server}}"),
        ("Shares that differ", "none", is_now("tkdc_server_shares_alarms_total"),
         "server {{server}}"),
        ("Nonce epochs left", "none", is_now("tkdc_server_epochs_left"), "server {{server}}"),
        ("Verifications broken since a release", "none", is_now("tkdc_server_checks_broken"),
         "server {{server}}"),
        ("Warnings", "none",
         "sum by (server) ({__name__=~\"tkdc_server_(clock_warning|clock_error|"
         "certificate_warning|disk_warning|audit_trouble|audit_behind|former_keys|seals_near_limit|"
         "backup_warning|dropped_warning|agents_warning|shares_audit_warning|revoked_now)\","
         f"{WHERE}}})", "server {{server}}"),
        ("Uptime", "s", is_now("tkdc_server_uptime_seconds"), "server {{server}}"),
    ),
}


def query(expression: str, legend: str, instant: bool) -> prometheus.Dataquery:
    made = prometheus.Dataquery().expr(expression).legend_format(legend).ref_id("A")
    return made.instant() if instant else made.range()


def stat_panel(title: str, unit: str, expression: str, legend: str) -> stat.Panel:
    return (stat.Panel().title(title).unit(unit).datasource(SOURCE).span(4).height(4)
            .reduce_options(ReduceDataOptions().calcs(["lastNotNull"]))
            .with_target(query(expression, legend, True)))


def lines_panel(title: str, unit: str, expression: str, legend: str) -> timeseries.Panel:
    panel = timeseries.Panel().title(title).unit(unit).datasource(SOURCE).span(12).height(8)
    if "_ahead_" not in expression:  # a clock may be behind
        panel.min(0)
    legends = VizLegendOptions().display_mode(LegendDisplayMode.LIST)
    return (panel.legend(legends.placement(LegendPlacement.BOTTOM).show_legend(True))
            .with_target(query(expression, legend, False)))


def made() -> str:
    board = (dashboard.Dashboard("tkdc").uid("tkdc").tags(["kerberos", "tkdc"]).editable()
             .refresh("10s").time("now-1h", "now").timezone("browser")
             .tooltip(DashboardCursorSync.CROSSHAIR)
             .with_variable(dashboard.DatasourceVariable("datasource").type("prometheus"))
             .with_variable(dashboard.QueryVariable("instance").datasource(SOURCE)
                            .query("label_values(tkdc_healthy, instance)").multi(True)
                            .include_all(True).all_value(".*")))
    for panel in STATS:
        board.with_panel(stat_panel(*panel))
    for row, panels in PANELS.items():
        board.with_row(dashboard.Row(row))
        for panel in panels:
            board.with_panel(lines_panel(*panel))
    return JSONEncoder(sort_keys=True, indent=2).encode(board.build()) + "\n"


def main() -> int:
    text = made()
    if sys.argv[1:] != ["--check"]:
        FILE.write_text(text, encoding="utf-8")
        return 0
    if FILE.exists() and FILE.read_text(encoding="utf-8") == text:
        return 0
    print(f"{FILE} is not what this program writes: run it", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
