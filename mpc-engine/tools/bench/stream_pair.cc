// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/stream_pair.h"

#include <fcntl.h>
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

// A process's ends towards another one, in the order in which they were made.
struct Ends {
  bool dialled = false;
  std::vector<PairEnd> ends;
};
// What a process does with its ends towards the others, in the order of their numbers.
struct Role {
  const char* name;
  std::function<Result<nlohmann::json>(std::vector<Ends>)> run;
};

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

// All processes have a connection to each other: who has the smaller number dials.
class Processes {
 public:
  Processes(std::size_t connections, const std::vector<Role>& roles)
      : connections_(connections), roles_(roles) {}

  Result<void> prepare() {
    for (const Role& role : roles_) {
      auto certificate = make_certificate(std::string("tkdc bench ") + role.name);
      if (!certificate) return certificate.error();
      certificates_.push_back(std::move(*certificate));
      // One for each that dials.
      std::vector<UniqueFd>& listening = listening_.emplace_back();
      for (std::size_t from = 0; from + 1 < listening_.size(); ++from) {
        auto socket = listen_on("127.0.0.1:0");
        if (!socket) return socket.error();
        listening.push_back(std::move(*socket));
      }
    }
    return {};
  }

  nlohmann::json run(std::size_t own) {
    std::vector<Ends> others;
    for (std::size_t other = 0; other < roles_.size(); ++other) {
      if (other == own) continue;
      auto ends = ends_towards(own, other);
      if (!ends) return or_error(ends.error());
      others.push_back(std::move(*ends));
    }
    return or_error(roles_[own].run(std::move(others)));
  }

 private:
  Result<Ends> ends_towards(std::size_t own, std::size_t other) {
    const bool dialled = own < other;
    std::vector<UniqueFd> sockets;
    if (dialled) {
      auto port = local_port(listening_[other][own].get());
      if (!port) return port.error();
      auto all = dial("127.0.0.1:" + std::to_string(*port), connections_);
      if (!all) return all.error();
      sockets = std::move(*all);
    } else {
      sockets = accept_all(listening_[own][other], connections_);
    }
    return Ends{dialled,
                ends_of(std::move(sockets), certificates_[own], certificates_[other].sha256)};
  }

  const std::size_t connections_;
  const std::vector<Role>& roles_;
  std::vector<Certificate> certificates_;
  std::vector<std::vector<UniqueFd>> listening_;
};

struct Child {
  pid_t pid = -1;
  UniqueFd report;
};

// The first in this process, each other one in a child: what each reports, by its name.
Result<nlohmann::json> run_all(std::size_t connections, const std::vector<Role>& roles) {
  Processes processes(connections, roles);
  if (auto ready = processes.prepare(); !ready) return ready.error();
  std::vector<Child> children;
  for (std::size_t own = 1; own < roles.size(); ++own) {
    int pipe_fds[2];
    if (::pipe2(pipe_fds, O_CLOEXEC) != 0) return fail("bench: no pipe");
    UniqueFd from_child(pipe_fds[0]);
    const UniqueFd to_parent(pipe_fds[1]);
    const pid_t pid = fork();
    if (pid < 0) return fail("bench: cannot fork");
    if (pid == 0) report_and_exit(to_parent, processes.run(own));
    children.push_back({pid, std::move(from_child)});
  }
  nlohmann::json out;
  out[roles[0].name] = processes.run(0);
  Result<void> ended;
  for (std::size_t k = 0; k < children.size(); ++k) {
    const std::string said = read_report(children[k].report);
    int status = 0;
    while (::waitpid(children[k].pid, &status, 0) < 0 && errno == EINTR) {
    }
    nlohmann::json& report = out[roles[k + 1].name];
    report = nlohmann::json::parse(said, nullptr, false);
    if (report.is_discarded()) ended = fail("bench: the other process " + end_of(status));
  }
  if (!ended) return ended.error();
  for (const Role& role : roles)
    if (out[role.name].contains("error")) return fail(out[role.name]["error"].get<std::string>());
  return out;
}

}  // namespace

Result<nlohmann::json> run_stream_pair(
    const StreamPair& pair, const std::function<Result<nlohmann::json>(BulkWriter&)>& write,
    const std::function<Result<nlohmann::json>(BulkReader&)>& read) {
  const Role writes{"writer", [&](std::vector<Ends> others) -> Result<nlohmann::json> {
                      auto writer = make_writer(pair, std::move(others[0].ends[0]));
                      return writer ? write(**writer) : writer.error();
                    }};
  const Role reads{"reader", [&](std::vector<Ends> others) -> Result<nlohmann::json> {
                     auto reader = make_reader(pair, std::move(others[0].ends[0]));
                     return reader ? read(**reader) : reader.error();
                   }};
  return run_all(1, {writes, reads});
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
  const auto alone = [](const DuplexEnd& end) -> MeshLane {
    return [&end](std::size_t, std::span<const Duplex> others) {
      return end(*others[0].out, *others[0].in);
    };
  };
  auto report = run_mesh_lanes(pair, 1, {alone(first), alone(second)});
  if (!report) return report;
  return nlohmann::json{{"first", (*report)[0][0]}, {"second", (*report)[1][0]}};
}

namespace {

// Who dialled makes a lane's writer first, the other one the reader at its end.
Result<Duplex> make_duplex(const StreamPair& pair, Ends& of, std::size_t lane) {
  Duplex out;
  for (const bool writes : {of.dialled, !of.dialled}) {
    PairEnd end = std::move(of.ends[2 * lane + (writes == of.dialled ? 0 : 1)]);
    if (writes) {
      auto writer = make_writer(pair, std::move(end), of.dialled);
      if (!writer) return writer.error();
      out.out = std::move(*writer);
    } else {
      auto reader = make_reader(pair, std::move(end), of.dialled);
      if (!reader) return reader.error();
      out.in = std::move(*reader);
    }
  }
  return out;
}

Result<nlohmann::json> run_lane(const StreamPair& pair, std::vector<Ends>& others, std::size_t lane,
                                const MeshLane& body) {
  std::vector<Duplex> streams;
  for (Ends& of : others) {
    auto made = make_duplex(pair, of, lane);
    if (!made) return made.error();
    streams.push_back(std::move(*made));
  }
  return body(lane, streams);
}

Result<nlohmann::json> run_lanes(const StreamPair& pair, std::vector<Ends> others,
                                 std::size_t lanes, const MeshLane& body) {
  std::vector<Result<nlohmann::json>> reports(lanes, fail("bench: not begun"));
  std::vector<std::thread> threads;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    threads.emplace_back([&, lane] { reports[lane] = run_lane(pair, others, lane, body); });
  for (std::thread& one : threads) one.join();
  nlohmann::json out = nlohmann::json::array();
  for (const auto& report : reports) {
    if (!report) return report.error();
    out.push_back(*report);
  }
  return out;
}

}  // namespace

Result<nlohmann::json> run_mesh_lanes(const StreamPair& pair, std::size_t lanes,
                                      const std::vector<MeshLane>& parties) {
  static constexpr const char* kNames[] = {"party 0", "party 1", "party 2", "party 3", "party 4"};
  if (parties.size() > std::size(kNames)) return fail("bench: more parties than five");
  std::vector<Role> roles;
  for (const MeshLane& body : parties)
    roles.push_back({kNames[roles.size()], [&](std::vector<Ends> others) {
                       return run_lanes(pair, std::move(others), lanes, body);
                     }});
  auto reports = run_all(2 * lanes, roles);
  if (!reports) return reports;
  nlohmann::json out = nlohmann::json::array();
  for (const Role& role : roles) out.push_back((*reports)[role.name]);
  return out;
}

}  // namespace tkdc::bench
