// SPDX-License-Identifier: Apache-2.0
#include "service/server/zap.h"

#include <zmq.h>

#include "base/hex.h"
#include "link/socket.h"

namespace tkdc {
namespace {

constexpr char kEndpoint[] = "inproc://zeromq.zap.01";
constexpr int kPollMs = 100;
constexpr std::size_t kMaxFrames = 16;

// Frames of a request after the ROUTER-less REP envelope, RFC 27:
// version, request id, domain, address, identity, mechanism, credentials.
enum Frame : std::size_t { kVersion, kRequestId, kDomain, kAddress, kIdentity, kMechanism, kKey };

bool receive_all(void* socket, std::vector<std::string>& frames) {
  int more = 1;
  while (more != 0) {
    zmq_msg_t message;
    zmq_msg_init(&message);
    if (zmq_msg_recv(&message, socket, ZMQ_DONTWAIT) < 0) {
      zmq_msg_close(&message);
      return false;
    }
    if (frames.size() < kMaxFrames)
      frames.emplace_back(static_cast<const char*>(zmq_msg_data(&message)), zmq_msg_size(&message));
    more = zmq_msg_more(&message);
    zmq_msg_close(&message);
  }
  return true;
}

}  // namespace

ZapHandler::ZapHandler(void* socket, const std::vector<AgentEntry>& agents,
                       std::function<void(const std::string&)> log)
    : socket_(socket), log_(std::move(log)) {
  for (const AgentEntry& agent : agents)
    keys_.push_back(decode_curve_public(agent.curve_public_key).value_or(CurvePublicKey{}));
  thread_ = std::thread([this] { run(); });
}

Result<std::unique_ptr<ZapHandler>> ZapHandler::start(void* context,
                                                      const std::vector<AgentEntry>& agents,
                                                      std::function<void(const std::string&)> log) {
  void* socket = zmq_socket(context, ZMQ_REP);
  int linger = 0;
  if (socket == nullptr || zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger) != 0 ||
      zmq_bind(socket, kEndpoint) != 0) {
    std::string reason = zmq_strerror(zmq_errno());
    if (socket != nullptr) zmq_close(socket);
    return fail("control: no ZAP handler: " + reason);
  }
  return std::unique_ptr<ZapHandler>(new ZapHandler(socket, agents, std::move(log)));
}

ZapHandler::~ZapHandler() {
  stop_ = true;
  thread_.join();
}

void ZapHandler::run() {
  while (!stop_) {
    zmq_pollitem_t item{socket_, 0, ZMQ_POLLIN, 0};
    int rc = zmq_poll(&item, 1, kPollMs);
    if (rc < 0 && zmq_errno() == ETERM) break;
    if (rc > 0 && !answer()) break;
  }
  zmq_close(socket_);
}

// -1: nobody.
int ZapHandler::agent_of(const std::vector<std::string>& frames) const {
  if (frames.size() != kKey + 1 || frames[kVersion] != "1.0" || frames[kDomain] != kZapDomain ||
      frames[kMechanism] != "CURVE" || frames[kKey].size() != kCurveKeyBytes)
    return -1;
  int found = -1;
  for (std::size_t i = 0; i < keys_.size(); ++i)
    if (sodium_memcmp(keys_[i].data(), frames[kKey].data(), keys_[i].size()) == 0)
      found = static_cast<int>(i);
  return found;
}

bool ZapHandler::answer() {
  std::vector<std::string> frames;
  if (!receive_all(socket_, frames)) return zmq_errno() == EAGAIN;
  int agent = agent_of(frames);
  if (agent < 0 && log_) {
    std::string key = frames.size() > kKey
                          ? to_hex({reinterpret_cast<const std::uint8_t*>(frames[kKey].data()),
                                    frames[kKey].size()})
                          : "none";
    log_("control: refused a client with CURVE public key " + key +
         " (hexadecimal); list it under [[agents]] if it is one of yours");
  }
  std::string request_id = frames.size() > kRequestId ? frames[kRequestId] : "";
  const std::string reply[] = {"1.0",
                               request_id,
                               agent >= 0 ? "200" : "400",
                               agent >= 0 ? "OK" : "not a listed agent",
                               agent >= 0 ? std::to_string(agent) : "",
                               ""};
  for (std::size_t i = 0; i < 6; ++i)
    if (zmq_send(socket_, reply[i].data(), reply[i].size(), i < 5 ? ZMQ_SNDMORE : 0) < 0)
      return false;
  return true;
}

}  // namespace tkdc
