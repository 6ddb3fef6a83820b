// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/stream_pair.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

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

// The child's whole life.
[[noreturn]] void report_and_exit(const UniqueFd& to, const nlohmann::json& said) {
  const std::string report = said.dump();
  const auto written = ::write(to.get(), report.data(), report.size());
  _exit(written == static_cast<ssize_t>(report.size()) ? 0 : 1);
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
  char text[4096];
  const auto bytes = ::read(from_child.get(), text, sizeof text);
  waitpid(child, nullptr, 0);
  out[there_name] = nlohmann::json::parse(text, text + std::max<ssize_t>(bytes, 0), nullptr, false);
  if (out[there_name].is_discarded()) return fail("bench: the other process died");
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

Result<nlohmann::json> run_duplex_pair(const StreamPair& pair, const DuplexEnd& first,
                                       const DuplexEnd& second) {
  return run_both(
      2, "first",
      [&](std::vector<PairEnd> ends) -> Result<nlohmann::json> {
        auto writer = make_writer(pair, std::move(ends[0]));
        if (!writer) return writer.error();
        auto reader = make_reader(pair, std::move(ends[1]), true);
        return reader ? first(**writer, **reader) : reader.error();
      },
      "second",
      [&](std::vector<PairEnd> ends) -> Result<nlohmann::json> {
        auto reader = make_reader(pair, std::move(ends[0]));
        if (!reader) return reader.error();
        auto writer = make_writer(pair, std::move(ends[1]), false);
        return writer ? second(**writer, **reader) : writer.error();
      });
}

}  // namespace tkdc::bench
