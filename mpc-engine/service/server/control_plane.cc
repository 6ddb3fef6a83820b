// SPDX-License-Identifier: Apache-2.0
#include "service/server/control_plane.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstring>

#include "base/curve_key.h"
#include "service/server/control_socket.h"

namespace tkdc {
namespace {

constexpr std::chrono::milliseconds kTick{1'000};
constexpr int kBatch = 256;  // requests taken before answers get their turn
constexpr long long kComplaintEveryMs = 1'000;

// False when none waits, or when the socket fails: what waits on it hears of that.
bool receive(zmq::socket_t& socket, ReceivedFrame& frame) {
  try {
    return frame.receive(socket);
  } catch (const zmq::error_t&) {
    return false;
  }
}

// What the ZAP handler said of the connection; -1 without.
int agent_index(ReceivedFrame& frame) {
  const char* text = frame.property("User-Id");
  int index = -1;
  if (text == nullptr || std::from_chars(text, text + std::strlen(text), index).ec != std::errc())
    return -1;
  return index;
}

}  // namespace

std::uint64_t agent_id(const std::string& curve_public_key) {
  const CurvePublicKey key = decode_curve_public(curve_public_key).value_or(CurvePublicKey{});
  Digest digest{};
  crypto_generichash(digest.data(), digest.size(), key.data(), key.size(), nullptr, 0);
  return Reader(digest).u64();
}

ControlPlane::ControlPlane(ControlOptions options, Submit submit, StatusJson status_json)
    : options_(std::move(options)), submit_(std::move(submit)),
      status_json_(std::move(status_json)), runs_(options_.agents.size()),
      event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  for (const AgentEntry& agent : options_.agents)
    agent_ids_.push_back(agent_id(agent.curve_public_key));
}

Result<std::unique_ptr<ControlPlane>> ControlPlane::create(ControlOptions options, Submit submit,
                                                           StatusJson status_json) {
  try {
    std::unique_ptr<ControlPlane> plane(
        new ControlPlane(std::move(options), std::move(submit), std::move(status_json)));
    auto bound = plane->bind();
    if (!bound.ok()) return bound.error();
    return plane;
  } catch (const zmq::error_t&) {
    return fail("control: libzmq cannot start");
  }
}

Result<void> ControlPlane::bind() {
  if (!event_) return fail("control: libzmq cannot start");
  auto zap = ZapHandler::start(context_, options_.agents, options_.log);
  if (!zap.ok()) return zap.error();
  zap_ = std::move(*zap);
  auto socket = open_control_socket(context_, options_.listen, options_.curve_secret_key,
                                    options_.max_pending_per_agent);
  if (!socket.ok()) return socket.error();
  socket_ = std::move(*socket);
  endpoint_ = socket_.get(zmq::sockopt::last_endpoint);
  return {};
}

Result<void> ControlPlane::run() {
  std::array<zmq::pollitem_t, 2> items{
      {{socket_.handle(), 0, ZMQ_POLLIN, 0}, {nullptr, event_.get(), ZMQ_POLLIN, 0}}};
  while (!stop_) {
    try {
      if (zmq::poll(items, kTick) == 0) continue;
    } catch (const zmq::error_t& error) {
      if (error.num() == EINTR) continue;
      return fail(std::string("control: poll: ") + error.what());
    }
    if (items[1].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] ssize_t n = read(event_.get(), &count, sizeof count);
      send_answers();
    }
    if (items[0].revents != 0) receive_some();
  }
  send_answers();
  return {};
}

void ControlPlane::stop() {
  stop_ = true;
  std::uint64_t one = 1;
  [[maybe_unused]] ssize_t n = write(event_.get(), &one, sizeof one);
}

void ControlPlane::receive_some() {
  for (int i = 0; i < kBatch && receive_one(); ++i) {
  }
}

// One message: routing id and one frame. False when there is none.
bool ControlPlane::receive_one() {
  ReceivedFrame route, body;
  if (!receive(socket_, route)) return false;
  bool whole = route.more() && receive(socket_, body) && !body.more();
  bool more = body.more();
  while (more) {
    ReceivedFrame rest;
    more = receive(socket_, rest) && rest.more();
  }
  if (whole) {
    handle(route, body);
  } else {
    malformed_++;
    complain("control: dropped a message that is not one frame");
  }
  return true;
}

void ControlPlane::handle(const ReceivedFrame& route, ReceivedFrame& body) {
  int index = agent_index(body);
  if (index < 0 || static_cast<std::size_t>(index) >= options_.agents.size()) {
    malformed_++;
    return complain("control: dropped a message without an admitted sender");
  }
  auto agent = static_cast<std::size_t>(index);
  auto request = decode_request(body.bytes());
  if (!request.ok()) {
    malformed_++;
    return complain("control: dropped a request of " + options_.agents[agent].name + ": " +
                    request.error().message);
  }
  request->name.agent = agent_ids_[agent];
  ByteSpan id = route.bytes();
  auto arrival = runs_[agent].arrived(request->name.run, request->name.number,
                                      std::string(id.begin(), id.end()));
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
  bool full = runs_[agent].pending() >= options_.max_pending_per_agent;
  runs_[agent].started(request->name.run);
  if (full) return refuse(agent, *request);
  if (request->op == TKDC_OP_STATUS) return answer_status(agent, *request);
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
  if (!first) return;
  std::uint64_t one = 1;
  [[maybe_unused]] ssize_t n = write(event_.get(), &one, sizeof one);
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
      if (asked_by != nullptr) send_frame(asked_by->route, std::move(answer.frame));
      break;
    }
  }
}

void ControlPlane::send_frame(const std::string& route, SecretVector frame) {
  try {
    zmq::message_t message = secret_message(std::move(frame));
    if (socket_.send(zmq::buffer(route), zmq::send_flags::sndmore | zmq::send_flags::dontwait) &&
        socket_.send(message, zmq::send_flags::dontwait))
      return;
  } catch (const zmq::error_t&) {
  }
  // The agent has gone, or does not read; it will time out and say so.
  undelivered_++;
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
