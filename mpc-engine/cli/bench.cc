// SPDX-License-Identifier: Apache-2.0
// tkdc bench: what the engine does on this machine.
#include "cli/bench_check.h"
#include "cli/bench_ctr.h"
#include "cli/bench_latency.h"
#include "cli/bench_sha1.h"
#include "cli/bench_zero_shares.h"
#include "cli/commands.h"

namespace tkdc::cli {

void add_bench(CLI::App& app, int& exit_status) {
  CLI::App* bench = app.add_subcommand("bench", "measure the engine on this machine");
  bench->require_subcommand(1);
  add_bench_check(*bench, exit_status);
  add_bench_ctr(*bench, exit_status);
  add_bench_latency(*bench, exit_status);
  add_bench_sha1(*bench, exit_status);
  add_bench_zero_shares(*bench, exit_status);
}

}  // namespace tkdc::cli
