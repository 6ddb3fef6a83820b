// SPDX-License-Identifier: Apache-2.0
// The report: one file, no script, nothing from a network.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "storm/results.h"
#include "storm/svg.h"

namespace tkdc::storm {
namespace {

constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
body { font: 15px/1.5 sans-serif; max-width: 800px; margin: 2em auto; padding: 0 1em; }
svg { width: 100%; font-size: 12px; } polyline { stroke-width: 1.6; }
.grid { stroke: #ddd; } pre { background: #f4f4f4; padding: 1em; overflow-x: auto; }
h2 { margin-bottom: 0; font-size: 1.1em; } .good { color: #006b3c; } .bad { color: #b00020; }
</style>
)";

double ms(std::int64_t us) { return static_cast<double>(us) / 1000; }

template <class Value>
Line line(const std::string& name, const std::vector<Second>& seconds, Value value) {
  Line made{name, {}};
  for (const Second& s : seconds)
    made.points.emplace_back(static_cast<double>(s.number) + 1, value(s));
  return made;
}

Plot latency_plot(const std::vector<Second>& seconds) {
  return {"Latency over time",
          "seconds",
          "ms",
          {line("p50", seconds, [](const Second& s) { return ms(s.p50_us); }),
           line("p99", seconds, [](const Second& s) { return ms(s.p99_us); }),
           line("max", seconds, [](const Second& s) { return ms(s.max_us); })},
          true,
          {}};
}

Plot rate_plot(const std::vector<Second>& seconds) {
  auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  return {
      "Rate",
      "seconds",
      "per second",
      {line("asked for", seconds, [](const Second& s) { return s.rate; }),
       line("sent", seconds, [&](const Second& s) { return number(s.counts.sent); }),
       line("tickets", seconds, [&](const Second& s) { return number(s.counts.ok); }),
       line("sent again", seconds, [&](const Second& s) { return number(s.counts.retransmits); }),
       line("failed", seconds,
            [&](const Second& s) {
              return number(s.counts.errors + s.counts.wrong + s.counts.lost + s.counts.unsent);
            })},
      false,
      {}};
}

Plot waiting_plot(const std::vector<Second>& seconds) {
  return {"Requests under way at the end of each second",
          "seconds",
          "requests",
          {line("under way", seconds,
                [](const Second& s) { return static_cast<double>(s.in_flight); })},
          false,
          {}};
}

// x is the number of nines, as HdrHistogram's plots have it.
Plot percentile_plot(const Histogram& latency) {
  Plot plot{"Percentiles", "percentile", "ms", {{"latency", {}}}, true, {}};
  auto nines = [](double quantile) { return -std::log10(1 - quantile); };
  for (const auto& point : latency.distribution())
    if (point.quantile < 1)
      plot.lines[0].points.emplace_back(nines(point.quantile), ms(point.value_us));
  plot.x_marks = {{0, "0"},    {nines(0.5), "50"}, {1, "90"},     {2, "99"},
                  {3, "99.9"}, {4, "99.99"},       {5, "99.999"}, {6, "99.9999"}};
  return plot;
}

Plot process_plot(const Results& results, bool cpu) {
  Plot plot{cpu ? "CPU of each process" : "Memory of each process",
            "seconds",
            cpu ? "cores" : "MB",
            {},
            false,
            {}};
  for (const Watched& process : results.processes) {
    Line made{process.name, {}};
    ProcessUsage before = process.first;
    for (std::size_t i = 0; i + 1 < process.seconds.size(); ++i) {
      const ProcessUsage& now = process.seconds[i];
      double cores = std::max(0.0, now.cpu_s() - before.cpu_s());
      made.points.emplace_back(static_cast<double>(i) + 1, cpu ? cores : now.resident_mb);
      before = now;
    }
    plot.lines.push_back(made);
  }
  return plot;
}

Plot batch_plot(const std::vector<BatchRow>& rows) {
  Plot plot{"Batch size of the servers",
            "seconds",
            "operations",
            {{"in a cohort", {}}, {"in a round", {}}},
            false,
            {}};
  for (const BatchRow& row : rows) {
    if (row.counts.cohorts > 0) plot.lines[0].points.emplace_back(row.at_s, row.per_cohort());
    if (row.counts.rounds > 0) plot.lines[1].points.emplace_back(row.at_s, row.at_once());
  }
  return plot;
}

Plot ramp_plot(const Results& results) {
  Plot plot{"Steps of the ramp", "requests per second", "p99, ms", {{"p99", {}}}, true, {}};
  for (const RampStep& step : results.steps)
    plot.lines[0].points.emplace_back(step.rate, step.p99_ms);
  std::sort(plot.lines[0].points.begin(), plot.lines[0].points.end());
  return plot;
}

}  // namespace

void write_html(std::ostream& out, const Results& results) {
  const std::string title = results.options->title.empty() ? "tkdc-storm: " + results.options->kdc
                                                           : results.options->title;
  std::ostringstream summary;
  write_summary(summary, results);
  const auto& seconds = results.recorder.seconds();
  std::vector<Plot> plots = {latency_plot(seconds), percentile_plot(results.recorder.latency()),
                             rate_plot(seconds), waiting_plot(seconds)};
  if (!results.steps.empty()) plots.insert(plots.begin(), ramp_plot(results));
  if (!results.batches.empty()) plots.push_back(batch_plot(results.batches));
  plots.push_back(process_plot(results, true));
  plots.push_back(process_plot(results, false));
  out << kHead << "<title>" << html_escape(title) << "</title></head><body>\n<h1>"
      << html_escape(title) << "</h1>\n<p class=\"" << (results.good() ? "good" : "bad") << "\">"
      << (results.good() ? "All requirements are met." : "A requirement is not met.") << "</p>\n"
      << "<pre>" << html_escape(summary.str()) << "</pre>\n";
  for (const Plot& plot : plots) out << "<h2>" << html_escape(plot.title) << "</h2>\n" << svg(plot);
  out << "</body></html>\n";
}

}  // namespace tkdc::storm
