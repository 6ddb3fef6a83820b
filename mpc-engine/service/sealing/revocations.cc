// SPDX-License-Identifier: Apache-2.0
#include "service/sealing/revocations.h"

#include <algorithm>

#include "service/sealing/nonce.h"

namespace tkdc {

SealWindow with_skew(SealWindow window) {
  window.from -= std::min(window.from, kClockSkewUnits);
  window.to = std::min(window.to + kClockSkewUnits, SealWindows::kEnd - 1);
  return window;
}

void put_revocations(Bytes& out, const RevocationState& state) {
  Writer w(out);
  w.u8(state.lift ? 1 : 0);
  put_windows(w, state.windows);
}

bool get_revocations(Reader& in, RevocationState& state) {
  const std::uint8_t lift = in.u8();
  state.lift = lift == 1;
  return lift <= 1 && get_windows(in, state.windows) && !in.failed();
}

Result<void> Revocations::load() {
  auto stored = store_.revoked();
  if (!stored.ok()) return stored.error();
  RevocationState state;
  Reader in(*stored);
  if (!stored->empty() && (!get_revocations(in, state) || !in.complete()))
    return fail(
        "store: the revoked windows are corrupt; restore the store from its backup, then revoke "
        "again what the other two servers' `tkdc status` shows");
  std::lock_guard lock(mutex_);
  state_ = state;
  ++version_;
  return {};
}

Result<void> Revocations::write(const RevocationState& state) {
  Bytes out;
  put_revocations(out, state);
  return store_.set_revoked(out);
}

// Under mutex_.
void Revocations::changed(RevocationState state) {
  if (state == state_) return;
  state_ = std::move(state);
  dirty_ = true;
  ++version_;
}

// What changes meanwhile stays to be written.
Result<void> Revocations::write_newest() {
  std::lock_guard one_at_a_time(disk_mutex_);
  const Word newest = snapshot();
  if (auto written = write(newest.state); !written.ok()) return written;
  std::lock_guard lock(mutex_);
  if (version_ == newest.version) dirty_ = false;
  return {};
}

Result<void> Revocations::revoke(SealWindow window, std::uint32_t now) {
  if (window.from > window.to) return fail("the window ends before it begins");
  if (window.to > now) return fail("the window's end lies in the future");
  {
    std::lock_guard lock(mutex_);
    RevocationState next = state_;
    next.windows.add(with_skew(window));
    next.lift = false;
    changed(std::move(next));
  }
  if (auto written = write_newest(); !written.ok())
    return fail("the window is revoked until this server stops, but not written: " +
                written.error().message);
  return {};
}

// On disk first: the windows may end with it.
Result<void> Revocations::lift() {
  std::lock_guard one_at_a_time(disk_mutex_);
  Word next = snapshot();
  next.state.lift = !next.state.windows.empty();
  if (auto written = write(next.state); !written.ok()) return written;
  std::lock_guard lock(mutex_);
  if (version_ != next.version) {
    dirty_ = true;
    return fail("the revoked windows changed while the lift was written; it is tried again");
  }
  changed(std::move(next.state));
  dirty_ = false;
  lift_if_all_agree();
  return {};
}

void Revocations::forget_peers() {
  std::lock_guard lock(mutex_);
  peers_ = {};
}

// Both at once, so that servers which hear one another in one tick come to hold the same.
void Revocations::heard(const std::array<std::optional<Word>, 2>& words, std::uint32_t now) {
  std::lock_guard lock(mutex_);
  std::array<SealWindows, 2> more;
  for (std::size_t which = 0; which < 2; ++which) {
    const auto& word = words[which];
    if (!word || word->version <= peers_[which].version) continue;
    peers_[which] = {word->version, word->state};
    // Its clock may be ahead of the first server's, and that one ahead of this one's.
    if (!word->state.lift) more[which] = word->state.windows.until(now + 2 * kClockSkewUnits);
  }
  RevocationState next = state_;
  next.windows = SealWindows::united({&state_.windows, &more[0], &more[1]});
  if (next.windows != state_.windows) next.lift = false;
  changed(std::move(next));
  lift_if_all_agree();
}

void Revocations::agreed(std::uint32_t sealed_at) {
  std::uint32_t last = agreed_at_;
  while (last < sealed_at && !agreed_at_.compare_exchange_weak(last, sealed_at)) {
  }
}

// What a peer holds and does not agree to end was taken over when it was heard, and with it
// this server's own agreement ended.
void Revocations::lift_if_all_agree() {
  const auto agrees = [](const std::optional<RevocationState>& peer) {
    return peer && (peer->lift || peer->windows.empty());
  };
  if (!state_.lift || !agrees(peers_[0].said) || !agrees(peers_[1].said)) return;
  changed({});
}

void Revocations::keep() {
  const std::uint32_t now = agreed_at_;
  {
    std::lock_guard lock(mutex_);
    RevocationState next = state_;
    next.windows.forget_before(now > kMaxTicketAgeUnits ? now - kMaxTicketAgeUnits : 0);
    next.lift = next.lift && !next.windows.empty();
    changed(std::move(next));
    if (!dirty_) return;
  }
  (void)write_newest();
}

Revocations::Word Revocations::snapshot() const {
  std::lock_guard lock(mutex_);
  return {version_, state_};
}

std::optional<bool> Revocations::agrees(std::size_t which) const {
  std::lock_guard lock(mutex_);
  const auto& peer = peers_.at(which).said;
  if (!peer) return std::nullopt;
  return peer->lift || peer->windows.empty();
}

bool Revocations::unwritten() const {
  std::lock_guard lock(mutex_);
  return dirty_;
}

}  // namespace tkdc
