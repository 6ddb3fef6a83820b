// SPDX-License-Identifier: Apache-2.0
// Octets in a second, and CPU seconds for a GiB at each end, the kernel's included. A piece is
// copied into the writer's ring and out of the reader's, as a caller with buffers of its own does;
// each begins with its number, which the reader compares.
#include "tools/bench/stream.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "link/certificate.h"
#include "link/socket.h"
#include "link/tls_bulk_stream.h"
#include "tools/bench/cpu_time.h"

namespace tkdc::bench {
namespace {

struct StreamArguments {
  double seconds = 3;
  BulkOptions options;
  std::size_t piece_bytes = 64 * 1024;
  std::string records = "auto";
  bool json = false;
};

constexpr int kPatienceMs = 30'000;

struct StreamEnd {
  Certificate own;
  Fingerprint peer;
  UniqueFd socket;
};

Result<std::unique_ptr<TlsStream>> shake_hands(const StreamArguments& arguments, StreamEnd end,
                                               bool client) {
  auto tls = TlsContext::create(
      end.own.certificate_pem, end.own.private_key_pem,
      arguments.records == "openssl" ? RecordCipher::kOpenssl : RecordCipher::kFastest);
  if (!tls) return tls.error();
  auto ssl = client ? tls->client(end.peer) : tls->server(end.peer);
  if (!ssl) return ssl.error();
  auto stream = TlsStream::create(std::move(*ssl), std::move(end.socket),
                                  client ? "the reader" : "the writer");
  if (!stream) return stream;
  const long long deadline_ms = monotonic_ms() + kPatienceMs;
  for (;;) {
    auto done = (*stream)->handshake();
    if (!done) return done.error();
    if (*done) return stream;
    if (!wait_ready((*stream)->fd(), (*stream)->poll_events(), deadline_ms))
      return fail("bench: no handshake in time");
  }
}

nlohmann::json report_of(const BulkCounters& counters, double cpu_s, double wall_s) {
  const double gib = static_cast<double>(counters.octets) / static_cast<double>(1 << 30);
  return {{"octets", counters.octets},
          {"octets_per_s", static_cast<double>(counters.octets) / wall_s},
          {"cpu_s_per_gib", cpu_s / gib},
          {"blocked_share", 1e-6 * static_cast<double>(counters.blocked_us) / wall_s},
          {"seconds", wall_s}};
}

class Stopwatch {
 public:
  double wall_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  double cpu_s() const { return cpu_seconds() - cpu_; }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const double cpu_ = cpu_seconds();
};

Result<nlohmann::json> write_stream(const StreamArguments& arguments, StreamEnd end) {
  auto tls = shake_hands(arguments, std::move(end), true);
  if (!tls) return tls.error();
  auto writer = make_tls_bulk_writer(std::move(*tls), arguments.options);
  if (!writer) return writer.error();
  SecretVector piece(arguments.piece_bytes);
  const Stopwatch watch;
  for (std::uint64_t number = 0; watch.wall_s() < arguments.seconds; ++number) {
    std::memcpy(piece.data(), &number, sizeof number);
    if (auto done = (*writer)->write(piece, kPatienceMs); !done) return done.error();
  }
  (*writer)->finish();
  auto done = (*writer)->wait_finished(kPatienceMs);
  if (!done) return done.error();
  if (!*done) return fail("bench: the reader does not confirm the end");
  return report_of((*writer)->counters(), watch.cpu_s(), watch.wall_s());
}

Result<nlohmann::json> read_stream(const StreamArguments& arguments, StreamEnd end) {
  auto tls = shake_hands(arguments, std::move(end), false);
  if (!tls) return tls.error();
  auto reader = make_tls_bulk_reader(std::move(*tls), arguments.options);
  if (!reader) return reader.error();
  SecretVector piece(arguments.piece_bytes);
  const Stopwatch watch;
  for (std::uint64_t number = 0;; ++number) {
    auto event = (*reader)->wait(1, kPatienceMs);
    if (!event) return event.error();
    if (*event == BulkReader::Event::kEnd) break;
    if (auto done = (*reader)->read(piece, kPatienceMs); !done) return done.error();
    std::uint64_t got = 0;
    std::memcpy(&got, piece.data(), sizeof got);
    if (got != number) return fail("bench: the pieces did not arrive in order");
  }
  return report_of((*reader)->counters(), watch.cpu_s(), watch.wall_s());
}

nlohmann::json or_error(const Result<nlohmann::json>& report) {
  return report ? *report : nlohmann::json{{"error", report.error().message}};
}

// The reader is a process of its own, whose report comes through a pipe.
Result<nlohmann::json> measure_stream(const StreamArguments& arguments) {
  auto writing = make_certificate("tkdc bench writer"),
       reading = make_certificate("tkdc bench reader");
  if (!writing || !reading) return fail("bench: no certificates");
  auto listening = listen_on("127.0.0.1:0");
  if (!listening) return listening.error();
  auto port = local_port(listening->get());
  if (!port) return port.error();
  int pipe_fds[2];
  if (::pipe(pipe_fds) != 0) return fail("bench: no pipe");
  UniqueFd from_reader(pipe_fds[0]), to_writer(pipe_fds[1]);
  const pid_t child = fork();
  if (child < 0) return fail("bench: cannot fork");
  if (child == 0) {
    (void)wait_ready(listening->get(), POLLIN, monotonic_ms() + kPatienceMs);
    UniqueFd socket(::accept4(listening->get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    const std::string report =
        or_error(read_stream(arguments, {std::move(*reading), writing->sha256, std::move(socket)}))
            .dump();
    const auto written = ::write(to_writer.get(), report.data(), report.size());
    _exit(written == static_cast<ssize_t>(report.size()) ? 0 : 1);
  }
  to_writer = UniqueFd();
  auto socket = start_dial("127.0.0.1:" + std::to_string(*port));
  nlohmann::json out;
  if (socket && wait_ready(socket->get(), POLLOUT, monotonic_ms() + kPatienceMs))
    out["writer"] = or_error(
        write_stream(arguments, {std::move(*writing), reading->sha256, std::move(*socket)}));
  else
    out["writer"] = {{"error", "bench: cannot reach the reader"}};
  char text[4096];
  const auto bytes = ::read(from_reader.get(), text, sizeof text);
  waitpid(child, nullptr, 0);
  out["reader"] = nlohmann::json::parse(text, text + std::max<ssize_t>(bytes, 0), nullptr, false);
  if (out["reader"].is_discarded()) return fail("bench: the reader died");
  for (const char* end : {"writer", "reader"})
    if (out[end].contains("error")) return fail(out[end]["error"].get<std::string>());
  return out;
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
  auto report = measure_stream(arguments);
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
  stream->callback([arguments, &exit_status] { exit_status = bench_stream(*arguments); });
}

}  // namespace tkdc::bench
