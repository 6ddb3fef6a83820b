// SPDX-License-Identifier: Apache-2.0
// Octets in a second, and CPU seconds for a GiB at each end, the kernel's included. A piece is
// copied into the writer's ring and out of the reader's, as a caller with buffers of its own does;
// each begins with its number, which the reader compares.
#include "tools/bench/stream.h"

#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "link/tls_context.h"
#include "tools/bench/stopwatch.h"
#include "tools/bench/stream_pair.h"

namespace tkdc::bench {
namespace {

struct StreamArguments {
  double seconds = 3;
  BulkOptions options;
  std::size_t piece_bytes = 64 * 1024;
  std::string records = "auto";
  bool json = false;
};

nlohmann::json report_of(const BulkCounters& counters, double cpu_s, double wall_s) {
  const double gib = static_cast<double>(counters.octets) / static_cast<double>(1 << 30);
  return {{"octets", counters.octets},
          {"octets_per_s", static_cast<double>(counters.octets) / wall_s},
          {"cpu_s_per_gib", cpu_s / gib},
          {"blocked_share", 1e-6 * static_cast<double>(counters.blocked_us) / wall_s},
          {"seconds", wall_s}};
}

Result<nlohmann::json> write_stream(const StreamArguments& arguments, BulkWriter& writer) {
  SecretVector piece(arguments.piece_bytes);
  const Stopwatch watch;
  for (std::uint64_t number = 0; watch.wall_s() < arguments.seconds; ++number) {
    std::memcpy(piece.data(), &number, sizeof number);
    if (auto done = writer.write(piece, kPatienceMs); !done) return done.error();
  }
  writer.finish();
  auto done = writer.wait_finished(kPatienceMs);
  if (!done) return done.error();
  if (!*done) return fail("bench: the reader does not confirm the end");
  return report_of(writer.counters(), watch.cpu_s(), watch.wall_s());
}

Result<nlohmann::json> read_stream(const StreamArguments& arguments, BulkReader& reader) {
  SecretVector piece(arguments.piece_bytes);
  const Stopwatch watch;
  for (std::uint64_t number = 0;; ++number) {
    auto event = reader.wait(1, kPatienceMs);
    if (!event) return event.error();
    if (*event == BulkReader::Event::kEnd) break;
    if (auto done = reader.read(piece, kPatienceMs); !done) return done.error();
    std::uint64_t got = 0;
    std::memcpy(&got, piece.data(), sizeof got);
    if (got != number) return fail("bench: the pieces did not arrive in order");
  }
  return report_of(reader.counters(), watch.cpu_s(), watch.wall_s());
}

void print_stream(const nlohmann::json& report) {
  for (const char* end : {"writer", "reader"}) {
    const auto& one = report[end];
    std::cout << end << ": " << one["octets_per_s"].get<double>() / 1e9 << " GB/s, "
              << one["cpu_s_per_gib"].get<double>() << " CPU seconds per GiB, waited "
              << 100 * one["blocked_share"].get<double>() << " % of " << one["seconds"] << " s\n";
  }
}

int bench_stream(const StreamArguments& arguments) {
  auto report = run_stream_pair(
      {Transport::kTls, arguments.records, arguments.options},
      [&](BulkWriter& writer) { return write_stream(arguments, writer); },
      [&](BulkReader& reader) { return read_stream(arguments, reader); });
  if (!report) {
    std::cerr << "tkdc bench: " << report.error().message << "\n";
    return 1;
  }
  (*report)["ring_bytes"] = arguments.options.ring_bytes;
  (*report)["piece_bytes"] = arguments.piece_bytes;
  (*report)["records"] =
      tls_library(arguments.records == "openssl" ? RecordCipher::kOpenssl : RecordCipher::kFastest)
          .records;
  (*report)["checked"] = true;
  if (arguments.json)
    std::cout << report->dump() << "\n";
  else
    print_stream(*report);
  return 0;
}

}  // namespace

void add_stream(CLI::App& bench, int& exit_status) {
  auto arguments = std::make_shared<StreamArguments>();
  CLI::App* stream = bench.add_subcommand("stream", "a bulk stream over TLS on loopback");
  stream->add_option("--seconds", arguments->seconds, "how long")->check(CLI::Range(0.01, 600.0));
  stream->add_option("--ring", arguments->options.ring_bytes, "octets of each end's ring")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 30));
  stream->add_option("--piece", arguments->piece_bytes, "octets written and read at once")
      ->check(CLI::Range(std::size_t{8}, std::size_t{1} << 26));
  stream->add_option("--records", arguments->records, "TLS records by auto or openssl")
      ->check(CLI::IsMember({"auto", "openssl"}));
  stream->add_flag("--json", arguments->json, "one JSON object");
  stream->footer(
      "Example: OpenSSL's own records, for two seconds:\n"
      "  tkdc bench stream --records openssl --seconds 2");
  stream->callback([arguments, &exit_status] { exit_status = bench_stream(*arguments); });
}

}  // namespace tkdc::bench
