// SPDX-License-Identifier: Apache-2.0
#include "lut/dealer.h"

#include <algorithm>

#include "base/now_public.h"
#include "lut/kernel.h"
#include "lut/opening_check.h"

namespace tkdc::lut {
namespace {

// Both write such a piece before they read: rings hold it.
constexpr std::size_t kPiece = std::size_t{128} << 10;

}  // namespace

Dealer::Dealer(pair::Session& session, std::size_t at_once)
    : session_(session), part_(2), multiples_(256), at_once_(at_once),
      expected_(session.expected()) {
  part_[0] = part_of_delta(session.deltas());
  part_[1] = lut::octet_part(part_[0]);
  for (std::size_t octet = 0; octet < multiples_.size(); ++octet)
    multiples_[octet] = times(part_[1], static_cast<std::uint8_t>(octet));
}

template <class Out, class Convert>
Result<void> Dealer::draw_as(std::span<Out> out, const Convert& convert) {
  if (auto good = session_.stands(); !good) return good;
  for (std::size_t done = 0; done < out.size();) {
    if (used_ == bits_.size()) {
      bits_.resize(at_once_);
      used_ = bits_.size();  // until they are there
      if (auto drawn = session_.draw(bits_); !drawn) return drawn;
      used_ = 0;
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
  if (auto good = session_.stands(); !good) return good;
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

Result<void> Dealer::open(std::span<const Label> octets, MutableByteSpan values) {
  for (std::size_t k = 0; k < octets.size(); ++k)
    values[k] = static_cast<std::uint8_t>(octets[k].low);
  if (auto done = exchange(values); !done) return done;
  for (std::size_t k = 0; k < octets.size(); ++k) expect(octets[k] ^ multiple(values[k]));
  return {};
}

Result<void> Dealer::check(pair::Verdict verdict) {
  return session_.equal(digest_of_openings(expected_.take()), verdict);
}

}  // namespace tkdc::lut
