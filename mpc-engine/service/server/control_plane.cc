// SPDX-License-Identifier: Apache-2.0
#include "service/server/control_plane.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.h>

#include <charconv>
#include <cstring>

#include "base/curve_key.h"
#include "base/handover.h"
#include "service/server/control_socket.h"

namespace tkdc {
namespace {

constexpr int kTickMs = 1'000;
constexpr int kBatch = 256;  // requests taken before answers get their turn
constexpr long long kComplaintEveryMs = 1'000;

void wipe_and_delete(void*, void* hint) {
  TKDC_TAKE_OVER(hint);
  delete static_cast<SecretVector*>(hint);
}

}  // namespace

// A received frame, wiped before libzmq frees it.
class ControlPlane::Message {
 public:
  Message() { zmq_msg_init(&message_); }
  ~Message() {
    sodium_memzero(zmq_msg_data(&message_), zmq_msg_size(&message_));
    zmq_msg_close(&message_);
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  bool receive(void* socket) { return zmq_msg_recv(&message_, socket, ZMQ_DONTWAIT) >= 0; }
  bool more() const { return zmq_msg_more(&message_) != 0; }
  ByteSpan bytes() {
    return {static_cast<const std::uint8_t*>(zmq_msg_data(&message_)), zmq_msg_size(&message_)};
  }
  // What the ZAP handler said of the connection; -1 without.
  int agent() {
    const char* text = zmq_msg_gets(&message_, "User-Id");
    int index = -1;
    if (text == nullptr || std::from_chars(text, text + std::strlen(text), index).ec != std::errc())
      return -1;
    return index;
  }

 private:
  zmq_msg_t message_;
};

std::uint64_t agent_id(const std::string& curve_public_key) {
  const CurvePublicKey key = decode_curve_public(curve_public_key).value_or(CurvePublicKey{});
  Digest digest{};
  crypto_generichash(digest.data(), digest.size(), key.data(), key.size(), nullptr, 0);
  return Reader(digest).u64();
}

ControlPlane::ControlPlane(ControlOptions options, Submit submit, StatusJson status_json)
    : options_(std::move(options)), submit_(std::move(submit)),
      status_json_(std::move(status_json)), sessions_(options_.agents.size()),
      event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  for (const AgentEntry& agent : options_.agents)
    agent_ids_.push_back(agent_id(agent.curve_public_key));
}

ControlPlane::~ControlPlane() {
  zap_.reset();
  if (socket_ != nullptr) zmq_close(socket_);
  if (context_ != nullptr) zmq_ctx_term(context_);
}

Result<std::unique_ptr<ControlPlane>> ControlPlane::create(ControlOptions options, Submit submit,
                                                           StatusJson status_json) {
  std::unique_ptr<ControlPlane> plane(
      new ControlPlane(std::move(options), std::move(submit), std::move(status_json)));
  auto bound = plane->bind();
  if (!bound.ok()) return bound.error();
  return plane;
}

Result<void> ControlPlane::bind() {
  context_ = zmq_ctx_new();
  if (context_ == nullptr || !event_) return fail("control: libzmq cannot start");
  auto zap = ZapHandler::start(context_, options_.agents, options_.log);
  if (!zap.ok()) return zap.error();
  zap_ = std::move(*zap);
  auto socket = open_control_socket(context_, options_.listen, options_.curve_secret_key,
                                    options_.max_pending_per_agent);
  if (!socket.ok()) return socket.error();
  socket_ = *socket;
  char endpoint[256];
  std::size_t bytes = sizeof endpoint;
  if (zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, endpoint, &bytes) == 0) endpoint_ = endpoint;
  return {};
}

Result<void> ControlPlane::run() {
  while (!stop_) {
    zmq_pollitem_t items[2] = {{socket_, 0, ZMQ_POLLIN, 0}, {nullptr, event_.get(), ZMQ_POLLIN, 0}};
    int rc = zmq_poll(items, 2, kTickMs);
    if (rc < 0 && zmq_errno() != EINTR)
      return fail(std::string("control: poll: ") + zmq_strerror(zmq_errno()));
    if (rc <= 0) continue;
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
  Message route, body;
  if (!route.receive(socket_)) return false;
  bool whole = route.more() && body.receive(socket_) && !body.more();
  bool more = body.more();
  while (more) {
    Message rest;
    more = rest.receive(socket_) && rest.more();
  }
  if (whole) {
    handle(route, body);
  } else {
    malformed_++;
    complain("control: dropped a message that is not one frame");
  }
  return true;
}

void ControlPlane::handle(Message& route, Message& body) {
  int index = body.agent();
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
  auto verdict = sessions_[agent].arrived(request->name.session, request->name.number,
                                          std::string(id.begin(), id.end()));
  if (verdict == AgentSessions::Verdict::kReplay) {
    // No answer: it would be taken for the answer of the job that is running.
    replayed_++;
    return complain("control: dropped a repeated job number of " + options_.agents[agent].name);
  }
  if (verdict == AgentSessions::Verdict::kTooManySessions) {
    refused_++;
    return complain("control: " + options_.agents[agent].name + " has too many sessions at work");
  }
  requests_++;
  bool full = sessions_[agent].pending() >= options_.max_pending_per_agent;
  sessions_[agent].started(request->name.session);
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
  reply.session = name.session;
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
      const auto* session = sessions_[agent].answered(answer.name.session);
      if (session != nullptr) send_frame(session->route, std::move(answer.frame));
      break;
    }
  }
}

void ControlPlane::send_frame(const std::string& route, SecretVector frame) {
  auto* owned = new SecretVector(std::move(frame));
  zmq_msg_t message;
  if (zmq_msg_init_data(&message, owned->data(), owned->size(), wipe_and_delete, owned) != 0) {
    delete owned;
    undelivered_++;
    return;
  }
  TKDC_HAND_OVER(owned);
  if (zmq_send(socket_, route.data(), route.size(), ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0 ||
      zmq_msg_send(&message, socket_, ZMQ_DONTWAIT) < 0) {
    // The agent has gone, or does not read; it will time out and say so.
    zmq_msg_close(&message);
    undelivered_++;
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
