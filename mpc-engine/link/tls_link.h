// SPDX-License-Identifier: Apache-2.0
// The real Link: one lane's TLS connections to both neighbours.
//
// The lane's thread uses it; wake() and the LinkBreaker may be used from any.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "link/link_breaker.h"
#include "link/tls_stream.h"

namespace tkdc {

class TlsLink final : public Link {
 public:
  // Both streams have finished their handshake.
  static Result<std::unique_ptr<TlsLink>> create(std::unique_ptr<TlsStream> prev,
                                                 std::unique_ptr<TlsStream> next,
                                                 std::shared_ptr<LinkBreaker> breaker);

  Result<void> send_pieces(Neighbour to, std::span<const ByteSpan> pieces) override;
  Result<ByteSpan> receive(Neighbour from, int timeout_ms) override;
  Result<Event> wait(int timeout_ms) override;
  Result<void> look() override;
  void wake() override;
  // All lanes of the session share the breaker, so they end together.
  void abort(const std::string& reason) override { breaker_->trip(reason); }
  Counters counters() const override { return counters_; }
  std::chrono::microseconds round_trip() const override;

  TlsStream& stream(Neighbour side) { return *stream_[static_cast<int>(side)]; }

 private:
  TlsLink(std::unique_ptr<TlsStream> prev, std::unique_ptr<TlsStream> next,
          std::shared_ptr<LinkBreaker> breaker, UniqueFd event);

  // Polls both sockets, the breaker and, when `woken` is given, the eventfd.
  // False when the time is over.
  Result<bool> pump(long long deadline_ms, bool* woken);
  Result<void> check_breaker() const;
  bool consume_wake();

  std::unique_ptr<TlsStream> stream_[2];  // by Neighbour
  std::shared_ptr<LinkBreaker> breaker_;
  UniqueFd event_;
  std::atomic<bool> wake_{false};
  Counters counters_;
};

}  // namespace tkdc
