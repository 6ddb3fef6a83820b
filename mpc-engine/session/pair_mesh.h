// SPDX-License-Identifier: Apache-2.0
// Makes sessions of two parties: party 0 calls, party 1 listens; then both agree on what hello.h
// and pair_talk.h list. Each lane gets a bulk stream in either direction, and nothing else.
// docs/protocols/03-session.md has the messages.
//
// A session ends with its streams: when one fails, when this party stops, and when party 0 asks
// for new ones (it was restarted, which party 1 has not noticed). Nothing of it goes on; the next
// establish() makes a new one.
//
// Threads: establish() by one; stop() by any; the acceptor has its own.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "session/acceptor.h"
#include "session/entries.h"
#include "session/mesh_options.h"
#include "session/sessions.h"

namespace tkdc {

class PairMesh final : public Sessions {
 public:
  // Party 1 listens at once. Of the options those that three parties alone have are not looked at:
  // zero-shares, streams, repair, courses, a session that is held.
  static Result<std::unique_ptr<PairMesh>> create(MeshOptions options, Entries& entries);
  ~PairMesh() override;

  Result<Session> establish() override;
  void stop() override;
  int port() const override { return acceptor_ ? acceptor_->port() : 0; }  // 0: it calls
  EpochReport epochs() override { return ledger_.report(); }
  // For tests and benches that let the kernel choose ports.
  void set_peer_address(const std::string& address) { options_.peers[0].address = address; }

 private:
  PairMesh(MeshOptions options, Entries& entries);
  void on_offer(const Hello& hello);
  std::shared_ptr<LinkBreaker> new_breaker();
  void expect_nonce(const std::array<std::uint8_t, 32>& nonce);
  // Under mutex_.
  void end_session(const std::string& reason);
  Result<void> watch(const Session& session);

  MeshOptions options_;
  EpochLedger ledger_;
  Entries& entries_;

  std::mutex mutex_;
  bool stopping_ = false;
  std::shared_ptr<LinkBreaker> breaker_;                       // of the current attempt
  std::vector<std::function<void(const std::string&)>> ends_;  // of the current session's streams
  // Party 0's attempt that the current session is made with.
  std::optional<std::array<std::uint8_t, 32>> nonce_in_use_;

  std::unique_ptr<Acceptor> acceptor_;  // null: this party calls
};

}  // namespace tkdc
