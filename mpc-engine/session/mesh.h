// SPDX-License-Identifier: Apache-2.0
// Makes sessions out of connections: every party listens, dials its next for
// each lane and takes its previous' calls; then all three agree on what
// hello.h and agreement.h list. docs/protocols/03-session.md has the messages.
//
// A session's connections end when any link fails, and also when the previous party asks
// for new ones (its old ones failed, or it was restarted, which this party has not noticed).
// All parties then call establish() again, which yields the same session over new connections
// where all three hold its state, and a new one else; nothing needs a restart.
//
// Threads: establish() by one; stop() by any; the acceptor has its own.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "session/acceptor.h"
#include "session/backoff.h"
#include "session/entries.h"
#include "session/epoch_ledger.h"
#include "session/mesh_options.h"
#include "session/sessions.h"

namespace tkdc {

class Mesh final : public Sessions {
 public:
  // Listens at once. `store` is used by establish() and epochs() only.
  static Result<std::unique_ptr<Mesh>> create(MeshOptions options, Entries& entries);
  ~Mesh() override;

  Result<Session> establish() override;
  void stop() override;
  int port() const override { return acceptor_->port(); }
  EpochReport epochs() override { return ledger_.report(); }
  // For tests and benches that let the kernel choose ports.
  void set_peer_address(int party, const std::string& address);

 private:
  Mesh(MeshOptions options, Entries& entries);
  const MeshPeer& peer(int party) const;
  void on_offer(const Hello& hello);
  std::shared_ptr<LinkBreaker> new_breaker();
  void expect_nonce(const std::array<std::uint8_t, 32>& nonce);

  MeshOptions options_;
  Entries& entries_;
  EpochLedger ledger_;

  std::mutex mutex_;
  bool stopping_ = false;
  std::shared_ptr<LinkBreaker> breaker_;  // of the current attempt or session
  // The previous party's attempt that the current session is made with.
  std::optional<std::array<std::uint8_t, 32>> nonce_in_use_;

  std::unique_ptr<Acceptor> acceptor_;
};

}  // namespace tkdc
