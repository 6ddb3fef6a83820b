// SPDX-License-Identifier: Apache-2.0
#include "lut/table_queue.h"

#include <algorithm>
#include <string>

namespace tkdc::lut {

Result<void> TableQueue::is_of(const pair::Session& session) const {
  if (auto good = session.stands(); !good) return good;
  if (session.is(session_)) return {};
  return fail("lut: these tables are of another session: make them anew");
}

Result<void> TableQueue::make(Dealer& dealer, std::size_t count) {
  if (auto good = is_of(dealer.session()); !good) return good;
  auto made = way_ == SboxWay::kForward ? NormTables::make(dealer, count)
                                        : NormTables::make_inverse(dealer, count);
  if (!made) return made.error();
  batches_.push_back(std::move(*made));
  return {};
}

std::size_t TableQueue::left() const {
  std::size_t sum = 0;
  for (const NormTables& batch : batches_) sum += batch.left();
  return sum;
}

std::size_t TableQueue::octets() const {
  std::size_t sum = 0;
  for (const NormTables& batch : batches_) sum += batch.octets();
  return sum;
}

Result<void> TableQueue::fits(const pair::Session& session, std::size_t count) const {
  if (auto good = is_of(session); !good) return good;
  if (count <= left()) return {};
  return fail("lut: " + std::to_string(count) + " wanted and only " + std::to_string(left()) +
              " tables left: make more of them first");
}

Result<void> TableQueue::look_up(Dealer& dealer, std::span<Label> octets) {
  if (auto good = fits(dealer.session(), octets.size()); !good) return good;
  while (!octets.empty()) {
    NormTables& oldest = batches_.front();
    const std::size_t some = std::min(octets.size(), oldest.left());
    if (auto done = oldest.look_up(dealer, octets.first(some)); !done) return done;
    octets = octets.subspan(some);
    if (oldest.left() == 0) batches_.pop_front();
  }
  return {};
}

}  // namespace tkdc::lut
