// SPDX-License-Identifier: Apache-2.0
#include "service/server/control_plane.h"

#include "base/curve_key.h"
#include "base/machine.h"

namespace tkdc {
namespace {

constexpr int kTickMs = 1'000;
constexpr int kBatch = 256;  // requests taken before answers get their turn
constexpr long long kComplaintEveryMs = 1'000;

}  // namespace

std::uint64_t agent_id(const std::string& curve_public_key) {
  const CurvePublicKey key = decode_curve_public(curve_public_key).value_or(CurvePublicKey{});
  Digest digest{};
  crypto_generichash(digest.data(), digest.size(), key.data(), key.size(), nullptr, 0);
  return Reader(digest).u64();
}

ControlPlane::ControlPlane(std::unique_ptr<AgentSocket> socket, ControlOptions options,
                           Submit submit, StatusJson status_json)
    : options_(std::move(options)), submit_(std::move(submit)),
      status_json_(std::move(status_json)), socket_(std::move(socket)),
      runs_(options_.agents.size()), heard_ms_(options_.agents.size()) {
  for (const AgentEntry& agent : options_.agents)
    agent_ids_.push_back(agent_id(agent.curve_public_key));
}

Result<void> ControlPlane::run() {
  while (!stop_) {
    auto ready = socket_->wait(kTickMs);
    if (!ready.ok()) return ready.error();
    if (ready->woken) send_answers();
    if (ready->input) receive_some();
  }
  send_answers();
  return {};
}

void ControlPlane::stop() {
  stop_ = true;
  socket_->wake();
}

// A list reads the store, so answers get their turn behind each.
void ControlPlane::receive_some() {
  const auto one = [this](const AgentSocket::Message& message) { handle(message); };
  listed_ = false;
  for (int i = 0; i < kBatch && !listed_ && socket_->receive(one); ++i) {
  }
}

void ControlPlane::handle(const AgentSocket::Message& message) {
  if (!message.whole) {
    malformed_++;
    return complain("control: dropped a message that is not one frame");
  }
  const int index = message.agent;
  if (index < 0 || static_cast<std::size_t>(index) >= options_.agents.size()) {
    malformed_++;
    return complain("control: dropped a message without an admitted sender");
  }
  auto agent = static_cast<std::size_t>(index);
  auto request = decode_request(message.body);
  if (!request.ok()) {
    malformed_++;
    return complain("control: dropped a request of " + options_.agents[agent].name + ": " +
                    request.error().message);
  }
  request->name.agent = agent_ids_[agent];
  auto arrival = runs_[agent].arrived(request->name.run, request->name.number, message.route);
  if (arrival == AgentRuns::Arrival::kReplay) {
    // No answer: it would be taken for the answer of the job that is running.
    replayed_++;
    return complain("control: dropped a repeated job number of " + options_.agents[agent].name);
  }
  if (arrival == AgentRuns::Arrival::kTooManyRuns) {
    refused_++;
    return complain("control: " + options_.agents[agent].name +
                    " has too many processes at work; stop all but one of them");
  }
  requests_++;
  heard_ms_[agent] = monotonic_ms();
  bool full = runs_[agent].pending() >= options_.max_pending_per_agent;
  runs_[agent].started(request->name.run);
  if (full) return refuse(agent, *request);
  if (request->op == TKDC_OP_STATUS) return answer_status(agent, *request);
  if (request->op == TKDC_OP_LIST || request->op == TKDC_OP_LIST_DROPPED)
    return answer_list(agent, *request);
  submit_(options_.agents[agent].role, std::move(*request));
}

void ControlPlane::refuse(std::size_t agent, const JobRequest& request) {
  refused_++;
  JobReply answer;
  answer.status = TKDC_STATUS_LIMIT;
  answer.message = "the agent " + options_.agents[agent].name + " has " +
                   std::to_string(options_.max_pending_per_agent) + " jobs waiting at a server";
  reply(request.name, std::move(answer));
}

void ControlPlane::answer_status(std::size_t, const JobRequest& request) {
  JobReply answer;
  std::string json = status_json_();
  answer.output.assign(json.begin(), json.end());
  if (answer.output.size() > kMaxInputBytes) {
    answer.status = TKDC_STATUS_INTERNAL;
    answer.message = "the status is longer than an answer may be";
    answer.output.clear();
  }
  reply(request.name, std::move(answer));
}

void ControlPlane::answer_list(std::size_t agent, const JobRequest& request) {
  listed_ = true;
  JobReply answer;
  if (options_.agents[agent].role != AgentRole::kAdmin || !list_keys_) {
    answer.status = TKDC_STATUS_DENIED;
    answer.message = "keys are listed for agents with the role admin";
  } else if (auto page = list_keys_(request.op, request.key.id); page) {
    answer.output.assign(page->begin(), page->end());
  } else {
    answer.status = TKDC_STATUS_INTERNAL;
    answer.message = page.error().message;
    complain(page.error().message);
  }
  reply(request.name, std::move(answer));
}

std::vector<long long> ControlPlane::heard_ms() const {
  return {heard_ms_.begin(), heard_ms_.end()};
}

void ControlPlane::reply(const JobName& name, JobReply reply) {
  reply.run = name.run;
  reply.number = name.number;
  SecretVector frame = encode(reply);
  bool first = false;
  {
    std::lock_guard lock(mutex_);
    first = answers_.empty();
    answers_.push_back({name, std::move(frame)});
  }
  if (first) socket_->wake();
}

void ControlPlane::send_answers() {
  std::deque<Answer> answers;
  {
    std::lock_guard lock(mutex_);
    answers.swap(answers_);
  }
  for (Answer& answer : answers) {
    for (std::size_t agent = 0; agent < agent_ids_.size(); ++agent) {
      if (agent_ids_[agent] != answer.name.agent) continue;
      const auto* asked_by = runs_[agent].answered(answer.name.run);
      // Else the agent has gone, or does not read; it will time out and say so.
      if (asked_by != nullptr && !socket_->send(asked_by->route, std::move(answer.frame)))
        undelivered_++;
      break;
    }
  }
}

void ControlPlane::complain(const std::string& message) {
  if (!options_.log || monotonic_ms() < next_complaint_ms_) return;
  next_complaint_ms_ = monotonic_ms() + kComplaintEveryMs;
  options_.log(message);
}

ControlCounters ControlPlane::counters() const {
  return {requests_, malformed_, replayed_, refused_, undelivered_};
}

}  // namespace tkdc
