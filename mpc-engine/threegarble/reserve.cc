// SPDX-License-Identifier: Apache-2.0
#include "threegarble/reserve.h"

#include <algorithm>

namespace tkdc::threegarble {

Reserve::Reserve(std::uint32_t lane, std::vector<Kind> kinds, std::size_t most_bytes)
    : lane_(lane), most_bytes_(most_bytes) {
  for (Kind& kind : kinds) add(std::move(kind));
}

std::size_t Reserve::add(Kind kind) {
  shelves_.emplace_back().kind = std::move(kind);
  return shelves_.size() - 1;
}

Reserve::Bytes3 Reserve::bytes_of(const Shape& shape, std::uint64_t n) {
  const std::size_t labels = shape.out_bits * garble::kLabelBytes;
  Bytes3 out{labels, labels, labels};
  out[static_cast<std::size_t>(evaluator_of(n))] += shape.all_bytes;
  return out;
}

std::size_t Reserve::bytes() const { return std::ranges::max(bytes_); }

// Servers decide this alike: count kRules (service/garbled/lane_garbling.cc) up when it changes.
std::optional<Reserve::Next> Reserve::next() const {
  std::optional<Next> best;
  std::size_t best_ready = 0, best_wanted = 1;
  for (std::size_t k = 0; k < shelves_.size(); ++k) {
    const Shelf& shelf = shelves_[k];
    const std::size_t ready = shelf.ready.size(), wanted = shelf.kind.wanted;
    if (ready >= wanted) continue;
    // ready / wanted, without dividing; the first of equals.
    if (!fits(k) || (best && ready * best_wanted >= best_ready * wanted)) continue;
    best = Next{k, {lane_, shelf.kind.shape->digest, shelf.next_number}};
    best_ready = ready;
    best_wanted = wanted;
  }
  return best;
}

bool Reserve::fits(std::size_t kind) const {
  const Shelf& shelf = shelves_[kind];
  const Bytes3 more = bytes_of(*shelf.kind.shape, shelf.next_number);
  bool fits = true;
  for (std::size_t p = 0; p < 3; ++p) fits &= bytes_[p] + more[p] <= most_bytes_;
  return fits;
}

void Reserve::begin(const Next& next) {
  Shelf& shelf = shelves_[next.kind];
  assert(next.id.n == shelf.next_number);
  ++shelf.next_number;
  const Bytes3 more = bytes_of(*shelf.kind.shape, next.id.n);
  for (std::size_t p = 0; p < 3; ++p) bytes_[p] += more[p];
}

void Reserve::put(const Next& next, Instance instance) {
  assert(id_of(instance) == next.id);
  Shelf& shelf = shelves_[next.kind];
  shelf.ready.push_back(std::move(instance));
  ++shelf.made;
}

void Reserve::drop(const Next& next) {
  const Bytes3 less = bytes_of(*shelves_[next.kind].kind.shape, next.id.n);
  for (std::size_t p = 0; p < 3; ++p) bytes_[p] -= less[p];
}

std::optional<Instance> Reserve::take(std::size_t kind) {
  Shelf& shelf = shelves_[kind];
  if (shelf.ready.empty()) {
    ++shelf.missed;
    return std::nullopt;
  }
  Instance instance = std::move(shelf.ready.front());
  shelf.ready.pop_front();
  ++shelf.taken;
  drop({kind, id_of(instance)});
  return instance;
}

Reserve::Counts Reserve::counts(std::size_t kind) const {
  const Shelf& shelf = shelves_[kind];
  return {shelf.ready.size(), shelf.made, shelf.taken, shelf.missed};
}

void Reserve::put_progress(Writer& to) const {
  for (const Shelf& shelf : shelves_) {
    to.u64(shelf.next_number);
    to.u64(shelf.made);
    to.u64(shelf.taken);
    to.u64(shelf.missed);
  }
}

}  // namespace tkdc::threegarble
