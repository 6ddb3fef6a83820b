// SPDX-License-Identifier: Apache-2.0
#include "lut/des_tables.h"

#include <algorithm>

#include "lut/huge_pages.h"
#include "lut/kernel.h"
#include "lut/sizes.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

constexpr std::size_t kSix = 64;  // places of a table

// Sums of labels by fours: of each four all sixteen, then one of each for every bit of an entry.
constexpr std::size_t kFour = 4, kSums = 16, kGroups = kSix / kFour;

// Which of a group's sums goes into which bit of an entry.
using Choice = std::uint8_t[kSix][kDesOut][kGroups];

struct Choices {
  Choice of[kDesBoxes] = {};

  Choices() {
    for (std::size_t box = 0; box < kDesBoxes; ++box)
      for (std::size_t place = 0; place < kSix; ++place)
        for (std::size_t bit = 0; bit < kDesOut; ++bit)
          for (std::size_t j = 0; j < kSix; ++j)
            of[box][place][bit][j / kFour] |=
                static_cast<std::uint8_t>((des_boxes()[box][place ^ j] >> bit & 1u) << j % kFour);
  }
};

const Choice& choice_of(std::size_t box) {
  static const Choices kAll;
  return kAll.of[box];
}

// The table's entries from its one-hot vector.
void expand_one(const Label* vector, std::size_t box, Label* out) {
  alignas(64) Label sums[kGroups][kSums];
  for (std::size_t group = 0; group < kGroups; ++group)
    for (std::size_t sum = 1; sum < kSums; ++sum)
      sums[group][sum] = sums[group][sum & (sum - 1)] ^
                         vector[group * kFour + static_cast<std::size_t>(__builtin_ctzll(sum))];
  const Choice& choice = choice_of(box);
  for (std::size_t place = 0; place < kSix; ++place)
    for (std::size_t bit = 0; bit < kDesOut; ++bit) {
      Label entry;
      for (std::size_t group = 0; group < kGroups; ++group)
        entry = entry ^ sums[group][choice[place][bit][group]];
      out[place * kDesOut + bit] = entry;
    }
}

// Four bits of one entry.
void look_up(const Label* vector, const DesBox& box, std::uint8_t place, Label* out) {
  std::uint8_t factors[kSix];  // 0 or 1 each
  for (std::size_t bit = 0; bit < kDesOut; ++bit) {
    for (unsigned j = 0; j < kSix; ++j) factors[j] = box[place ^ j] >> bit & 1;
    out[bit] = fastest_kernel().dot(vector, factors, kSix);
  }
}

Result<void> by_eights(std::size_t count) {
  if (count % kDesBoxes == 0) return {};
  return fail("lut: " + std::to_string(count) + " S-boxes of DES: they come by eights");
}

}  // namespace

Result<DesTables> DesTables::make(Dealer& dealer, std::size_t count) {
  if (auto good = by_eights(count); !good) return good.error();
  DesTables out;
  out.stock_ = Stock(dealer.session(), count, "tables");
  out.masks_.resize(count);
  resize_in_huge_pages(out.labels_, count * kPlaces);
  for (std::size_t first = 0; first < count; first += kProductsAtOnce) {
    const std::size_t some = std::min(kProductsAtOnce, count - first);
    Labels bits(some * kDesIn);
    if (auto drawn = dealer.draw(std::span(bits)); !drawn) return drawn.error();
    auto vectors = demux(dealer, bits, kDesIn);
    if (!vectors) return vectors.error();
    std::transform(vectors->begin(), vectors->end(), &out.labels_[first * kPlaces], octet_part);
    for (std::size_t k = 0; k < some; ++k)
      out.masks_[first + k] = octet_of(&bits[k * kDesIn], kDesIn);
  }
  if (auto good = dealer.check(); !good) return good.error();
  garble::wipe_stack();
  return out;
}

void DesTables::expand() {
  if (expanded_) return;
  Labels entries;
  resize_in_huge_pages(entries, stock_.size() * kPlaces * kDesOut);
  for (std::size_t k = stock_.next(); k < stock_.size(); ++k)
    expand_one(&labels_[k * kPlaces], k % kDesBoxes, &entries[k * kPlaces * kDesOut]);
  labels_ = std::move(entries);
  expanded_ = true;
  garble::wipe_stack();
}

Result<void> DesTables::substitute(Dealer& dealer, std::span<const Label> in,
                                   std::span<Label> out) {
  const std::size_t count = in.size() / kDesIn;
  if (auto good = by_eights(count); !good) return good;
  auto taken = stock_.take(dealer.session(), count);
  if (!taken) return taken.error();
  const auto masks = std::span(masks_).subspan(*taken, count);
  const auto serving = std::span(labels_).subspan(*taken * kept(), count * kept());
  for (std::size_t k = 0; k < count; ++k) masks[k] = masks[k] ^ octet_of(&in[k * kDesIn], kDesIn);
  SecretVector opened(count);
  auto done = dealer.open(masks, opened);
  wipe(masks);
  if (!done) return done;
  const auto place = [&](std::size_t k) { return opened[k] % kPlaces; };
  const auto entry = [&](std::size_t k) { return &serving[k * kept() + place(k) * kDesOut]; };
  for (std::size_t k = 0; k < count; ++k) {
    if (expanded_ && k + kEntriesAhead < count) __builtin_prefetch(entry(k + kEntriesAhead));
    if (expanded_)
      std::copy_n(entry(k), kDesOut, &out[k * kDesOut]);
    else
      look_up(&serving[k * kPlaces], des_boxes()[k % kDesBoxes],
              static_cast<std::uint8_t>(place(k)), &out[k * kDesOut]);
  }
  garble::wipe_stack();
  return {};
}

}  // namespace tkdc::lut
