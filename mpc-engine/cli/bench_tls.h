// SPDX-License-Identifier: Apache-2.0
// tkdc bench ctr --exchange tls: the three parties as three processes with TLS between them on
// loopback.
//
// Each lane keeps one cohort of `cohort_blocks` in flight, made of jobs of 16 counter blocks with a
// key of their own. Keys are drawn on shares and thrown away; one job of the last cohort is opened
// and checked against OpenSSL.
#pragma once

#include "cli/bench_parties.h"

namespace tkdc::cli {

struct TlsBench {
  int aes = 128;
  std::size_t cohort_blocks = 4096;
  double seconds = 5;
  BenchSetup setup;
};

// A layer of more would be a packet above a link's 64 MiB.
inline constexpr std::size_t kMostTlsBlocks = std::size_t{1} << 21;

Result<nlohmann::json> measure_tls(const TlsBench& bench);

}  // namespace tkdc::cli
