// SPDX-License-Identifier: Apache-2.0
// Takes connections on the data address, all the time, also while a session
// runs. A stranger costs a slot for a few seconds and nothing else: only a
// connection that proves the pinned identity of the previous party and sends a
// HELLO becomes an offer, which the mesh picks up.
//
// Threads: one of its own. take() is called by the mesh's thread.
// Secret: the contributions in the HELLOs of waiting offers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/machine.h"
#include "link/network.h"
#include "session/hello.h"

namespace tkdc {

struct Offer {
  std::unique_ptr<PacketStream> stream;
  Hello hello;
};

struct AcceptorOptions {
  int party = 0;  // the previous one's number
  std::size_t max_strangers = 64;
  int stranger_timeout_ms = 5'000;
  std::uint64_t stranger_max_bytes = 32 * 1024;
  std::function<void(const std::string&)> log;
  std::string no_call;  // SessionAdvice::no_call
  // An authenticated HELLO arrived. Called from the acceptor's thread.
  std::function<void(const Hello&)> on_offer;
};

class Acceptor {
 public:
  // What `listener` accepts has proved to be the previous party.
  Acceptor(std::unique_ptr<Listener> listener, AcceptorOptions options);
  ~Acceptor();

  using Round = std::array<std::uint8_t, 32>;
  int port() const { return listener_->port(); }

  // Waits for `count` offers of one attempt of so many lanes; of another round than `round`, if
  // that is set, they are dropped. When the first one disagrees about lanes or version it is
  // returned alone, so that the caller can say so. `check` runs every few milliseconds; its error
  // ends the waiting.
  Result<std::vector<Offer>> take(int lanes, std::size_t count, const std::optional<Round>& round,
                                  long long deadline_ms,
                                  const std::function<Result<void>()>& check);

 private:
  struct Stranger {
    std::unique_ptr<PacketStream> stream;
    long long deadline_ms = 0;
    bool handshaken = false;
  };
  struct Waiting {
    std::uint64_t number = 0;
    Offer offer;
  };

  void run();
  void accept_all();
  void serve(std::span<const pollfd> polled);
  Result<bool> step(Stranger& stranger);
  void admit(Stranger stranger);
  void drop_dead_offers(std::span<const std::uint64_t> numbers, std::span<const pollfd> polled);
  void complain(const std::string& message);

  std::unique_ptr<Listener> listener_;
  AcceptorOptions options_;
  std::atomic<bool> stop_{false};

  std::vector<Stranger> strangers_;  // acceptor's thread only
  long long next_complaint_ms_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Waiting> waiting_;
  // Why the last caller who was refused was; under mutex_. It explains why no session begins: who
  // called while one stood is forgotten when the next is waited for.
  std::string refused_;
  bool taken_ = false;  // offers, for a session
  std::uint64_t offers_ = 0;

  std::unique_ptr<Machine::Thread> thread_;  // last: everything else exists when it starts
};

}  // namespace tkdc
