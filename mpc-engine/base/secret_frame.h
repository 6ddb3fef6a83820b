// SPDX-License-Identifier: Apache-2.0
// Frames of ZeroMQ that hold secrets: wiped when they have been sent or read. libzmq's own copies
// are not ours to wipe.
#pragma once

#include <memory>
#include <zmq.hpp>

#include "base/handover.h"
#include "base/secret.h"

namespace tkdc {

// Called on libzmq's thread when a frame has left.
inline void release_frame(void*, void* hint) {
  TKDC_TAKE_OVER(hint);
  delete static_cast<SecretVector*>(hint);
}

// Is sent from the memory of `frame`. Throws zmq::error_t.
inline zmq::message_t secret_message(SecretVector frame) {
  auto owned = std::make_unique<SecretVector>(std::move(frame));
  zmq::message_t message(owned->data(), owned->size(), release_frame, owned.get());
  [[maybe_unused]] SecretVector* handed = owned.release();
  TKDC_HAND_OVER(handed);
  return message;
}

class ReceivedFrame {
 public:
  ReceivedFrame() = default;
  ~ReceivedFrame() { sodium_memzero(message_.data(), message_.size()); }
  ReceivedFrame(const ReceivedFrame&) = delete;
  ReceivedFrame& operator=(const ReceivedFrame&) = delete;

  // False when none waits. Throws zmq::error_t. Once for each object.
  bool receive(zmq::socket_t& socket) {
    return socket.recv(message_, zmq::recv_flags::dontwait).has_value();
  }
  bool more() const { return message_.more(); }
  ByteSpan bytes() const { return {message_.data<std::uint8_t>(), message_.size()}; }
  // Of the connection (ZAP's "User-Id"); null when there is none.
  const char* property(const char* name) { return zmq_msg_gets(message_.handle(), name); }

 private:
  zmq::message_t message_;
};

}  // namespace tkdc
