// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_tables.h"

namespace tkdc {

PairTables::PairTables(pair::Session& session, std::size_t most_bytes)
    : session_(session),
      most_bytes_(most_bytes), queues_{{session, Way::kForward}, {session, Way::kInverse}} {
  if (most_bytes >= 2 * kStep * kBytesOfOne) dealer_.emplace(session);
}

PairTablesLeft PairTables::left() const {
  if (!work()) return {};
  return {static_cast<std::uint32_t>(left(Way::kForward)),
          static_cast<std::uint32_t>(left(Way::kInverse)), session_.drawn() - dealer_->ready()};
}

bool PairTables::has_room(Way way) const {
  constexpr std::size_t kMore = kStep * kBytesOfOne;
  return work() && of(way).octets() + kMore <= most_of_one(most_bytes_) &&
         bytes() + kMore <= most_bytes_;
}

Result<void> PairTables::step(Way way) {
  if (!has_room(way)) return fail("pair: there is no room for more lookup tables");
  return of(way).make(*dealer_, kStep);
}

}  // namespace tkdc
