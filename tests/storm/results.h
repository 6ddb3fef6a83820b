// SPDX-License-Identifier: Apache-2.0
// A run's results, and the forms they are given in.
#pragma once

#include "storm/options.h"
#include "storm/servers.h"

namespace tkdc::storm {

struct RampStep {
  double rate, achieved, p99_ms, max_ms;
  Counts counts;
  bool passed;
};

// METRIC<NUMBER or METRIC>NUMBER, and how it went.
struct Requirement {
  std::string text, metric;
  bool below = true;
  double bound = 0;
  double found = 0;
  bool met = false;
};

struct Results {
  const Options* options = nullptr;
  Recorder recorder;
  std::vector<RampStep> steps;
  double best_rate = 0;  // of a ramp
  std::vector<Watched> processes;
  double watched_s = 0;
  std::vector<BatchRow> batches;  // of tkdc's servers, if asked for
  std::vector<Requirement> requirements;
  bool interrupted = false;

  double rate() const {
    return recorder.duration_s <= 0
               ? 0
               : static_cast<double>(recorder.totals().ok) / recorder.duration_s;
  }
  // Wrong answers are never tolerated, whatever is required.
  bool good() const;
};

Result<Requirement> parse_requirement(const std::string& text);
// Every metric by name; times in milliseconds.
std::map<std::string, double> metrics(const Results& results);
void judge_requirements(Results& results);

void write_summary(std::ostream& out, const Results& results);
void write_json(std::ostream& out, const Results& results);
void write_csv(std::ostream& out, const Results& results);
void write_html(std::ostream& out, const Results& results);
std::string progress_line(const Second& second);

}  // namespace tkdc::storm
