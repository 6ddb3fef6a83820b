// SPDX-License-Identifier: Apache-2.0
#include "service/server/zap.h"

#include <chrono>

#include <zmq.h>

#include "base/curve_key.h"
#include "link/socket.h"

namespace tkdc {
namespace {

constexpr char kEndpoint[] = "inproc://zeromq.zap.01";
constexpr std::chrono::milliseconds kPoll{100};
constexpr std::size_t kMaxFrames = 16;

// Frames of a request after the ROUTER-less REP envelope, RFC 27:
// version, request id, domain, address, identity, mechanism, credentials.
enum Frame : std::size_t { kVersion, kRequestId, kDomain, kAddress, kIdentity, kMechanism, kKey };

// False when there is none.
bool receive_all(zmq::socket_t& socket, std::vector<std::string>& frames) {
  for (bool more = true; more;) {
    zmq::message_t message;
    if (!socket.recv(message, zmq::recv_flags::dontwait)) return false;
    if (frames.size() < kMaxFrames) frames.push_back(message.to_string());
    more = message.more();
  }
  return true;
}

}  // namespace

ZapHandler::ZapHandler(zmq::socket_t socket, const std::vector<AgentEntry>& agents,
                       std::function<void(const std::string&)> log)
    : socket_(std::move(socket)), log_(std::move(log)) {
  for (const AgentEntry& agent : agents)
    keys_.push_back(decode_curve_public(agent.curve_public_key).value_or(CurvePublicKey{}));
  thread_ = std::thread([this] { run(); });
}

Result<std::unique_ptr<ZapHandler>> ZapHandler::start(zmq::context_t& context,
                                                      const std::vector<AgentEntry>& agents,
                                                      std::function<void(const std::string&)> log) {
  zmq::socket_t socket;
  try {
    socket = zmq::socket_t(context, zmq::socket_type::rep);
    socket.set(zmq::sockopt::linger, 0);
    socket.bind(kEndpoint);
  } catch (const zmq::error_t& error) {
    return fail(std::string("control: no ZAP handler: ") + error.what());
  }
  return std::unique_ptr<ZapHandler>(new ZapHandler(std::move(socket), agents, std::move(log)));
}

ZapHandler::~ZapHandler() {
  stop_ = true;
  thread_.join();
}

void ZapHandler::run() {
  std::array<zmq::pollitem_t, 1> items{{{socket_.handle(), 0, ZMQ_POLLIN, 0}}};
  while (!stop_) {
    try {
      if (zmq::poll(items, kPoll) == 0) continue;
    } catch (const zmq::error_t& error) {
      if (error.num() == ETERM) break;
      continue;
    }
    if (!answer()) break;
  }
  socket_.close();
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

// False: the socket is unusable.
bool ZapHandler::answer() {
  try {
    std::vector<std::string> frames;
    return !receive_all(socket_, frames) || answer(frames);
  } catch (const zmq::error_t&) {
    return false;
  }
}

bool ZapHandler::answer(const std::vector<std::string>& frames) {
  int agent = agent_of(frames);
  if (agent < 0 && log_) {
    // As configurations have it, so that it can be looked for.
    char key[kCurveTextBytes + 1] = "none";
    if (frames.size() > kKey && frames[kKey].size() == kCurveKeyBytes)
      zmq_z85_encode(key, reinterpret_cast<const std::uint8_t*>(frames[kKey].data()),
                     kCurveKeyBytes);
    log_(std::string("control: refused a client with CURVE public key ") + key +
         "; list it under [[agents]] if it is one of yours");
  }
  std::string request_id = frames.size() > kRequestId ? frames[kRequestId] : "";
  const std::string reply[] = {"1.0",
                               request_id,
                               agent >= 0 ? "200" : "400",
                               agent >= 0 ? "OK" : "not a listed agent",
                               agent >= 0 ? std::to_string(agent) : "",
                               ""};
  for (std::size_t i = 0; i < 6; ++i)
    if (!socket_.send(zmq::buffer(reply[i]),
                      i < 5 ? zmq::send_flags::sndmore : zmq::send_flags::none))
      return false;
  return true;
}

}  // namespace tkdc
