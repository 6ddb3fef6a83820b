// SPDX-License-Identifier: Apache-2.0
#include "migrate/agent_pipe.h"

#include <poll.h>

#include <array>

namespace tkdc::migrate {
namespace {

// The agent answers each request by its deadline; a longer silence is a hang.
constexpr auto kSilence = std::chrono::milliseconds(AgentPipe::kDeadlineMs + 10'000);

}  // namespace

std::string describe(const tkdc_reply& reply) {
  std::string text = tkdc_status_text(reply.status);
  if (reply.status != TKDC_STATUS_OK && reply.body.len > 0)
    text += ": " + std::string(reinterpret_cast<const char*>(reply.body.data), reply.body.len);
  return text;
}

Result<std::unique_ptr<AgentPipe>> AgentPipe::connect(const std::string& path) {
  std::unique_ptr<AgentPipe> pipe(new AgentPipe());
  if (const int error = tkdc_stream_open(&pipe->stream_, path.c_str()); error != 0) {
    std::array<char, 320> words{};
    tkdc_stream_explain(path.c_str(), error, words.data(), words.size());
    return fail(std::string("tkdc_admin_socket: ") + words.data());
  }
  if (auto greeted = pipe->greet(); !greeted) return fail(path + ": " + greeted.error().message);
  return pipe;
}

AgentPipe::~AgentPipe() { tkdc_stream_close(&stream_); }

Result<void> AgentPipe::greet() {
  tkdc_request hello{};
  hello.op = TKDC_OP_HELLO;
  hello.label = TKDC_ROLE_ADMIN;
  std::string refused;
  call(hello, [&](const tkdc_reply& reply) {
    tkdc_span security{};
    if (tkdc_reply_hello(&reply, &security, installation_))
      security_.assign(reinterpret_cast<const char*>(security.data), security.len);
    else
      refused = "tkdc-agent did not take the greeting: " + describe(reply);
  });
  if (!refused.empty()) return fail(refused);
  return {};
}

void AgentPipe::ask(const tkdc_request& request, Done done) {
  const std::uint64_t id = ++last_id_;
  if (waiting_.empty()) heard_ = Clock::now();
  waiting_[id] = {request.op, std::move(done)};
  if (alive() && !tkdc_request_encode(&stream_.out, &request, id, kDeadlineMs)) {
    tkdc_reply reply{};
    tkdc_reply_fail(&reply, TKDC_STATUS_BAD_REQUEST, "longer than the agent takes");
    Waiting waiting = std::move(waiting_[id]);
    waiting_.erase(id);
    waiting.done(reply);
    tkdc_reply_free(&reply);
  }
}

void AgentPipe::call(const tkdc_request& request, const Done& done) {
  bool answered = false;
  ask(request, [&](const tkdc_reply& reply) {
    answered = true;
    done(reply);
  });
  while (!answered) turn(100);
}

void AgentPipe::on_frame(const tkdc_wire_header& header, tkdc_span body) {
  auto it = waiting_.find(header.id);
  if (it == waiting_.end() || it->second.op != header.op) return;
  heard_ = Clock::now();
  Done done = std::move(it->second.done);
  waiting_.erase(it);
  tkdc_reply reply{};
  tkdc_reply_take(&reply, &header, body);
  done(reply);
  tkdc_reply_free(&reply);
}

void AgentPipe::fail_all(const char* why) {
  tkdc_stream_close(&stream_);
  while (!waiting_.empty()) {
    Done done = std::move(waiting_.begin()->second.done);
    waiting_.erase(waiting_.begin());
    tkdc_reply reply{};
    tkdc_reply_fail(&reply, TKDC_STATUS_UNAVAILABLE, why);
    done(reply);
    tkdc_reply_free(&reply);
  }
}

void AgentPipe::turn(int timeout_ms) {
  static constexpr auto take = [](void* arg, const tkdc_wire_header* header, tkdc_span body) {
    static_cast<AgentPipe*>(arg)->on_frame(*header, body);
  };
  if (!alive()) return fail_all("the connection to tkdc-agent is lost: see `tkdc status`");
  bool good = tkdc_stream_flush(&stream_);
  pollfd p{stream_.fd, POLLIN, 0};
  if (stream_.out.len > 0) p.events |= POLLOUT;
  const int n = good && !waiting_.empty() ? poll(&p, 1, timeout_ms) : 0;
  if (n > 0 && (p.revents & (POLLIN | POLLHUP | POLLERR)) != 0)
    good = tkdc_stream_read(&stream_, take, this);
  if (!good) return fail_all("the connection to tkdc-agent is lost: see `tkdc status`");
  if (!waiting_.empty() && Clock::now() - heard_ > kSilence)
    fail_all("no answer from tkdc-agent: see `tkdc status`");
}

}  // namespace tkdc::migrate
