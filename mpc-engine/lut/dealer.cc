// SPDX-License-Identifier: Apache-2.0
#include "lut/dealer.h"

#include <algorithm>
#include <cstring>

#include "base/now_public.h"
#include "lut/kernel.h"

namespace tkdc::lut {
namespace {

// Both write such a piece before they read: rings hold it.
constexpr std::size_t kPiece = std::size_t{128} << 10;

}  // namespace

Dealer::Dealer(pair::Session& session, std::size_t at_once)
    : session_(session), part_(2), multiples_(256), at_once_(at_once), expected_(kExpected),
      digest_(session.seed_of(kPurpose, session.next_number(), Side::kGarbler)) {
  part_[0] = part_of_delta(session.deltas());
  part_[1] = lut::octet_part(part_[0]);
  for (std::size_t octet = 0; octet < multiples_.size(); ++octet)
    multiples_[octet] = times(part_[1], static_cast<std::uint8_t>(octet));
}

template <class Out, class Convert>
Result<void> Dealer::draw_as(std::span<Out> out, const Convert& convert) {
  for (std::size_t done = 0; done < out.size();) {
    if (used_ == bits_.size()) {
      bits_.resize(at_once_);
      used_ = 0;
      if (auto drawn = session_.draw(bits_); !drawn) return drawn;
    }
    const std::size_t some = std::min(out.size() - done, bits_.size() - used_);
    std::transform(&bits_[used_], &bits_[used_] + some, &out[done], convert);
    used_ += some;
    done += some;
  }
  return {};
}

Result<void> Dealer::draw(std::span<AuthBit> out) {
  return draw_as(out, [](const AuthBit& bit) { return bit; });
}

Result<void> Dealer::draw(std::span<Label> out) {
  const Label delta = session_.delta();
  auto drawn = draw_as(out, [&](const AuthBit& bit) { return label_of(bit, delta); });
  garble::wipe_stack();
  return drawn;
}

Result<void> Dealer::exchange(MutableByteSpan own) {
  peers_.resize(std::min(own.size(), kPiece));
  for (std::size_t done = 0; done < own.size();) {
    const auto piece = own.subspan(done, std::min(kPiece, own.size() - done));
    const auto peers = std::span(peers_).first(piece.size());
    now_public(piece.data(), piece.size());
    auto moved = session_.channel().write(piece);
    if (moved) moved = session_.channel().read(peers);
    if (!moved) return session_.end(moved.error().message);
    now_public(peers.data(), peers.size());
    for (std::size_t k = 0; k < piece.size(); ++k) piece[k] ^= peers[k];
    done += piece.size();
  }
  return {};
}

Result<void> Dealer::may_serve(std::size_t lookups, std::size_t left, const Label& session) const {
  if (auto good = session_.stands(); !good) return good;
  if (!session_.is(session))
    return fail("lut: these tables are of another session: make them anew");
  if (lookups <= left) return {};
  return fail("lut: " + std::to_string(lookups) + " lookups and only " + std::to_string(left) +
              " tables left: make more of them first");
}

void Dealer::hash() {
  digest_.add(std::span(expected_).first(waiting_));
  waiting_ = 0;
}

Result<void> Dealer::check() {
  hash();
  const Label sum = digest_.take();
  pair::Digest digest{};
  std::memcpy(digest.data(), &sum, sizeof sum);
  return session_.equal(digest);
}

}  // namespace tkdc::lut
