// SPDX-License-Identifier: Apache-2.0
#include "lut/dealer.h"

#include <algorithm>

#include "base/now_public.h"
#include "lut/kernel.h"

namespace tkdc::lut {
namespace {

// All write such a piece before they read: rings hold it.
constexpr std::size_t kPiece = std::size_t{128} << 10;

}  // namespace

Dealer::Dealer(std::vector<pair::Session*> sessions, const Label& part, std::size_t at_once,
               std::size_t spare, pair::Expected& account)
    : sessions_(std::move(sessions)), part_(2), multiples_(256), at_once_(at_once),
      stride_(at_once + spare), used_(at_once), account_(account) {
  part_[0] = part;
  part_[1] = lut::octet_part(part);
  for (std::size_t octet = 0; octet < multiples_.size(); ++octet)
    multiples_[octet] = times(part_[1], static_cast<std::uint8_t>(octet));
}

Result<void> Dealer::stands() const {
  for (const pair::Session* one : sessions_)
    if (auto good = one->stands(); !good) return good;
  return {};
}

template <class Take>
Result<void> Dealer::draw_in_pieces(std::size_t count, const Take& take) {
  if (auto good = stands(); !good) return good;
  for (std::size_t done = 0; done < count;) {
    if (used_ == at_once_) {
      bits_.resize(sessions_.size() * stride_);
      if (auto drawn = fill(bits_); !drawn) return drawn;
      used_ = 0;
    }
    const std::size_t some = std::min(count - done, at_once_ - used_);
    take(used_, some, done);
    used_ += some;
    done += some;
  }
  return {};
}

Result<void> Dealer::draw(std::span<Label> out) {
  const Label delta = this->delta();
  auto drawn = draw_in_pieces(out.size(), [&](std::size_t at, std::size_t some, std::size_t done) {
    for (std::size_t k = 0; k < some; ++k)
      out[done + k] = label_of(&bits_[at + k], sessions_.size(), stride_, delta);
  });
  garble::wipe_stack();
  return drawn;
}

Result<void> Dealer::draw(std::span<AuthBit> out) {
  const std::size_t count = out.size() / sessions_.size();
  return draw_in_pieces(count, [&](std::size_t at, std::size_t some, std::size_t done) {
    for (std::size_t p = 0; p < sessions_.size(); ++p)
      std::copy_n(&bits_[p * stride_ + at], some, &out[p * count + done]);
  });
}

Result<void> Dealer::exchange(MutableByteSpan own) {
  if (auto good = stands(); !good) return good;
  theirs_.resize(std::min(own.size(), kPiece));
  for (std::size_t done = 0; done < own.size();) {
    const auto piece = own.subspan(done, std::min(kPiece, own.size() - done));
    const auto theirs = std::span(theirs_).first(piece.size());
    now_public(piece.data(), piece.size());
    for (std::size_t p = 0; p < sessions_.size(); ++p)
      if (auto sent = sessions_[p]->channel().write(piece); !sent)
        return end(p, sent.error().message);
    for (std::size_t p = 0; p < sessions_.size(); ++p) {
      if (auto got = sessions_[p]->channel().read(theirs); !got) return end(p, got.error().message);
      now_public(theirs.data(), theirs.size());
      for (std::size_t k = 0; k < piece.size(); ++k) piece[k] ^= theirs[k];
    }
    opened(piece);
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

}  // namespace tkdc::lut
