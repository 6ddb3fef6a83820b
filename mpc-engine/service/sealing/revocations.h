// SPDX-License-Identifier: Apache-2.0
// Which windows of sealing this server holds revoked, and what the other two said of
// theirs: docs/adr/0010-revoked-windows.md. One administrator revokes for all three;
// nobody alone lifts anything at another server.
//
//   revoke  this server's administrator adds a window; in force at once, and on disk unless
//           an error says otherwise: then keep() writes it as soon as it can
//   heard   what a peer holds is taken over, but for the future, which nobody may take
//   lift    this server's administrator agrees that all windows end; they do when
//           neither peer holds any without having agreed, too. A new window is no
//           longer agreed to.
//   expire  a window ends by itself when no ticket of it could still be opened, by the time
//           that the three servers last agreed on: this server's clock alone ends none
//
// Thread-safe: lanes ask and hear, the main thread does the rest and writes. The disk is
// waited for without the lock that lanes need.
// Nothing here is secret.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <optional>

#include "service/sealing/seal_windows.h"
#include "service/store/store.h"

namespace tkdc {

// What one server says of itself.
struct RevocationState {
  SealWindows windows;
  bool lift = false;  // its administrator agrees that all of them end
  bool operator==(const RevocationState&) const = default;
};

// A ticket's time of sealing is the first server's, and each other's clock may differ from it by
// kClockSkewUnits: what was sealed in `window` by this server's clock lies in the wider one.
SealWindow with_skew(SealWindow window);

void put_revocations(Bytes& out, const RevocationState& state);
[[nodiscard]] bool get_revocations(Reader& in, RevocationState& state);

class Revocations {
 public:
  explicit Revocations(Store& store) : store_(store) {}
  // Before anything else. Error: what is on disk cannot be read.
  Result<void> load();

  // Times by this server's clock; with_skew(window) is revoked. Error: not a window, or one of the
  // future; or it is in force, but not on disk yet.
  Result<void> revoke(SealWindow window, std::uint32_t now);
  // Error: this server does not agree yet, as before.
  Result<void> lift();

  // A session begins: what peers said in the last one no longer counts.
  void forget_peers();
  struct Word {
    std::uint64_t version = 0;
    RevocationState state;
  };
  // From a lane: what peers 0 (the previous one) and 1 hold, if they said so in this tick. Lanes
  // bring it in any order; a peer's version grows, and one that is not newer is ignored.
  void heard(const std::array<std::optional<Word>, 2>& words, std::uint32_t now);
  // From a lane: all three servers' clocks took this for the time.
  void agreed(std::uint32_t sealed_at);
  // Drops what is over, and writes what was heard; errors show in unwritten().
  void keep();

  RevocationState state() const { return snapshot().state; }
  Word snapshot() const;
  // Changes with the state; cheap.
  std::uint64_t version() const { return version_; }
  // Whether a peer has agreed to lift or holds nothing; none
  // while it has said nothing in this session.
  std::optional<bool> agrees(std::size_t which) const;
  bool unwritten() const;

 private:
  Result<void> write(const RevocationState& state);
  Result<void> write_newest();
  void changed(RevocationState state);
  void lift_if_all_agree();

  Store& store_;
  std::atomic<std::uint64_t> version_{0};    // changes under mutex_
  std::atomic<std::uint32_t> agreed_at_{0};  // none yet
  std::mutex disk_mutex_;                    // taken before mutex_; one write at a time
  mutable std::mutex mutex_;
  RevocationState state_;
  struct Peer {
    std::uint64_t version = 0;
    std::optional<RevocationState> said;
  };
  std::array<Peer, 2> peers_;
  bool dirty_ = false;
};

}  // namespace tkdc
