// SPDX-License-Identifier: Apache-2.0
#include "sim/agents.h"

#include <algorithm>

#include "sim/answers.h"
#include "sim/hosts.h"
#include "sim/invariants.h"
#include "sim/liar.h"
#include "sim/lying_agent.h"

namespace tkdc::sim {
namespace {

using agent::Clock;

class SimAgentSocket;
std::array<SimAgentSocket*, kServers> sockets{};

// As an agent's route: which line, and whose.
std::string route_of(const Wire& line) {
  return std::to_string(line.number) + " of " + std::to_string(line.host[0]);
}
int agent_of(const std::string& route) { return std::stoi(route.substr(route.rfind(' '))); }

class SimAgentSocket final : public AgentSocket {
 public:
  explicit SimAgentSocket(const Host& host) : host_(host) {
    sockets[static_cast<std::size_t>(host.number)] = this;
  }
  ~SimAgentSocket() override {
    auto& here = sockets[static_cast<std::size_t>(host_.number)];
    if (here == this) here = nullptr;
    if (!host_.dead)
      for (const WirePtr& line : lines_) wires().close(*line, 1);
  }
  void called(WirePtr line) { lines_.push_back(std::move(line)); }

  Result<Ready> wait(int most_ms) override {
    std::erase_if(lines_, [](const WirePtr& line) { return !line->up(1) && !line->arrived(1); });
    const auto input = [this] {
      return std::ranges::any_of(lines_, [](const WirePtr& line) { return line->arrived(1); });
    };
    world().wait(most_ms * kMs, [&] { return woken_ || input(); });
    return Ready{input(), std::exchange(woken_, false)};
  }
  void wake() override { woken_ = true; }

  bool receive(const std::function<void(const Message&)>& handle) override {
    if (host_.dead) return false;
    for (const WirePtr& line : lines_) {
      if (!line->arrived(1)) continue;
      const SecretVector octets = std::move(line->to[1].front().octets);
      line->to[1].pop_front();
      Message message;
      message.agent = line->host[0] - kKdc;
      message.whole = true;
      message.route = route_of(*line);
      message.body = octets;
      if (auto request = decode_request(octets); request.ok()) {
        note_request(host_.number, line->host[0], *request);
        if (request->op == TKDC_OP_STATUS)
          status_asked_.insert({request->name.run, request->name.number});
      }
      handle(message);
      return true;
    }
    return false;
  }

  bool send(const std::string& route, SecretVector frame) override {
    if (host_.dead) return false;
    note_reply(host_.number, agent_of(route), frame);
    lie_to_agent(host_.number, frame);
    for (const WirePtr& line : lines_) {
      if (route_of(*line) != route || !line->up(1)) continue;
      const std::string answers = "answers " + line->what;
      // A server's status names its CPU's backend: its size is no part of the course.
      world().note(host_.name, is_status(frame)
                                   ? answers + ": its status"
                                   : answers + ": " + std::to_string(frame.size()) + " octets");
      wires().send(*line, 1, std::move(frame));
      return true;
    }
    return false;
  }
  std::string endpoint() const override { return "sim"; }

 private:
  bool is_status(ByteSpan frame) {
    auto reply = decode_reply(frame);
    return reply.ok() && status_asked_.erase({reply->run, reply->number}) > 0;
  }

  const Host& host_;
  std::deque<WirePtr> lines_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> status_asked_;
  bool woken_ = false;
};

class SimServerLink;
std::array<std::array<SimServerLink*, kServers>, kHosts> links{};

// As ZeroMQ's: made anew after a while, and given up when nothing is heard for some seconds.
class SimServerLink final : public agent::ServerLink {
 public:
  SimServerLink(const Host& host, int party)
      : host_(host), party_(party), title_("server " + std::to_string(party)) {
    place() = this;
  }
  ~SimServerLink() override {
    if (place() == this) place() = nullptr;
    if (wire_ && !host_.dead) wires().close(*wire_, 0);
  }

  bool send(SecretVector frame) override {
    if (!ready()) return false;
    send_for_agent(host_.number, party_, std::move(frame),
                   [from = host_.number](int party, SecretVector octets) {
                     SimServerLink* to = links[index(from)][index(party)];
                     if (to != nullptr && to->ready())
                       wires().send(*to->wire_, 0, std::move(octets));
                   });
    return true;
  }
  bool ready() override { return connected_ && wire_->up(0); }
  bool readable() override { return wire_ && (wire_->arrived(0) || (connected_ && !wire_->up(0))); }

  void receive(const std::function<void(ByteSpan)>& handle, int max) override {
    for (int k = 0; k < max && wire_ && wire_->arrived(0); ++k) {
      const SecretVector frame = std::move(wire_->to[0].front().octets);
      wire_->to[0].pop_front();
      handle(frame);
    }
  }

  bool update(Clock::time_point now) override {
    constexpr Us kHeartbeat = 6 * kSecond, kMostBetween = 2 * kSecond;
    if (wire_ && (!wire_->up(0) || held_for() > kHeartbeat)) {
      if (wire_->up(0)) wires().close(*wire_, 0);
      if (connected_) down_since_ = now;
      lost_ = connected_;
      connected_ = false;
      wire_.reset();
      dial_at_ = world().now() + between_;
      between_ = std::min(2 * between_, kMostBetween);
      world().fibers.wake_at(dial_at_);
    }
    if (!wire_ && world().now() >= dial_at_) dial();
    if (wire_ && !connected_ && wire_->connected <= world().now()) {
      connected_ = true;
      between_ = 100 * kMs;
    }
    return std::exchange(lost_, false);
  }
  bool connected() const override { return connected_; }
  Clock::time_point down_since() const override { return down_since_; }
  const std::string& title() const override { return title_; }
  const std::string& trouble() const override { return trouble_; }

 private:
  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  SimServerLink*& place() { return links[index(host_.number)][index(party_)]; }
  Us held_for() const {
    return wire_->held_since == kNever ? 0 : world().now() - wire_->held_since;
  }
  void dial() {
    forget_lies_to(party_);  // they may have gone with the connection
    wire_ = wires().dial(host_.number, party_, host_.name + "'s to " + title_);
    SimAgentSocket* there = sockets[static_cast<std::size_t>(party_)];
    if (there != nullptr && !world().hosts[static_cast<std::size_t>(party_)].dead)
      there->called(wire_);
    else
      wire_->cut[0] = wire_->cut[1] = world().now() + kMs;
  }

  const Host& host_;
  const int party_;
  const std::string title_, trouble_;
  WirePtr wire_;
  bool connected_ = false, lost_ = false;
  Us dial_at_ = 0, between_ = 100 * kMs;
  Clock::time_point down_since_ = Clock::now();
};

}  // namespace

std::unique_ptr<AgentSocket> agent_socket_of(const Host& host) {
  return std::make_unique<SimAgentSocket>(host);
}

void new_agent_sockets() {
  sockets = {};
  links = {};
}

Agent::Agent(Host& host) : host_(host) {
  config_.installation = kInstallation;
  config_.security = world().plan.security;
  config_.name = host.name;
  config_.servers.resize(static_cast<std::size_t>(world().servers()));
  config_.role = is_admin() ? TKDC_ROLE_ADMIN : TKDC_ROLE_KDC;
}

void Agent::start() {
  host_.dead = false;
  host_.skipped = 0;
  running_ = true;
  world().note(host_.name, "starts");
  world().fibers.start(host_, [this] { run(); });
}

void Agent::crash() {
  if (host_.dead || !running_) return;
  world().note(host_.name, "crashes");
  host_.dead = true;
  running_ = false;
  questions_.clear();
  wires().host_died(host_.number, false);
}

void Agent::run() {
  agent::ServerLinks to_servers;
  for (int party = 0; party < world().servers(); ++party)
    to_servers.push_back(std::make_unique<SimServerLink>(host_, party));
  std::vector<agent::ServerLink*> by_party;
  for (const auto& link : to_servers) by_party.push_back(link.get());
  auto jobs = agent::Jobs::create(
      config_, std::move(to_servers),
      [this](const agent::Asker& asker, tkdc_wire_op, const KeyId& id, agent::Outcome outcome) {
        if (host_.dead) return;
        const auto waits = answers_.find(asker.request);
        if (waits != answers_.end()) waits->second = {true, std::move(outcome), id, 0};
      });
  if (!jobs) return;
  while (!host_.dead) {
    const auto now = Clock::now();
    while (!questions_.empty()) {
      const Question question = std::move(questions_.front());
      questions_.pop_front();
      const bool kdc_only = !is_admin();
      agent::Parsed parsed =
          agent::is_list(question.op)
              ? agent::parse_list(question.op, question.body, config_, kdc_only)
              : agent::parse_operation(question.op, question.body, config_, kdc_only);
      if (parsed.status != TKDC_STATUS_OK) {
        if (answers_.contains(question.number))
          answers_[question.number] = {true, agent::failure(parsed.status, parsed.message), {}, 0};
        continue;
      }
      (*jobs)->submit({1, question.number}, std::move(parsed.operation), now,
                      now + std::chrono::milliseconds(question.deadline_ms));
    }
    (*jobs)->pump(now);
    const auto due = std::min((*jobs)->next_due(now), now + std::chrono::milliseconds(50));
    const Us left = std::chrono::duration_cast<std::chrono::microseconds>(due - now).count();
    world().wait(std::max<Us>(left, kMs), [&] {
      return !questions_.empty() ||
             std::ranges::any_of(by_party, [](auto* link) { return link->readable(); });
    });
  }
}

void Agent::ask_only(tkdc_wire_op op, const Bytes& body, std::uint32_t deadline_ms) {
  questions_.push_back({++next_, op, body, deadline_ms});
}

Agent::Answer Agent::ask(tkdc_wire_op op, const Bytes& body, std::uint32_t deadline_ms) {
  const std::uint64_t number = ++next_;
  ++world().operations;
  if (!running_) return {};
  const Us asked_at = world().now();
  answers_[number] = {};
  questions_.push_back({number, op, body, deadline_ms});
  // The program waits somewhat longer than the agent does.
  world().wait((deadline_ms + 1'000) * kMs, [&] { return answers_[number].there; });
  Answer answer = std::move(answers_[number]);
  answer.asked_at = asked_at;
  answers_.erase(number);
  if (answer.there) ++world().answered;
  if (has_lied(host_.number)) return {};
  // They differ about a key that one of them does not have, and about nothing else.
  const bool differ =
      answer.there && answer.outcome.status == TKDC_STATUS_INCONSISTENT &&
      answer.outcome.message.find(tkdc_status_text(TKDC_STATUS_INCONSISTENT)) != std::string::npos;
  if (differ && !liar().has_lied)
    world().broken("answers", "nobody lied, and a job differs: " + answer.outcome.message);
  return answer;
}

}  // namespace tkdc::sim
