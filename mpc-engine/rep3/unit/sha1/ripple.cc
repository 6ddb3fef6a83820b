// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/sha1/ripple.h"
#include "protocol/replicated.h"

namespace tkdc::sha1 {

Ripple::Ripple(int party, ClaimLog* claims, std::vector<RippleBlock> blocks)
    : party_(party), claims_(claims), blocks_(std::move(blocks)),
      products_(blocks_.size(), RippleSchedule::kMostProducts),
      planes_(kPlaneCount, blocks_.size()), schedule_(*this) {
  load();
}

Ripple::~Ripple() = default;

bool Ripple::next() {
  products_.clear();
  if (schedule_.next()) return true;
  store();
  return false;
}

void Ripple::sum(PlaneNumber to, std::initializer_list<PlaneNumber> of) {
  const PlaneNumber* from = of.begin();
  if (of.size() == 1) return planes_.copy(to, from[0]);
  if (of.size() == 3) return planes_.add(to, from[0], from[1], from[2]);
  planes_.add(to, from[0], from[1], from[2], from[3]);
}

void Ripple::product(PlaneNumber a, PlaneNumber b, PlaneNumber c, PlaneNumber d, PlaneNumber to) {
  products_.add(planes_.plane(a), planes_.plane(b), planes_.plane(c), planes_.plane(d),
                planes_.plane(to));
}

// ---- between octets and planes

// Of 32 columns at a time, rotated to the left.
void Ripple::load_word(From from, std::size_t word, std::size_t first_plane, int rotated) {
  for (std::size_t first = 0; first < blocks_.size(); first += 32)
    for (int c = 0; c < 2; ++c) {
      std::uint32_t bits[32] = {};
      const std::size_t count = std::min<std::size_t>(32, blocks_.size() - first);
      for (std::size_t n = 0; n < count; ++n) {
        const RippleBlock& block = blocks_[first + n];
        const SharedBytes& octets = from == From::kData ? *block.data : *block.state;
        bits[n] = std::rotl(load_be(octets.component[c].data() + 4 * word), rotated);
      }
      transpose(bits);
      for (std::size_t k = 0; k < 32; ++k)
        planes_.word(first_plane + k, c, first) |= std::uint64_t{bits[k]} << first % kPlaneBits;
      sodium_memzero(bits, sizeof bits);
    }
}

// As PlaneMachine wants it.
void Ripple::load() {
  auto word = [](PlaneNumber first, std::size_t k) { return first + k * kWordPlanes; };
  for (std::size_t k = 0; k < kScheduleWords; ++k)
    load_word(From::kData, k, word(kPlanesOfW, k), 0);
  for (std::size_t k = 0; k < kStateWords; ++k) {
    load_word(From::kState, k, word(kPlanesOfA, kWordsOfA - 1 - k), k < 2 ? 0 : 2);
    load_word(From::kState, k, word(kPlanesOfState, k), 0);
  }
  if (constant_component(party_) < 0) return;
  for (std::size_t n = 0; n < blocks_.size(); ++n)
    planes_.word(kPlaneOfOnes, constant_component(party_), n) |= std::uint64_t{1} << n % kPlaneBits;
}

void Ripple::store() {
  for (std::size_t word = 0; word < kStateWords; ++word)
    for (std::size_t first = 0; first < blocks_.size(); first += 32)
      for (int c = 0; c < 2; ++c) {
        std::uint32_t bits[32];
        for (std::size_t k = 0; k < 32; ++k)
          bits[k] = static_cast<std::uint32_t>(
              planes_.word(kPlanesOfState + word * kWordPlanes + k, c, first) >>
              first % kPlaneBits);
        transpose(bits);
        const std::size_t count = std::min<std::size_t>(32, blocks_.size() - first);
        for (std::size_t n = 0; n < count; ++n)
          store_be(blocks_[first + n].state->component[c].data() + 4 * word, bits[n]);
        sodium_memzero(bits, sizeof bits);
      }
}

}  // namespace tkdc::sha1
