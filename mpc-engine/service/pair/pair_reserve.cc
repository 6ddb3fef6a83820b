// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_reserve.h"

#include <algorithm>

namespace tkdc {

std::size_t PairReserve::ready(const std::string& kind) const {
  const auto found = ready_.find(kind);
  return found == ready_.end() ? 0 : found->second.prepared.size();
}

std::size_t PairReserve::ready() const {
  std::size_t sum = 0;
  for (const auto& [name, one] : ready_) sum += one.prepared.size();
  return sum;
}

std::vector<std::string> PairReserve::kinds() const {
  std::vector<std::string> out;
  for (const auto& [name, one] : ready_) out.push_back(name);
  return out;
}

bool PairReserve::has_room(const std::string& kind, std::uint64_t ands) const {
  return ready(kind) < kMostOfKind && bytes_ + pair_prepared_bytes(ands) <= most_bytes_;
}

// In batches that are longer than what is wanted, where that is little: a batch's buckets cost less
// the more there are of them.
Result<void> PairReserve::stock_up(std::uint64_t ands) {
  if (session_.steps() != nullptr) return {};  // which take none
  while (stock_.size() < ands) {
    const std::size_t more = std::clamp<std::size_t>(ands - stock_.size(), kStepAnds, kMostMade);
    auto made = pair::make_ands(session_, more);
    if (!made) return made.error();
    stock_.insert(stock_.end(), made->begin(), made->end());
  }
  return {};
}

Result<pair::Prepared> PairReserve::make(const PairKind& kind) {
  const bool garbles = session_.steps() == nullptr;
  const std::size_t ands = garbles ? kind.circuit.ands : 0;
  auto masks = session_.draw(garbles ? pair::masks_of(kind.circuit)
                                     : pair::kBlockBits + kind.circuit.input_bits());
  if (!masks) return masks.error();
  auto made = pair::prepare(session_, kind.circuit, std::span(stock_).last(ands), *masks);
  stock_.resize(stock_.size() - ands);
  return made;
}

Result<pair::Prepared> PairReserve::take(const PairKindPtr& kind) {
  asked_.push_back(kind->name);
  const auto found = ready_.find(kind->name);
  const bool leaves = left_.contains(kind->name);
  if (!leaves && found != ready_.end() && !found->second.prepared.empty()) {
    pair::Prepared out = std::move(found->second.prepared.front());
    found->second.prepared.pop_front();
    bytes_ -= kind->prepared_bytes();
    if (found->second.prepared.empty()) ready_.erase(found);
    ++taken_;
    return out;
  }
  ++missed_;
  // Of ANDs, too, others find as many as before; a bounded number.
  const std::size_t kept = leaves ? std::min(stock_.size(), kMostMade) : 0;
  if (auto stocked = stock_up(kept + kind->circuit.ands); !stocked) return stocked.error();
  return make(*kind);
}

Result<void> PairReserve::step(const PairKindPtr& kind) {
  if (!has_room(kind->name, kind->circuit.ands))
    return fail("pair: there is no room for more circuits that are prepared");
  if (session_.steps() == nullptr && stock_.size() < kind->circuit.ands)
    return stock_up(std::min<std::uint64_t>(kind->circuit.ands, stock_.size() + kStepAnds));
  auto made = make(*kind);
  if (!made) return made.error();
  Ready& ready = ready_[kind->name];
  ready.kind = kind;
  ready.prepared.push_back(std::move(*made));
  bytes_ += kind->prepared_bytes();
  return {};
}

void PairReserve::forget(const std::string& kind) {
  const auto found = ready_.find(kind);
  if (found == ready_.end()) return;
  bytes_ -= found->second.kind->prepared_bytes() * found->second.prepared.size();
  ready_.erase(found);
}

}  // namespace tkdc
