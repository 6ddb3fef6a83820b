// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/stream_pair.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <thread>

#include "link/certificate.h"
#include "link/socket.h"
#include "link/tls_bulk_stream.h"
#include "tools/bench/tcp_stream.h"

namespace tkdc::bench {
namespace {

struct PairEnd {
  Certificate own;
  Fingerprint peer;
  UniqueFd socket;
};

Result<std::unique_ptr<TlsStream>> shake_hands(const StreamPair& pair, PairEnd end, bool client) {
  auto tls = TlsContext::create(
      end.own.certificate_pem, end.own.private_key_pem,
      pair.records == "openssl" ? RecordCipher::kOpenssl : RecordCipher::kFastest);
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

// Who dialled is TLS's client.
Result<std::unique_ptr<BulkWriter>> make_writer(const StreamPair& pair, PairEnd end,
                                                bool client = true) {
  if (pair.transport == Transport::kTcp)
    return make_tcp_bulk_writer(std::move(end.socket), "the reader", pair.options);
  auto tls = shake_hands(pair, std::move(end), client);
  if (!tls) return tls.error();
  return make_tls_bulk_writer(std::move(*tls), pair.options);
}

Result<std::unique_ptr<BulkReader>> make_reader(const StreamPair& pair, PairEnd end,
                                                bool client = false) {
  if (pair.transport == Transport::kTcp)
    return make_tcp_bulk_reader(std::move(end.socket), "the writer", pair.options);
  auto tls = shake_hands(pair, std::move(end), client);
  if (!tls) return tls.error();
  return make_tls_bulk_reader(std::move(*tls), pair.options);
}

nlohmann::json or_error(const Result<nlohmann::json>& report) {
  return report ? *report : nlohmann::json{{"error", report.error().message}};
}

// What a process does with its ends of the connections, in the order in which they were made.
using Role = std::function<Result<nlohmann::json>(std::vector<PairEnd>)>;

Result<std::vector<UniqueFd>> dial(const std::string& address, std::size_t connections) {
  std::vector<UniqueFd> sockets;
  for (std::size_t k = 0; k < connections; ++k) {
    auto socket = start_dial(address);
    if (!socket) return socket.error();
    if (!wait_ready(socket->get(), POLLOUT, monotonic_ms() + kPatienceMs))
      return fail("bench: cannot reach the other process");
    sockets.push_back(std::move(*socket));
  }
  return sockets;
}

std::vector<UniqueFd> accept_all(const UniqueFd& listening, std::size_t connections) {
  std::vector<UniqueFd> sockets;
  for (std::size_t k = 0; k < connections; ++k) {
    (void)wait_ready(listening.get(), POLLIN, monotonic_ms() + kPatienceMs);
    sockets.emplace_back(
        ::accept4(listening.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  }
  return sockets;
}

std::vector<PairEnd> ends_of(std::vector<UniqueFd> sockets, const Certificate& own,
                             const Fingerprint& peer) {
  std::vector<PairEnd> ends;
  for (UniqueFd& socket : sockets) ends.push_back({own, peer, std::move(socket)});
  return ends;
}

// The child's whole life. A report is longer than a pipe holds where it has many jobs' outputs.
[[noreturn]] void report_and_exit(const UniqueFd& to, const nlohmann::json& said) {
  const std::string report = said.dump();
  std::string_view rest = report;
  while (!rest.empty()) {
    const auto written = ::write(to.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) _exit(1);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  _exit(0);
}

// All of it: to where the child closes its end.
std::string read_report(const UniqueFd& from) {
  std::string out;
  std::array<char, 65536> some;
  for (;;) {
    const auto bytes = ::read(from.get(), some.data(), some.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return out;
    out.append(some.data(), static_cast<std::size_t>(bytes));
  }
}

std::string end_of(int status) {
  if (WIFSIGNALED(status)) return "died of signal " + std::to_string(WTERMSIG(status));
  return "ended with " + std::to_string(WEXITSTATUS(status)) + " and no report";
}

// `here` in this process, `there` in a child.
Result<nlohmann::json> run_both(std::size_t connections, const char* here_name, const Role& here,
                                const char* there_name, const Role& there) {
  auto mine = make_certificate("tkdc bench writer"), others = make_certificate("tkdc bench reader");
  if (!mine || !others) return fail("bench: no certificates");
  auto listening = listen_on("127.0.0.1:0");
  if (!listening) return listening.error();
  auto port = local_port(listening->get());
  if (!port) return port.error();
  int pipe_fds[2];
  if (::pipe(pipe_fds) != 0) return fail("bench: no pipe");
  UniqueFd from_child(pipe_fds[0]), to_parent(pipe_fds[1]);
  const pid_t child = fork();
  if (child < 0) return fail("bench: cannot fork");
  if (child == 0)
    report_and_exit(
        to_parent,
        or_error(there(ends_of(accept_all(*listening, connections), *others, mine->sha256))));
  to_parent = UniqueFd();
  nlohmann::json out;
  auto sockets = dial("127.0.0.1:" + std::to_string(*port), connections);
  out[here_name] = or_error(sockets ? here(ends_of(std::move(*sockets), *mine, others->sha256))
                                    : sockets.error());
  const std::string said = read_report(from_child);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  out[there_name] = nlohmann::json::parse(said, nullptr, false);
  if (out[there_name].is_discarded()) return fail("bench: the other process " + end_of(status));
  for (const char* end : {here_name, there_name})
    if (out[end].contains("error")) return fail(out[end]["error"].get<std::string>());
  return out;
}

}  // namespace

Result<nlohmann::json> run_stream_pair(
    const StreamPair& pair, const std::function<Result<nlohmann::json>(BulkWriter&)>& write,
    const std::function<Result<nlohmann::json>(BulkReader&)>& read) {
  return run_both(
      1, "writer",
      [&](std::vector<PairEnd> ends) -> Result<nlohmann::json> {
        auto writer = make_writer(pair, std::move(ends[0]));
        return writer ? write(**writer) : writer.error();
      },
      "reader",
      [&](std::vector<PairEnd> ends) -> Result<nlohmann::json> {
        auto reader = make_reader(pair, std::move(ends[0]));
        return reader ? read(**reader) : reader.error();
      });
}

Result<nlohmann::json> finished(Result<nlohmann::json> report, BulkWriter& out, BulkReader& in) {
  if (!report) return report;
  out.finish();
  auto done = out.wait_finished(kPatienceMs);
  if (!done) return done.error();
  if (auto end = in.wait(1, kPatienceMs); !end) return end.error();
  return report;
}

Result<nlohmann::json> run_duplex_pair(const StreamPair& pair, const DuplexEnd& first,
                                       const DuplexEnd& second) {
  const auto alone = [](const DuplexEnd& end) -> DuplexLane {
    return [&end](std::size_t, BulkWriter& out, BulkReader& in) { return end(out, in); };
  };
  auto report = run_duplex_lanes(pair, 1, alone(first), alone(second));
  if (report)
    for (const char* end : {"first", "second"}) (*report)[end] = nlohmann::json((*report)[end][0]);
  return report;
}

namespace {

// Who dialled makes a lane's writer first, the other one the reader at its end.
Result<nlohmann::json> run_lane(const StreamPair& pair, std::vector<PairEnd>& ends,
                                std::size_t lane, bool dialled, const DuplexLane& body) {
  std::unique_ptr<BulkWriter> out;
  std::unique_ptr<BulkReader> in;
  for (const bool writes : {dialled, !dialled}) {
    PairEnd end = std::move(ends[2 * lane + (writes == dialled ? 0 : 1)]);
    if (writes) {
      auto writer = make_writer(pair, std::move(end), dialled);
      if (!writer) return writer.error();
      out = std::move(*writer);
    } else {
      auto reader = make_reader(pair, std::move(end), dialled);
      if (!reader) return reader.error();
      in = std::move(*reader);
    }
  }
  return body(lane, *out, *in);
}

Result<nlohmann::json> run_lanes(const StreamPair& pair, std::vector<PairEnd> ends, bool dialled,
                                 const DuplexLane& body) {
  std::vector<Result<nlohmann::json>> reports(ends.size() / 2, fail("bench: not begun"));
  std::vector<std::thread> threads;
  for (std::size_t lane = 0; lane < reports.size(); ++lane)
    threads.emplace_back([&, lane] { reports[lane] = run_lane(pair, ends, lane, dialled, body); });
  for (std::thread& one : threads) one.join();
  nlohmann::json out = nlohmann::json::array();
  for (const auto& report : reports) {
    if (!report) return report.error();
    out.push_back(*report);
  }
  return out;
}

}  // namespace

Result<nlohmann::json> run_duplex_lanes(const StreamPair& pair, std::size_t lanes,
                                        const DuplexLane& first, const DuplexLane& second) {
  const auto role = [&](bool dialled, const DuplexLane& body) -> Role {
    return [&, dialled](std::vector<PairEnd> ends) {
      return run_lanes(pair, std::move(ends), dialled, body);
    };
  };
  return run_both(2 * lanes, "first", role(true, first), "second", role(false, second));
}

}  // namespace tkdc::bench
