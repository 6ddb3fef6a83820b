// SPDX-License-Identifier: Apache-2.0
// tkdc bench: what the engine does on this machine.
#include "tools/bench/ahead.h"
#include "tools/bench/check.h"
#include "tools/bench/ctr.h"
#include "tools/bench/garble.h"
#include "tools/bench/latency.h"
#include "tools/bench/lut.h"
#include "tools/bench/ot.h"
#include "tools/bench/pair.h"
#include "tools/bench/sha1.h"
#include "tools/bench/stream.h"
#include "tools/bench/zero_shares.h"
#include "tools/workbench/commands.h"

namespace tkdc::workbench {

void add_bench(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("bench", "measure the engine on this machine");
  command->require_subcommand(1);
  bench::add_ahead(*command, exit_status);
  bench::add_check(*command, exit_status);
  bench::add_ctr(*command, exit_status);
  bench::add_garble(*command, exit_status);
  bench::add_latency(*command, exit_status);
  bench::add_lut(*command, exit_status);
  bench::add_ot(*command, exit_status);
  bench::add_pair(*command, exit_status);
  bench::add_sha1(*command, exit_status);
  bench::add_stream(*command, exit_status);
  bench::add_zero_shares(*command, exit_status);
}

}  // namespace tkdc::workbench
