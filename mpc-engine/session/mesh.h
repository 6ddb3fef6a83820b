// SPDX-License-Identifier: Apache-2.0
// Makes sessions out of connections: every party listens, dials its next for
// each lane and takes its previous' calls; then all three agree on what
// hello.h and reconcile.h list. docs/protocols/03-session.md has the messages.
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
#include "link/certificate.h"
#include "session/course_tail.h"
#include "session/epoch_ledger.h"
#include "session/session.h"
#include "link/tls_link.h"
#include "session/wire_format.h"
#include "service/store/store.h"

namespace tkdc {

struct MeshPeer {
  int party = 0;
  std::string address;  // host:port of its data plane
  Fingerprint certificate_sha256{};
};

struct MeshOptions {
  std::array<std::uint8_t, 16> installation{};
  int party = 0;
  int lanes = 1;
  Security security = Security::kSemiHonest;
  Representation representation = Representation::kPlanes;  // kBytes: offered
  ZeroOffer zero_shares = ZeroOffer::kAesCtr;
  bool two_parts = false;                             // allowed
  std::uint64_t wire_format = wire_format_digest();   // tests say another
  std::uint32_t masked_blocks = 0;                    // service/job/engine.h
  std::uint32_t cohort_limit = 0;                     // service/job/limits.h
  std::uint16_t protocol_version = kProtocolVersion;  // what we say; tests say another
  std::string listen_address;
  std::string certificate_pem;
  SecretVector private_key_pem;
  std::vector<MeshPeer> peers;  // the other two
  int establish_timeout_ms = 10'000;
  RecordCipher records = RecordCipher::kFastest;
  std::uint64_t records_per_key = TlsStream::kRecordsPerKey;
  std::uint32_t epochs_per_day = EpochLedger::kPerDay;
  std::function<void(const std::string&)> log;  // any thread
  std::function<AuditHead()> audit_head;        // of this server's log; none without
  // Where this server's lane stood when the last session ended; none without. And what a
  // peer says of the same: an error ends the attempt. Both from establish()'s thread.
  std::function<CourseTail(int lane)> course;
  std::function<Result<void>(int lane, int party, const CourseTail&)> hear_course;
  // The session that this server's engine can go on with; none without. From the same thread.
  std::function<SessionId()> held;
  // There will be a new one: what is held is over, because that party forgot it, or both. Error: no
  // new session either. From the same thread.
  std::function<Result<void>(std::optional<int> forgotten_by)> give_up;
};

class Mesh {
 public:
  // Listens at once. `store` is used by establish() and epochs() only.
  static Result<std::unique_ptr<Mesh>> create(MeshOptions options, Store& store);
  ~Mesh();

  // One attempt, at most establish_timeout_ms long. The caller tries again
  // until it succeeds, with a Backoff in between.
  Result<Session> establish();

  // Ends a running establish() and the links of the current session; every
  // later establish() fails.
  void stop();

  int port() const { return port_; }
  // How many nonce epochs there are still; any thread.
  EpochReport epochs() { return ledger_.report(); }
  // For tests and benches that let the kernel choose ports.
  void set_peer_address(int party, const std::string& address);

 private:
  Mesh(MeshOptions options, Store& store, TlsContext tls);
  const MeshPeer& peer(int party) const;
  void on_offer(const Hello& hello);
  std::shared_ptr<LinkBreaker> new_breaker();
  void expect_nonce(const std::array<std::uint8_t, 32>& nonce);

  MeshOptions options_;
  Store& store_;
  EpochLedger ledger_;
  TlsContext tls_;
  int port_ = 0;

  std::mutex mutex_;
  bool stopping_ = false;
  std::shared_ptr<LinkBreaker> breaker_;  // of the current attempt or session
  // The previous party's attempt that the current session is made with.
  std::optional<std::array<std::uint8_t, 32>> nonce_in_use_;

  std::unique_ptr<Acceptor> acceptor_;
};

// 100 ms, doubled up to 2 s; back to the start by reset().
class Backoff {
 public:
  int next_ms() {
    int ms = ms_;
    ms_ = ms_ * 2 > 2'000 ? 2'000 : ms_ * 2;
    return ms;
  }
  void reset() { ms_ = 100; }

 private:
  int ms_ = 100;
};

}  // namespace tkdc
