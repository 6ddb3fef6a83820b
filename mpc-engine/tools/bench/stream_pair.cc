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

Result<std::unique_ptr<BulkWriter>> make_writer(const StreamPair& pair, PairEnd end) {
  if (pair.transport == Transport::kTcp)
    return make_tcp_bulk_writer(std::move(end.socket), "the reader", pair.options);
  auto tls = shake_hands(pair, std::move(end), true);
  if (!tls) return tls.error();
  return make_tls_bulk_writer(std::move(*tls), pair.options);
}

Result<std::unique_ptr<BulkReader>> make_reader(const StreamPair& pair, PairEnd end) {
  if (pair.transport == Transport::kTcp)
    return make_tcp_bulk_reader(std::move(end.socket), "the writer", pair.options);
  auto tls = shake_hands(pair, std::move(end), false);
  if (!tls) return tls.error();
  return make_tls_bulk_reader(std::move(*tls), pair.options);
}

nlohmann::json or_error(const Result<nlohmann::json>& report) {
  return report ? *report : nlohmann::json{{"error", report.error().message}};
}

// The child's whole life.
[[noreturn]] void read_and_report(const StreamPair& pair, PairEnd end, const UniqueFd& to_writer,
                                  const std::function<Result<nlohmann::json>(BulkReader&)>& read) {
  std::string report;
  {
    auto reader = make_reader(pair, std::move(end));
    report = or_error(reader ? read(**reader) : reader.error()).dump();
  }
  const auto written = ::write(to_writer.get(), report.data(), report.size());
  _exit(written == static_cast<ssize_t>(report.size()) ? 0 : 1);
}

}  // namespace

Result<nlohmann::json> run_stream_pair(
    const StreamPair& pair, const std::function<Result<nlohmann::json>(BulkWriter&)>& write,
    const std::function<Result<nlohmann::json>(BulkReader&)>& read) {
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
    read_and_report(pair, {std::move(*reading), writing->sha256, std::move(socket)}, to_writer,
                    read);
  }
  to_writer = UniqueFd();
  auto socket = start_dial("127.0.0.1:" + std::to_string(*port));
  nlohmann::json out;
  if (socket && wait_ready(socket->get(), POLLOUT, monotonic_ms() + kPatienceMs)) {
    auto writer = make_writer(pair, {std::move(*writing), reading->sha256, std::move(*socket)});
    out["writer"] = or_error(writer ? write(**writer) : writer.error());
  } else {
    out["writer"] = {{"error", "bench: cannot reach the reader"}};
  }
  char text[4096];
  const auto bytes = ::read(from_reader.get(), text, sizeof text);
  waitpid(child, nullptr, 0);
  out["reader"] = nlohmann::json::parse(text, text + std::max<ssize_t>(bytes, 0), nullptr, false);
  if (out["reader"].is_discarded()) return fail("bench: the reader died");
  for (const char* end : {"writer", "reader"})
    if (out[end].contains("error")) return fail(out[end]["error"].get<std::string>());
  return out;
}

}  // namespace tkdc::bench
