// SPDX-License-Identifier: Apache-2.0
#include "pair/carried.h"

#include <string>

namespace tkdc::pair {

Result<Carried> Carried::draw(Session& session, std::size_t bits) {
  auto drawn = session.draw(bits);
  if (!drawn) return drawn.error();
  return Carried(Held{session.id(), std::move(*drawn)});
}

HeldOnce Carried::take() {
  return HeldOnce(std::exchange(taken_, true) ? Held{bits_.session, {}} : bits_);
}

Result<Held> Carried::moved_by(const Session& session, std::span<const std::uint8_t> d) && {
  if (d.size() != bits_.bits.size())
    return fail("pair: " + std::to_string(d.size()) + " bits cannot be carried under " +
                std::to_string(bits_.bits.size()));
  for (std::size_t k = 0; k < d.size(); ++k)
    bits_.bits[k] = session.deltas().plus(bits_.bits[k], d[k]);
  return std::move(bits_);
}

}  // namespace tkdc::pair
