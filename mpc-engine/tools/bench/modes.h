// SPDX-License-Identifier: Apache-2.0
// What tkdc bench ctr and sha1 have in common: options, sizes, a second backend beside the first.
#pragma once

#include <CLI/CLI.hpp>

#include "tools/bench/tls.h"

namespace tkdc::bench {

struct BenchModes {
  std::string cohorts, exchange = "tls", against;
  std::vector<std::size_t> sizes;  // of `cohorts`
  double seconds = 5;
  BenchSetup setup;
  bool json = false;
};

// --lanes, --cohort, --seconds, --backend, --against, --exchange of `modes`, --records,
// --zero-shares, --security and --json; a call without --cohort takes `cohorts`.
void add_mode_options(CLI::App& app, BenchModes& to, const std::string& cohorts,
                      const std::vector<std::string>& modes);

// What a mode without TLS cannot go with; empty: nothing.
std::string hindrance(const BenchModes& modes);

// Each size over TLS, by the first backend and then the second; `print` gets the reports, with why
// the backend was chosen. An exit status.
int bench_over_tls(const BenchModes& modes,
                   const std::function<TlsBench(std::size_t cohort)>& bench,
                   const std::function<void(const nlohmann::json&)>& print);

}  // namespace tkdc::bench
