// SPDX-License-Identifier: Apache-2.0
#include "storm/results.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace tkdc::storm {
namespace {

using nlohmann::json;

double ms(std::int64_t us) { return static_cast<double>(us) / 1000; }

template <class... Arguments>
std::string format(const char* pattern, Arguments... arguments) {
  char text[400];
  std::snprintf(text, sizeof text, pattern, arguments...);
  return text;
}

unsigned long long big(std::uint64_t number) { return number; }

json counts_object(const Counts& c) {
  return {{"sent", c.sent},       {"ok", c.ok},
          {"refused", c.refused}, {"errors", c.errors},
          {"wrong", c.wrong},     {"lost", c.lost},
          {"unsent", c.unsent},   {"retransmits", c.retransmits},
          {"checked", c.checked}, {"strays", c.strays},
          {"noise", c.noise},     {"broken_connections", c.broken_connections}};
}

json latency_object(const Histogram& h) {
  return {{"count", h.count()},          {"mean", h.mean() / 1000},
          {"p50", ms(h.percentile(50))}, {"p90", ms(h.percentile(90))},
          {"p99", ms(h.percentile(99))}, {"p999", ms(h.percentile(99.9))},
          {"max", ms(h.max())}};
}

// All rows as one.
BatchRow together(const std::vector<BatchRow>& rows) {
  BatchRow sum;
  for (const BatchRow& row : rows) {
    sum.seconds += row.seconds;
    sum.counts.operations += row.counts.operations;
    sum.counts.cohorts += row.counts.cohorts;
    sum.counts.rounds += row.counts.rounds;
    sum.counts.operation_rounds += row.counts.operation_rounds;
    sum.counts.limited += row.counts.limited;
  }
  return sum;
}

json batch_object(const BatchRow& row) {
  const ServerCounts& c = row.counts;
  return {{"at_s", row.at_s},
          {"seconds", row.seconds},
          {"operations", c.operations},
          {"cohorts", c.cohorts},
          {"rounds", c.rounds},
          {"limited", c.limited},
          {"per_cohort", row.per_cohort()},
          {"at_once", row.at_once()}};
}

void write_batches(std::ostream& out, const std::vector<BatchRow>& rows) {
  if (rows.empty()) return;
  const BatchRow sum = together(rows);
  out << format(
      "  servers: %llu operations in %llu cohorts, %.1f each; %llu rounds, %.1f operations in "
      "each; %llu refused by a limit\n",
      big(sum.counts.operations), big(sum.counts.cohorts), sum.per_cohort(), big(sum.counts.rounds),
      sum.at_once(), big(sum.counts.limited));
}

}  // namespace

bool Results::good() const {
  bool met = recorder.totals().wrong == 0;
  for (const Requirement& requirement : requirements) met = met && requirement.met;
  return met;
}

Result<Requirement> parse_requirement(const std::string& text) {
  Requirement r;
  r.text = text;
  std::size_t sign = text.find_first_of("<>");
  if (sign == std::string::npos) return fail("--require " + text + ": METRIC<NUMBER or >");
  r.metric = text.substr(0, sign);
  r.below = text[sign] == '<';
  std::string number = text.substr(sign + 1);
  char* end = nullptr;
  r.bound = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != 0) return fail("--require " + text + ": no number");
  auto known = metrics(Results{});
  if (!known.contains(r.metric)) {
    std::string names;
    for (const auto& [name, value] : known) names += " " + name;
    return fail("--require " + text + ": metrics are" + names);
  }
  return r;
}

std::map<std::string, double> metrics(const Results& results) {
  const Histogram& h = results.recorder.latency();
  Counts c = results.recorder.totals();
  auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  double meant = number(c.finished() + c.unsent);
  double failed = number(c.errors + c.wrong + c.lost + c.unsent);
  return {{"rate", results.rate()},
          {"best-rate", results.best_rate},
          {"mean", h.mean() / 1000},
          {"p50", ms(h.percentile(50))},
          {"p90", ms(h.percentile(90))},
          {"p99", ms(h.percentile(99))},
          {"p999", ms(h.percentile(99.9))},
          {"max", ms(h.max())},
          {"ok", number(c.ok)},
          {"refused", number(c.refused)},
          {"errors", number(c.errors)},
          {"wrong", number(c.wrong)},
          {"lost", number(c.lost)},
          {"unsent", number(c.unsent)},
          {"checked", number(c.checked)},
          {"retransmits", number(c.retransmits)},
          {"failed-share", meant > 0 ? failed / meant : 0}};
}

void judge_requirements(Results& results) {
  auto found = metrics(results);
  for (Requirement& r : results.requirements) {
    r.found = found[r.metric];
    r.met = r.below ? r.found < r.bound : r.found > r.bound;
  }
}

std::string progress_line(const Second& s) {
  const Counts& c = s.counts;
  std::string line =
      format("%4llu s  sent %llu  ok %llu  p50 %.1f  p99 %.1f  max %.1f ms  waiting %llu",
             big(s.number + 1), big(c.sent), big(c.ok), ms(s.p50_us), ms(s.p99_us), ms(s.max_us),
             big(s.in_flight));
  const std::pair<const char*, std::uint64_t> rare[] = {
      {"refused", c.refused}, {"errors", c.errors}, {"WRONG", c.wrong},
      {"lost", c.lost},       {"unsent", c.unsent}, {"again", c.retransmits}};
  for (const auto& [name, number] : rare)
    if (number > 0) line += format("  %s %llu", name, big(number));
  return line;
}

void write_summary(std::ostream& out, const Results& results) {
  const Recorder& r = results.recorder;
  Counts c = r.totals();
  const Histogram& h = r.latency();
  out << format("%llu answers in %.2f s: %.1f per second\n", big(c.ok), r.duration_s,
                results.rate())
      << format("latency ms  p50 %.2f  p90 %.2f  p99 %.2f  p99.9 %.2f  max %.2f  mean %.2f\n",
                ms(h.percentile(50)), ms(h.percentile(90)), ms(h.percentile(99)),
                ms(h.percentile(99.9)), ms(h.max()), h.mean() / 1000)
      << format(
             "sent %llu  refused %llu  errors %llu  wrong %llu  lost %llu  unsent %llu  "
             "retransmits %llu  decrypted and checked %llu\n",
             big(c.sent), big(c.refused), big(c.errors), big(c.wrong), big(c.lost), big(c.unsent),
             big(c.retransmits), big(c.checked));
  for (const auto& [code, times] : r.errors())
    out << format("  KRB-ERROR %d %s: %llu\n", code, error_name(code).c_str(), big(times));
  for (const auto& [what, times] : r.wrongs())
    out << format("  WRONG %s: %llu\n", what.c_str(), big(times));
  for (const RampStep& s : results.steps)
    out << format("  step %.1f/s: %.1f/s, p99 %.1f ms, %s\n", s.rate, s.achieved, s.p99_ms,
                  s.passed ? "passed" : "missed");
  if (!results.steps.empty())
    out << format("highest rate with p99 within %.0f ms: %.1f per second\n",
                  results.options->limit_ms, results.best_rate);
  auto answered = static_cast<double>(c.ok + c.refused + c.errors);
  for (const Watched& p : results.processes) {
    out << format("  %-12s CPU %.2f s", p.name.c_str(), p.cpu_s());
    // A ramp's answers are those of its best step, its CPU that of all.
    if (results.steps.empty() && answered > 0)
      out << format(", %.1f us per answer", 1e6 * p.cpu_s() / answered);
    out << format(", %.1f MB, %d files\n", p.seconds.empty() ? 0 : p.seconds.back().resident_mb,
                  p.seconds.empty() ? 0 : p.seconds.back().files);
  }
  write_batches(out, results.batches);
  for (const Requirement& q : results.requirements)
    out << format("%s: %s (%.3f)\n", q.text.c_str(), q.met ? "met" : "NOT MET", q.found);
  if (results.interrupted) out << "interrupted\n";
}

void write_json(std::ostream& out, const Results& results) {
  const Recorder& r = results.recorder;
  json document;
  document["title"] = results.options->title;
  document["duration_s"] = r.duration_s;
  document["rate"] = results.rate();
  document["counts"] = counts_object(r.totals());
  document["latency_ms"] = latency_object(r.latency());
  document["refusal_ms"] = latency_object(r.refusals());
  document["errors"] = json::object();
  for (const auto& [code, times] : r.errors()) document["errors"][error_name(code)] = times;
  document["wrong"] = r.wrongs();
  document["metrics"] = metrics(results);
  for (const Second& s : r.seconds())
    document["seconds"].push_back({{"rate", s.rate},
                                   {"counts", counts_object(s.counts)},
                                   {"in_flight", s.in_flight},
                                   {"p50", ms(s.p50_us)},
                                   {"p99", ms(s.p99_us)},
                                   {"max", ms(s.max_us)}});
  document["steps"] = json::array();
  for (const RampStep& s : results.steps)
    document["steps"].push_back({{"rate", s.rate},
                                 {"achieved", s.achieved},
                                 {"p99", s.p99_ms},
                                 {"max", s.max_ms},
                                 {"passed", s.passed},
                                 {"counts", counts_object(s.counts)}});
  if (!results.steps.empty()) document["best_rate"] = results.best_rate;
  document["processes"] = json::object();
  for (const Watched& p : results.processes) {
    json& mine = document["processes"][p.name];
    mine["cpu_s"] = p.cpu_s();
    for (const ProcessUsage& u : p.seconds)
      mine["seconds"].push_back({{"cpu_s", u.cpu_s()}, {"mb", u.resident_mb}, {"files", u.files}});
  }
  if (!results.batches.empty()) {
    document["servers"] = batch_object(together(results.batches));
    for (const BatchRow& row : results.batches)
      document["servers"]["rows"].push_back(batch_object(row));
  }
  document["requirements"] = json::array();
  for (const Requirement& q : results.requirements)
    document["requirements"].push_back({{"text", q.text}, {"found", q.found}, {"met", q.met}});
  document["good"] = results.good();
  document["interrupted"] = results.interrupted;
  out << document.dump(1, ' ', false, json::error_handler_t::replace) << "\n";
}

void write_csv(std::ostream& out, const Results& results) {
  out << "second,rate,sent,ok,refused,errors,wrong,lost,unsent,retransmits,in_flight,"
         "p50_ms,p99_ms,max_ms\n";
  for (const Second& s : results.recorder.seconds()) {
    const Counts& c = s.counts;
    out << format("%llu,%.3f,%llu,%llu,%llu,%llu,%llu,", big(s.number), s.rate, big(c.sent),
                  big(c.ok), big(c.refused), big(c.errors), big(c.wrong))
        << format("%llu,%llu,%llu,%llu,%.3f,%.3f,%.3f\n", big(c.lost), big(c.unsent),
                  big(c.retransmits), big(s.in_flight), ms(s.p50_us), ms(s.p99_us), ms(s.max_us));
  }
}

}  // namespace tkdc::storm
