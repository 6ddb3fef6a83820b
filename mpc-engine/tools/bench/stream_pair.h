// SPDX-License-Identifier: Apache-2.0
// Processes with a bulk stream between them on loopback, or one in each direction: over TLS, as
// servers have it, or over TCP as it is (tcp_stream.h), to compare with programs that do no more.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "link/bulk_stream.h"

namespace tkdc::bench {

enum class Transport : std::uint8_t { kTls, kTcp };

inline constexpr int kPatienceMs = 30'000;  // of each call

struct StreamPair {
  Transport transport = Transport::kTls;
  std::string records = "auto";  // TLS records by auto or openssl
  BulkOptions options;
};

// `write` runs in this process, `read` in a child; each is left when its end of the stream is done.
// What both give back: {"writer": ..., "reader": ...}. Error: either's. One thread at the call.
Result<nlohmann::json> run_stream_pair(
    const StreamPair& pair, const std::function<Result<nlohmann::json>(BulkWriter&)>& write,
    const std::function<Result<nlohmann::json>(BulkReader&)>& read);

// One stream from the first to the second, and one back.
using DuplexEnd = std::function<Result<nlohmann::json>(BulkWriter&, BulkReader&)>;
// `first` runs in this process, `second` in a child: {"first": ..., "second": ...}.
Result<nlohmann::json> run_duplex_pair(const StreamPair& pair, const DuplexEnd& first,
                                       const DuplexEnd& second);
// Ends both streams; whoever goes first would cut the other one's short.
Result<nlohmann::json> finished(Result<nlohmann::json> report, BulkWriter& out, BulkReader& in);

// Several parties, with a stream in each direction between all of them, in some threads of each,
// which have streams of their own. Party 0 runs in this process, the others in a child each. Their
// reports: [party][lane].
struct Duplex {
  std::unique_ptr<BulkWriter> out;
  std::unique_ptr<BulkReader> in;
};
// `others` in the order of their numbers.
using MeshLane =
    std::function<Result<nlohmann::json>(std::size_t lane, std::span<const Duplex> others)>;
Result<nlohmann::json> run_mesh_lanes(const StreamPair& pair, std::size_t lanes,
                                      const std::vector<MeshLane>& parties);

}  // namespace tkdc::bench
