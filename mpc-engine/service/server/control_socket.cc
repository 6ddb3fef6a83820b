// SPDX-License-Identifier: Apache-2.0
#include "service/server/control_socket.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "base/secret_frame.h"
#include "base/unique_fd.h"
#include "service/server/control_router.h"
#include "service/server/zap.h"

namespace tkdc {
namespace {

// False when none waits, or when the socket fails: what waits on it hears of that.
bool receive_frame(zmq::socket_t& socket, ReceivedFrame& frame) {
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

class ControlSocket final : public AgentSocket {
 public:
  Result<void> open(const ControlSocketOptions& options) {
    event_ = UniqueFd(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!event_) return fail("control: libzmq cannot start");
    auto zap = ZapHandler::start(context_, options.agents, options.log);
    if (!zap.ok()) return zap.error();
    zap_ = std::move(*zap);
    auto socket = open_control_router(context_, options.listen, options.curve_secret_key,
                                      options.max_answers_waiting);
    if (!socket.ok()) return socket.error();
    socket_ = std::move(*socket);
    endpoint_ = socket_.get(zmq::sockopt::last_endpoint);
    return {};
  }

  Result<Ready> wait(int most_ms) override {
    std::array<zmq::pollitem_t, 2> items{
        {{socket_.handle(), 0, ZMQ_POLLIN, 0}, {nullptr, event_.get(), ZMQ_POLLIN, 0}}};
    try {
      zmq::poll(items, std::chrono::milliseconds(most_ms));
    } catch (const zmq::error_t& error) {
      if (error.num() == EINTR) return Ready();
      return fail(std::string("control: poll: ") + error.what());
    }
    const bool woken = items[1].revents != 0;
    if (woken) {
      std::uint64_t count = 0;
      [[maybe_unused]] ssize_t n = read(event_.get(), &count, sizeof count);
    }
    return Ready{items[0].revents != 0, woken};
  }

  void wake() override {
    std::uint64_t one = 1;
    [[maybe_unused]] ssize_t n = write(event_.get(), &one, sizeof one);
  }

  // One message: routing id and one frame.
  bool receive(const std::function<void(const Message&)>& handle) override {
    ReceivedFrame route, body;
    if (!receive_frame(socket_, route)) return false;
    Message message;
    message.whole = route.more() && receive_frame(socket_, body) && !body.more();
    bool more = body.more();
    while (more) {
      ReceivedFrame rest;
      more = receive_frame(socket_, rest) && rest.more();
    }
    if (message.whole) {
      message.agent = agent_index(body);
      message.route.assign(route.bytes().begin(), route.bytes().end());
      message.body = body.bytes();
    }
    handle(message);
    return true;
  }

  bool send(const std::string& route, SecretVector frame) override {
    try {
      zmq::message_t message = secret_message(std::move(frame));
      return socket_.send(zmq::buffer(route),
                          zmq::send_flags::sndmore | zmq::send_flags::dontwait) &&
             socket_.send(message, zmq::send_flags::dontwait);
    } catch (const zmq::error_t&) {
      return false;
    }
  }

  std::string endpoint() const override { return endpoint_; }

 private:
  // Destroyed from the last to the first: a context outlives its sockets.
  zmq::context_t context_;
  zmq::socket_t socket_;
  std::unique_ptr<ZapHandler> zap_;
  std::string endpoint_;
  UniqueFd event_;
};

}  // namespace

Result<std::unique_ptr<AgentSocket>> open_control_socket(const ControlSocketOptions& options) {
  try {
    auto socket = std::make_unique<ControlSocket>();
    if (auto opened = socket->open(options); !opened.ok()) return opened.error();
    return std::unique_ptr<AgentSocket>(std::move(socket));
  } catch (const zmq::error_t&) {
    return fail("control: libzmq cannot start");
  }
}

}  // namespace tkdc
