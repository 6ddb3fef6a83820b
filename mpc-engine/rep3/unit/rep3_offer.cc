// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/rep3_offer.h"

#include "rep3/unit/rep3_protocol.h"
#include "rep3/wire_format.h"
#include "session/advice.h"

namespace tkdc {
namespace {

struct HeldRep3 {
  Rep3 held;
};

// The protocol with what it stands on.
class Rep3InLane final : private HeldRep3, public Rep3Protocol {
 public:
  Rep3InLane(Lane& lane, const LaneSeat& seat, const Rep3Backend& backend,
             std::size_t masked_blocks)
      : HeldRep3{{lane, seat.session.representation, seat.keys}},
        Rep3Protocol(held, backend, masked_blocks) {}
};

}  // namespace

Result<void> Rep3Offer::check() const {
  for (Representation r : {Representation::kBytes, Representation::kPlanes})
    if (auto there = backend(r); !there) return there.error();
  return {};
}

Result<const Rep3Backend*> Rep3Offer::backend(Representation representation) const {
  auto chosen = choose_rep3_backend(backend_, representation);
  if (!chosen) return fail(chosen.error().message + followed_by(advice_));
  return chosen;
}

std::string_view Rep3Offer::name() const { return Rep3Protocol::kName; }

std::uint64_t Rep3Offer::wire_format() const { return rep3_wire_format(); }

Result<std::unique_ptr<Protocol>> Rep3Offer::join(Lane& lane, const LaneSeat& seat) const {
  auto chosen = backend(seat.session.representation);
  if (!chosen) return chosen.error();
  return std::unique_ptr<Protocol>(
      std::make_unique<Rep3InLane>(lane, seat, **chosen, masked_blocks_));
}

}  // namespace tkdc
