// SPDX-License-Identifier: Apache-2.0
#include "lut/pair_dealer.h"

#include <algorithm>

#include "base/now_public.h"
#include "lut/opening_check.h"

namespace tkdc::lut {

Result<void> PairDealer::exchange(MutableByteSpan own) {
  if (auto good = stands(); !good) return good;
  peers_.resize(std::min(own.size(), kPiece));
  for (std::size_t done = 0; done < own.size();) {
    const auto piece = own.subspan(done, std::min(kPiece, own.size() - done));
    const auto peers = std::span(peers_).first(piece.size());
    now_public(piece.data(), piece.size());
    auto moved = session().channel().write(piece);
    if (moved) moved = session().channel().read(peers);
    if (!moved) return session().end(moved.error().message);
    now_public(peers.data(), peers.size());
    for (std::size_t k = 0; k < piece.size(); ++k) piece[k] ^= peers[k];
    done += piece.size();
  }
  return {};
}

Result<void> PairDealer::check(pair::Verdict verdict) {
  return session().equal(digest_of_openings(session().take_expected()), verdict);
}

}  // namespace tkdc::lut
