// SPDX-License-Identifier: Apache-2.0
// storm-responder: answers every AS-REQ at once with a ticket whose reply part
// is sealed afresh under the client's key, so that the generator is measured
// with all its checks. On request it misbehaves, which the generator must
// notice: it drops, spoils, refuses, or stands still.
//
// One thread, loopback only; ends by itself after --seconds or on SIGTERM. Its
// first line on stdout is the port.
#include <arpa/inet.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <fstream>
#include <iostream>
#include <unordered_map>

#include "storm/fake_kdc.h"
#include "storm/transport.h"

namespace {

using namespace tkdc;
using namespace tkdc::storm;

constexpr unsigned kBatch = 64;
constexpr std::size_t kMaxRequest = 4096;

struct ResponderOptions {
  Pattern pattern;
  std::string realm, password_file, keytab;
  int port = 0, error = 0;
  double drop = 0, spoil = 0, seconds = 600, stall_after_s = 0, stall_s = 0;
};

volatile std::sig_atomic_t stopped = 0;
void on_signal(int) { stopped = 1; }

class Responder {
 public:
  Responder(const ResponderOptions& o, std::vector<User> users) : o_(o), users_(std::move(users)) {
    for (std::size_t i = 0; i < users_.size(); ++i) by_name_[users_[i].name] = i;
    terms_.realm = o.realm;
    terms_.service = "krbtgt/" + o.realm;
    terms_.session = random_key(ENCTYPE_AES256_CTS_HMAC_SHA1_96);
  }

  Bytes answer(ByteSpan packet) {
    FakeRequest request;
    if (o_.drop > 0 && chance(o_.drop)) return {};
    if (o_.error != 0) return make_error(o_.realm, o_.error);
    if (!parse_as_request(packet, request)) return make_error(o_.realm, 60);
    auto found = by_name_.find(request.client);
    if (found == by_name_.end()) return make_error(o_.realm, 6);
    User& user = users_[found->second];
    if (!user.key.valid()) user.key = Key(user.raw);
    terms_.client = request.client;
    terms_.nonce = request.nonce;
    ++terms_.number;  // for --fresh-tickets
    terms_.end = std::time(nullptr) + 36'000;
    Bytes reply = make_reply(terms_, user.key, nullptr);
    if (o_.spoil > 0 && chance(o_.spoil)) reply.back() ^= 1;
    return reply;
  }

 private:
  bool chance(double share) { return std::uniform_real_distribution<double>()(dice_) < share; }
  ResponderOptions o_;
  std::vector<User> users_;
  std::unordered_map<std::string, std::size_t> by_name_;
  FakeReply terms_;
  std::mt19937_64 dice_{1};
};

// One recvmmsg, one sendmmsg.
void serve_batch(int fd, Responder& responder) {
  static std::array<std::array<std::uint8_t, kMaxRequest>, kBatch> in;
  std::array<Bytes, kBatch> out;
  std::array<sockaddr_in, kBatch> from{};
  std::array<iovec, kBatch> pieces{};
  std::array<mmsghdr, kBatch> messages{};
  for (unsigned i = 0; i < kBatch; ++i) {
    pieces[i] = {in[i].data(), in[i].size()};
    messages[i].msg_hdr = {&from[i], sizeof from[i], &pieces[i], 1, nullptr, 0, 0};
  }
  int n = recvmmsg(fd, messages.data(), kBatch, MSG_WAITFORONE, nullptr);
  unsigned ready = 0;
  for (int i = 0; i < n; ++i) {
    auto at = static_cast<std::size_t>(i);
    out[ready] = responder.answer({in[at].data(), messages[at].msg_len});
    if (out[ready].empty()) continue;
    from[ready] = from[at];
    pieces[ready] = {out[ready].data(), out[ready].size()};
    messages[ready].msg_hdr = {&from[ready], sizeof from[ready], &pieces[ready], 1, nullptr, 0, 0};
    ++ready;
  }
  for (unsigned sent = 0; sent < ready;) {
    int m = sendmmsg(fd, messages.data() + sent, ready - sent, 0);
    sent += m > 0 ? static_cast<unsigned>(m) : 1;  // one that cannot be sent is dropped
  }
}

// A connection is served whole before the next: the generator sends at once.
void serve_tcp(int listener, Responder& responder) {
  int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return;
  timeval patience{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::array<std::uint8_t, 4> prefix{};
  std::array<std::uint8_t, kMaxRequest> in{};
  std::size_t length = 0;
  if (recv(fd, prefix.data(), 4, MSG_WAITALL) == 4)
    for (std::uint8_t octet : prefix) length = length << 8 | octet;
  if (length > 0 && length <= in.size() &&
      recv(fd, in.data(), length, MSG_WAITALL) == static_cast<ssize_t>(length)) {
    Bytes reply = responder.answer({in.data(), length});
    Bytes framed;
    for (int shift = 24; shift >= 0; shift -= 8)
      framed.push_back(static_cast<std::uint8_t>(reply.size() >> shift));
    framed.insert(framed.end(), reply.begin(), reply.end());
    if (!reply.empty()) send(fd, framed.data(), framed.size(), MSG_NOSIGNAL);
  }
  close(fd);
}

int listening(int kind, int port) {
  int fd = socket(AF_INET, kind | SOCK_CLOEXEC, 0);
  int on = 1, size = 4 << 20;
  if (kind == SOCK_STREAM) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return -1;
  if (kind == SOCK_STREAM && listen(fd, 1024) != 0) return -1;
  return fd;
}

struct Ports {
  int udp = -1, tcp = -1, port = 0;
};

// One number for both. Where any will do, that of a datagram socket may be another's stream's.
Ports listening_on(int port) {
  constexpr int kTries = 16;
  for (int tries = port == 0 ? kTries : 1; tries > 0; --tries) {
    Ports out;
    out.udp = listening(SOCK_DGRAM, port);
    sockaddr_in address{};
    socklen_t length = sizeof address;
    getsockname(out.udp, reinterpret_cast<sockaddr*>(&address), &length);
    out.port = ntohs(address.sin_port);
    if (out.udp >= 0) out.tcp = listening(SOCK_STREAM, out.port);
    if (out.tcp >= 0) return out;
    if (out.udp >= 0) close(out.udp);
  }
  return {};
}

int serve(const ResponderOptions& o, Responder& responder) {
  const auto [udp, tcp, port] = listening_on(o.port);
  if (tcp < 0) {
    std::cerr << "storm-responder: port " << o.port << " of loopback is not free\n";
    return 2;
  }
  std::cout << port << std::endl;
  int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  for (int fd : {udp, tcp}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
  }
  std::time_t start = std::time(nullptr);
  bool stalled = o.stall_s <= 0;
  while (stopped == 0 && static_cast<double>(std::time(nullptr) - start) < o.seconds) {
    std::array<epoll_event, 4> events;
    int n = epoll_wait(epoll_fd, events.data(), 4, 200);
    for (std::size_t i = 0; n > 0 && i < static_cast<std::size_t>(n); ++i)
      events[i].data.fd == udp ? serve_batch(udp, responder) : serve_tcp(tcp, responder);
    if (!stalled && static_cast<double>(std::time(nullptr) - start) >= o.stall_after_s) {
      stalled = true;
      usleep(static_cast<useconds_t>(o.stall_s * 1e6));
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  ResponderOptions o;
  CLI::App app("storm-responder: answers tkdc-storm at once, to measure tkdc-storm itself");
  app.add_option("--port", o.port, "UDP and TCP on loopback; 0 for a free one");
  app.add_option("--realm", o.realm, "realm")->required();
  app.add_option("--user", o.pattern.text, "user or pattern")->required();
  app.add_option("--first", o.pattern.first, "the pattern's first number");
  app.add_option("--users", o.pattern.count, "how many");
  app.add_option("--password-file", o.password_file, "the users' password")->required();
  app.add_option("--error", o.error, "answer everything with this KRB-ERROR");
  app.add_option("--drop", o.drop, "share of requests that get no answer");
  app.add_option("--spoil", o.spoil, "share of answers with a wrong octet");
  app.add_option("--stall-after", o.stall_after_s, "stand still once, after so many seconds");
  app.add_option("--stall", o.stall_s, "for so many seconds");
  app.add_option("--seconds", o.seconds, "end by itself (600)");
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGINT, on_signal);
  std::ifstream in(o.password_file);
  std::getline(in, o.pattern.password);
  auto users = derive_users(o.pattern, o.realm);
  if (!users) {
    std::cerr << "storm-responder: " << users.error().message << "\n";
    return 2;
  }
  Responder responder(o, std::move(*users));
  return serve(o, responder);
}
