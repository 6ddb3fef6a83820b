// SPDX-License-Identifier: Apache-2.0
#include "agent/zmq_link.h"

#include <sys/epoll.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "agent/log.h"
#include "base/secret_frame.h"

namespace tkdc::agent {
namespace {

constexpr int kReconnectMs = 100;
constexpr int kReconnectMaxMs = 2'000;
constexpr int kHandshakeMs = 5'000;
// A server that is cut off, not closed, is noticed after this time.
constexpr int kHeartbeatMs = 2'000;
constexpr int kHeartbeatTimeoutMs = 6'000;
constexpr std::int64_t kMaxReplyBytes = kMaxInputBytes + 4096;
constexpr auto kReopenAfter = std::chrono::seconds(6);
// A server that changes its CURVE key is asked by one and the other of its two.
constexpr auto kOtherKeyAfter = std::chrono::milliseconds(200);

// Shorter than kHandshakeMs, after which ZeroMQ gives up.
constexpr auto kSilentHandshake = std::chrono::milliseconds(kHandshakeMs * 8 / 10);
constexpr const char* kSilent =
    "takes connections and says nothing: its tkdc-server hangs or was stopped (SIGSTOP), or "
    "another program listens there";
constexpr const char* kOtherKeys =
    "handshake failed: compare curve_public_key in agent.toml with the server's key, and "
    "this agent's key with the server's [[agents]]";

constexpr int kWatchedEvents =
    ZMQ_EVENT_CONNECTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED |
    ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
    ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

class ZmqLink final : public ServerLink {
 public:
  ZmqLink(std::shared_ptr<zmq::context_t> context, const AgentConfig& config, int party,
          int epoll_fd, std::uint64_t tag);
  ~ZmqLink() override;
  // Throws zmq::error_t.
  void connect();

  bool send(SecretVector frame) override;
  bool ready() override;
  bool readable() override;
  void receive(const std::function<void(ByteSpan)>& handle, int max) override;
  bool update(Clock::time_point now) override;
  bool connected() const override { return connected_; }
  Clock::time_point down_since() const override { return down_since_; }
  const std::string& title() const override { return title_; }
  const std::string& trouble() const override { return trouble_; }

 private:
  const ServerAddress& server() const { return config_.servers[static_cast<std::size_t>(party_)]; }
  bool reopen(Clock::time_point now);
  void disconnect();
  void watch(zmq::socket_t& socket);
  void handle_event(std::uint16_t event, Clock::time_point now);
  int events(zmq::socket_t& socket);

  const std::shared_ptr<zmq::context_t> context_;
  const AgentConfig& config_;
  int party_;
  int epoll_fd_;
  std::uint64_t tag_;
  std::string title_;
  std::string trouble_;
  zmq::socket_t socket_;
  zmq::socket_t monitor_;
  // Nothing was there when a socket was last asked, and nobody has used it since: its descriptor
  // will tell, and to ask again would be a system call for nothing.
  bool frames_awaited_ = false;
  bool events_awaited_ = false;
  bool connected_ = false;
  bool lost_ = false;
  // While the server changes its key: which of the two it is asked by, and that it was not that.
  bool by_former_key_ = false, other_key_ = false;
  Clock::time_point down_since_ = Clock::now();
  Clock::time_point answered_at_ = Clock::now();  // the last TCP connection
  Clock::time_point opened_at_ = Clock::now();
};

ZmqLink::ZmqLink(std::shared_ptr<zmq::context_t> context, const AgentConfig& config, int party,
                 int epoll_fd, std::uint64_t tag)
    : context_(std::move(context)), config_(config), party_(party), epoll_fd_(epoll_fd), tag_(tag),
      title_("server " + std::to_string(party) + " (" +
             config.servers[static_cast<std::size_t>(party)].address + ")") {}

ZmqLink::~ZmqLink() { disconnect(); }

void ZmqLink::connect() {
  const ServerAddress& server = this->server();
  const char* secret_key = reinterpret_cast<const char*>(config_.curve_secret_key.data());
  char public_key[kCurveTextBytes + 1];
  if (zmq_curve_public(public_key, secret_key) != 0) throw zmq::error_t();

  socket_ = zmq::socket_t(*context_, zmq::socket_type::dealer);
  socket_.set(zmq::sockopt::curve_serverkey,
              by_former_key_ ? server.former_curve_public_key : server.curve_public_key);
  socket_.set(zmq::sockopt::curve_publickey, public_key);
  socket_.set(zmq::sockopt::curve_secretkey, secret_key);
  socket_.set(zmq::sockopt::ipv6, true);
  socket_.set(zmq::sockopt::immediate, true);
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::reconnect_ivl, kReconnectMs);
  socket_.set(zmq::sockopt::reconnect_ivl_max, kReconnectMaxMs);
  socket_.set(zmq::sockopt::handshake_ivl, kHandshakeMs);
  socket_.set(zmq::sockopt::heartbeat_ivl, kHeartbeatMs);
  socket_.set(zmq::sockopt::heartbeat_timeout, kHeartbeatTimeoutMs);
  socket_.set(zmq::sockopt::maxmsgsize, kMaxReplyBytes);
  socket_.set(zmq::sockopt::sndhwm, static_cast<int>(config_.max_pending));
  socket_.set(zmq::sockopt::rcvhwm, static_cast<int>(config_.max_pending));

  static std::atomic<std::uint64_t> serial{0};
  std::string endpoint = "inproc://tkdc-agent-monitor-" + std::to_string(++serial);
  if (zmq_socket_monitor(socket_.handle(), endpoint.c_str(), kWatchedEvents) != 0)
    throw zmq::error_t();
  monitor_ = zmq::socket_t(*context_, zmq::socket_type::pair);
  monitor_.set(zmq::sockopt::linger, 0);
  monitor_.connect(endpoint);
  socket_.connect(server.address);
  watch(socket_);
  watch(monitor_);
  frames_awaited_ = events_awaited_ = false;
  opened_at_ = Clock::now();
}

void ZmqLink::watch(zmq::socket_t& socket) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag_;
  if (::epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, socket.get(zmq::sockopt::fd), &event) != 0)
    throw zmq::error_t();
}

void ZmqLink::disconnect() {
  for (zmq::socket_t* socket : {&socket_, &monitor_}) {
    if (socket->handle() == nullptr) continue;
    ::epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, socket->get(zmq::sockopt::fd), nullptr);
    if (socket == &socket_) zmq_socket_monitor(socket_.handle(), nullptr, 0);
    socket->close();
  }
}

int ZmqLink::events(zmq::socket_t& socket) {
  // Also makes ZeroMQ work off what happened since, which re-arms its ZMQ_FD.
  int bits = 0;
  std::size_t size = sizeof bits;
  if (socket.handle() == nullptr || zmq_getsockopt(socket.handle(), ZMQ_EVENTS, &bits, &size) != 0)
    return 0;
  return bits;
}

bool ZmqLink::ready() {
  if (!connected_) return false;
  frames_awaited_ = false;
  return (events(socket_) & ZMQ_POLLOUT) != 0;
}

bool ZmqLink::readable() {
  return (!frames_awaited_ && (events(socket_) & ZMQ_POLLIN) != 0) ||
         (!events_awaited_ && (events(monitor_) & ZMQ_POLLIN) != 0);
}

bool ZmqLink::send(SecretVector frame) {
  frames_awaited_ = false;
  try {
    zmq::message_t message = secret_message(std::move(frame));
    return socket_.send(message, zmq::send_flags::dontwait).has_value();
  } catch (const zmq::error_t& error) {
    log(Level::kError, title_ + ": cannot send: " + error.what());
    return false;
  }
}

void ZmqLink::receive(const std::function<void(ByteSpan)>& handle, int max) {
  frames_awaited_ = false;
  try {
    for (int i = 0; i < max; ++i) {
      ReceivedFrame frame;
      frames_awaited_ = !frame.receive(socket_);
      if (frames_awaited_) return;
      handle(frame.bytes());
    }
  } catch (const zmq::error_t& error) {
    log(Level::kError, title_ + ": cannot receive: " + error.what());
  }
}

void ZmqLink::handle_event(std::uint16_t event, Clock::time_point now) {
  switch (event) {
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
      if (!connected_) log(Level::kInfo, title_ + ": connected");
      connected_ = true;
      trouble_.clear();
      return;
    case ZMQ_EVENT_DISCONNECTED:
      if (!connected_) return;
      connected_ = false;
      lost_ = true;
      down_since_ = now;
      trouble_ = "connection lost";
      log(Level::kWarning, title_ + ": connection lost; see that server's journal");
      return;
    case ZMQ_EVENT_CONNECTED: answered_at_ = now; return;
    default: break;
  }
  // A failed handshake, repeated with every attempt: said once. Keys that do not fit show at once;
  // one that takes as long as it may is with a program that does nothing.
  const bool silent = now - answered_at_ > kSilentHandshake;
  other_key_ = !silent && !server().former_curve_public_key.empty();
  if (other_key_ && !by_former_key_) return;  // it may be the former one
  const char* why = silent ? kSilent : kOtherKeys;
  if (trouble_ == why) return;
  trouble_ = why;
  log(Level::kWarning, title_ + ": " + trouble_);
}

// Whether there is to be another socket.
bool ZmqLink::reopen(Clock::time_point now) {
  if (connected_) return false;
  if (other_key_ && now - opened_at_ > kOtherKeyAfter) {
    other_key_ = false;
    by_former_key_ = !by_former_key_;
    return true;
  }
  // After some failed handshakes ZeroMQ gives an endpoint up for good, not
  // always with an event; a server that was put right must be found again.
  return now - std::max(opened_at_, down_since_) > kReopenAfter;
}

bool ZmqLink::update(Clock::time_point now) {
  events_awaited_ = false;
  try {
    while ((events(monitor_) & ZMQ_POLLIN) != 0) {
      zmq::message_t report;
      zmq::message_t address;
      if (!monitor_.recv(report, zmq::recv_flags::dontwait) ||
          !monitor_.recv(address, zmq::recv_flags::dontwait))
        break;
      std::uint16_t event = 0;
      if (report.size() >= sizeof event) std::memcpy(&event, report.data(), sizeof event);
      handle_event(event, now);
    }
    events_awaited_ = true;
    if (reopen(now)) {
      disconnect();
      connect();
    }
  } catch (const zmq::error_t& error) {
    log(Level::kError, title_ + ": " + error.what());
    opened_at_ = now;
  }
  return std::exchange(lost_, false);
}

}  // namespace

Result<std::unique_ptr<ServerLink>> open_zmq_link(std::shared_ptr<zmq::context_t> context,
                                                  const AgentConfig& config, int party,
                                                  int epoll_fd, std::uint64_t tag) {
  auto link = std::make_unique<ZmqLink>(std::move(context), config, party, epoll_fd, tag);
  try {
    link->connect();
  } catch (const zmq::error_t& error) {
    return fail(link->title() + ": " + error.what() + "; check its address and CURVE key");
  }
  return std::unique_ptr<ServerLink>(std::move(link));
}

Result<ServerLinks> open_zmq_links(const AgentConfig& config, int epoll_fd, std::uint64_t tag) {
  auto context = std::make_shared<zmq::context_t>(1);
  ServerLinks links;
  for (std::size_t party = 0; party < config.servers.size(); ++party) {
    auto link = open_zmq_link(context, config, static_cast<int>(party), epoll_fd, tag);
    if (!link) return link.error();
    links.push_back(std::move(link).value());
  }
  return links;
}

}  // namespace tkdc::agent
