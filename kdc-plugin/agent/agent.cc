// SPDX-License-Identifier: Apache-2.0
#include "agent/agent.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "agent/log.h"
#include "agent/notify.h"
#include "agent/zmq_link.h"
#include "base/log_events.h"
#include "base/system_error.h"
#include "service/wire/former_keys.h"
#include "service/wire/request_body.h"

namespace tkdc::agent {
namespace {

// epoll tags; clients' ids start above them.
constexpr std::uint64_t kWakeTag = 0;
constexpr std::uint64_t kListenerTag = 1;
constexpr std::uint64_t kServersTag = 2;
constexpr std::uint64_t kStatusTag = 3;
constexpr std::uint64_t kFirstClient = 16;

constexpr auto kTickTime = std::chrono::seconds(1);
constexpr auto kRemarkTime = std::chrono::minutes(1);
constexpr auto kFarewellTime = std::chrono::milliseconds(500);

ByteSpan octets(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

bool watch(int epoll_fd, int fd, std::uint64_t tag, std::uint32_t events, int how) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag;
  return ::epoll_ctl(epoll_fd, how, fd, &event) == 0;
}

}  // namespace

Result<std::unique_ptr<Agent>> Agent::create(AgentConfig config) {
  std::unique_ptr<Agent> agent(new Agent(std::move(config)));
  if (Result<void> ready = agent->set_up(); !ready) return ready.error();
  return agent;
}

Agent::Agent(AgentConfig config) : config_(std::move(config)), next_client_(kFirstClient) {}

Result<void> Agent::set_up() {
  epoll_fd_ = ::epoll_create1(EPOLL_CLOEXEC);
  wake_fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (epoll_fd_ < 0 || wake_fd_ < 0 ||
      !watch(epoll_fd_, wake_fd_, kWakeTag, EPOLLIN, EPOLL_CTL_ADD))
    return system_error("cannot set up the event loop");
  auto listener = Listener::open(config_.socket_path, config_.socket_group);
  if (!listener) return listener.error();
  listener_ = std::move(listener).value();
  if (!config_.status_socket_path.empty()) {
    auto status =
        Listener::open(config_.status_socket_path, config_.status_group, SocketFor::kMonitoring);
    if (!status) return status.error();
    status_listener_ = std::move(status).value();
    if (!watch(epoll_fd_, status_listener_->fd(), kStatusTag, EPOLLIN, EPOLL_CTL_ADD))
      return system_error("cannot watch the status socket");
  }
  auto links = open_zmq_links(config_, epoll_fd_, kServersTag);
  if (!links) return links.error();
  auto jobs =
      Jobs::create(config_, std::move(links).value(),
                   [this](const Asker& asker, tkdc_wire_op op, const KeyId& key_id,
                          Outcome outcome) { deliver(asker, op, key_id, std::move(outcome)); });
  if (!jobs) return jobs.error();
  jobs_ = std::move(jobs).value();
  if (!watch(epoll_fd_, listener_->fd(), kListenerTag, EPOLLIN, EPOLL_CTL_ADD))
    return system_error("cannot watch the socket");
  return {};
}

Agent::~Agent() {
  jobs_.reset();  // before epoll_fd_, from which it takes its sockets
  if (wake_fd_ >= 0) ::close(wake_fd_);
  if (epoll_fd_ >= 0) ::close(epoll_fd_);
}

void Agent::stop() {
  stop_ = true;
  std::uint64_t one = 1;
  [[maybe_unused]] ssize_t ignored = ::write(wake_fd_, &one, sizeof one);
}

void Agent::reopen_log() {
  reopen_ = true;
  std::uint64_t one = 1;
  [[maybe_unused]] ssize_t ignored = ::write(wake_fd_, &one, sizeof one);
}

Result<void> Agent::run() {
  log(Level::kNotice,
      config_.name + " listens on " + config_.socket_path + "; security: " + config_.security);
  if (const std::string former =
          former_keys_warning(former_keys(config_), "tkdc-agent", config_.path);
      !former.empty())
    log_event(Level::kWarning, event::kAlarm, former);
  told_ready_ = notify("READY=1");
  std::array<epoll_event, 256> events;
  while (!stop_) {
    int n = ::epoll_wait(epoll_fd_, events.data(), int(events.size()), wait_ms(Clock::now()));
    if (n < 0 && errno != EINTR) return system_error("epoll_wait");
    now_ = Clock::now();
    for (int i = 0; i < n; ++i) {
      std::uint64_t tag = events[std::size_t(i)].data.u64;
      if (tag == kListenerTag) accept_clients(*listener_, false);
      if (tag == kStatusTag) accept_clients(*status_listener_, true);
      if (tag == kWakeTag) {
        std::uint64_t count;
        [[maybe_unused]] ssize_t ignored = ::read(wake_fd_, &count, sizeof count);
      }
      auto it = clients_.find(tag);
      if (it == clients_.end()) continue;
      if ((events[std::size_t(i)].events & EPOLLOUT) != 0) mark(*it->second);
      if ((events[std::size_t(i)].events & ~std::uint32_t(EPOLLOUT)) != 0) read_client(*it->second);
    }
    pass();
  }
  shut_down();
  return {};
}

void Agent::pass() {
  jobs_->pump(now_);
  flush_clients();
  if (reopen_.exchange(false)) jobs_->reopen_log();
  if (now_ < next_tick_) return;
  next_tick_ = now_ + kTickTime;
  jobs_->speak(now_);
  std::vector<std::uint64_t> slow;
  for (auto& [id, client] : clients_)
    if (client->stalled(now_)) slow.push_back(id);
  for (std::uint64_t id : slow) {
    ++jobs_->counters().slow_clients;
    log(Level::kWarning, "disconnected a client that does not read its replies");
    drop(id);
  }
  tell_systemd();
}

int Agent::wait_ms(Clock::time_point now) {
  // What was sent in this pass may have swallowed ZeroMQ's edge: ask, don't wait.
  if (stop_ || jobs_->input_waits()) return 0;
  auto due = std::min(jobs_->next_due(now), next_tick_);
  if (auto probe = jobs_->probe_due()) due = std::min(due, *probe);
  auto left = std::chrono::ceil<std::chrono::milliseconds>(due - now).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000));
}

void Agent::accept_clients(Listener& listener, bool only_status) {
  for (int fd = listener.accept(); fd >= 0; fd = listener.accept()) {
    std::uint64_t id = next_client_++;
    auto client = std::make_unique<Client>(fd, id);
    client->only_status = only_status;
    // Who may only look takes no place from krb5kdc.
    const auto of_kind = static_cast<std::size_t>(std::ranges::count_if(
        clients_, [&](const auto& entry) { return entry.second->only_status == only_status; }));
    const std::size_t most = only_status ? kMaxStatusClients : kMaxClients;
    if (of_kind >= most) {
      const bool said = only_status && now_ < next_status_remark_;
      if (only_status && !said) next_status_remark_ = now_ + kRemarkTime;
      if (!said)
        log(Level::kWarning, std::string("refused a connection to agent.") +
                                 (only_status ? "status_socket" : "socket") + ": there are " +
                                 std::to_string(most));
      continue;
    }
    client->epoll_events = EPOLLIN;
    if (!watch(epoll_fd_, fd, id, EPOLLIN, EPOLL_CTL_ADD)) continue;
    clients_.emplace(id, std::move(client));
    ++jobs_->counters().clients_accepted;
    jobs_->counters().clients = clients_.size();
  }
}

void Agent::read_client(Client& client) {
  bool alive = client.fill();
  while (auto frame = client.next_frame()) handle_frame(client, *frame);
  bool malformed = client.malformed();
  if (malformed) {
    ++jobs_->counters().malformed_requests;
    log(Level::kWarning,
        "disconnected a client that sent a malformed frame; is it of this version?");
  }
  client.consumed();
  if (!alive || malformed) drop(client.id());
}

void Agent::handle_frame(Client& client, const Client::Frame& frame) {
  const tkdc_wire_header& header = frame.header;
  if (header.op == TKDC_OP_HELLO) return handle_hello(client, frame);
  if (client.only_status && header.op != TKDC_OP_STATUS)
    return refuse(client, frame, TKDC_STATUS_DENIED,
                  "agent.status_socket answers status alone; use agent.socket");
  if (header.deadline_ms == 0)
    return refuse(client, frame, TKDC_STATUS_BAD_REQUEST,
                  "deadline_ms is 0: say how long you wait");
  Asker asker{client.id(), header.id};
  auto deadline = now_ + std::chrono::milliseconds(std::min(header.deadline_ms, kMaxDeadlineMs));
  if (header.op == TKDC_OP_STATUS) {
    if (!frame.body.empty())
      return refuse(client, frame, TKDC_STATUS_BAD_REQUEST, "status: the body must be empty");
    if (client.only_status) return share_status(client, frame, deadline);
    return jobs_->submit_status(asker, now_, deadline);
  }
  const bool kdc_only = config_.role == TKDC_ROLE_KDC || client.role == TKDC_ROLE_KDC;
  Parsed parsed = is_list(header.op) ? parse_list(header.op, frame.body, config_, kdc_only)
                                     : parse_operation(header.op, frame.body, config_, kdc_only);
  if (parsed.status != TKDC_STATUS_OK) return refuse(client, frame, parsed.status, parsed.message);
  jobs_->submit(asker, std::move(parsed.operation), now_, deadline);
}

void Agent::handle_hello(Client& client, const Client::Frame& frame) {
  const auto body = decode_body(TKDC_OP_HELLO, frame.body);
  const std::uint8_t role = body ? body->label : 0;
  if (!body || (role != TKDC_ROLE_KDC && role != TKDC_ROLE_ADMIN))
    return refuse(client, frame, TKDC_STATUS_BAD_REQUEST, "hello: the role must be kdc or admin");
  // Only ever narrower: a connection that said kdc stays kdc.
  if (role == TKDC_ROLE_KDC) client.role = TKDC_ROLE_KDC;
  client.reply(TKDC_OP_HELLO, frame.header.id, TKDC_STATUS_OK,
               encode_hello_result(config_.security, config_.installation));
  mark(client);
}

// However often they ask, the servers are asked once a second.
void Agent::share_status(Client& client, const Client::Frame& frame, Clock::time_point deadline) {
  const Asker asker{client.id(), frame.header.id};
  if (!status_.empty() && now_ - status_at_ < kStatusFresh) {
    client.reply(TKDC_OP_STATUS, asker.request, TKDC_STATUS_OK,
                 encode_result(TKDC_OP_STATUS, KeyId{}, status_));
    return mark(client);
  }
  if (!status_asked_) {
    status_asked_ = asker;
    return jobs_->submit_status(asker, now_, deadline);
  }
  if (status_waiters_.size() >= kMaxStatusWaiters)
    return refuse(client, frame, TKDC_STATUS_LIMIT, "too many wait for the status; ask again");
  status_waiters_.push_back(asker);
}

void Agent::tell_waiters(const Outcome& outcome) {
  status_asked_.reset();
  if (outcome.status == TKDC_STATUS_OK) {
    status_ = outcome.output;
    status_at_ = now_;
  }
  for (const Asker& waiter : std::exchange(status_waiters_, {}))
    deliver(waiter, TKDC_OP_STATUS, KeyId{}, outcome);
}

void Agent::deliver(const Asker& asker, tkdc_wire_op op, const KeyId& key_id, Outcome outcome) {
  if (op == TKDC_OP_STATUS && status_asked_ && status_asked_->client == asker.client &&
      status_asked_->request == asker.request)
    tell_waiters(outcome);
  auto it = clients_.find(asker.client);
  if (it == clients_.end()) return;  // gone meanwhile; the output is wiped with `outcome`
  Client& client = *it->second;
  if (outcome.status == TKDC_STATUS_OK)
    client.reply(op, asker.request, outcome.status, encode_result(op, key_id, outcome.output));
  else
    client.reply(op, asker.request, outcome.status, octets(outcome.message));
  mark(client);
}

void Agent::refuse(Client& client, const Client::Frame& frame, tkdc_status status,
                   const std::string& why) {
  ++jobs_->counters().finished[status];
  client.reply(frame.header.op, frame.header.id, status, octets(why));
  mark(client);
}

void Agent::mark(Client& client) {
  if (client.dirty) return;
  client.dirty = true;
  dirty_.push_back(client.id());
}

void Agent::flush_clients() {
  for (std::uint64_t id : dirty_) {
    auto it = clients_.find(id);
    if (it == clients_.end()) continue;
    it->second->dirty = false;
    if (it->second->flush(now_))
      update_interest(*it->second);
    else
      drop(id);
  }
  dirty_.clear();
}

void Agent::update_interest(Client& client) {
  std::uint32_t events = 0;
  if (client.wants_input()) events |= EPOLLIN;
  if (client.unsent() > 0) events |= EPOLLOUT;
  if (events == client.epoll_events) return;
  if (watch(epoll_fd_, client.fd(), client.id(), events, EPOLL_CTL_MOD))
    client.epoll_events = events;
}

void Agent::drop(std::uint64_t id) {
  clients_.erase(id);  // closing the descriptor takes it out of epoll
  jobs_->counters().clients = clients_.size();
}

void Agent::tell_systemd() {
  if (!told_ready_) told_ready_ = notify("READY=1");
  notify("WATCHDOG=1");
  int connected = jobs_->connected_servers();
  if (connected == told_connected_) return;
  std::string text = "STATUS=" + std::to_string(connected) + " of " +
                     std::to_string(config_.servers.size()) +
                     " servers connected; security: " + config_.security;
  if (notify(text)) told_connected_ = connected;
}

// Everybody who waits is told; replies leave as far as the peers take them.
void Agent::shut_down() {
  notify("STOPPING=1");
  now_ = Clock::now();
  jobs_->abandon("the agent is shutting down", now_);
  auto end = now_ + kFarewellTime;
  flush_clients();
  auto unsent = [this] {
    return std::any_of(clients_.begin(), clients_.end(),
                       [](auto& entry) { return entry.second->unsent() > 0; });
  };
  while (unsent() && Clock::now() < end) {
    ::usleep(5'000);
    for (auto& [id, client] : clients_) mark(*client);
    flush_clients();
  }
  clients_.clear();
  log(Level::kNotice, config_.name + " stopped");
}

}  // namespace tkdc::agent
