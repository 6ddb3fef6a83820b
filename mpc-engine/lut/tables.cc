// SPDX-License-Identifier: Apache-2.0
#include "lut/tables.h"

#include <algorithm>

#include "field/gf256.h"
#include "field/octet_words.h"
#include "lut/huge_pages.h"
#include "lut/sizes.h"

namespace tkdc::lut {
namespace {

// Of a batch whose products are checked and permuted together: their bound falls with its size, and
// its memory grows.
constexpr std::size_t kMaskedAtOnce = 10'240;

Label share_and_mac(const Label& bit) { return octet_part(bit); }

constexpr Table make_sbox() {
  Table out{};
  for (unsigned x = 0; x < out.size(); ++x)
    out[x] = affine_of_sbox(gf256_inverse(static_cast<std::uint8_t>(x))) ^ 0x63;
  return out;
}

}  // namespace

const Table& aes_sbox() {
  static constexpr Table kSbox = make_sbox();
  return kSbox;
}

Label octet_of(const Label* bits, std::size_t width) {
  Label out;
  for (std::size_t k = width; k-- > 0;)
    out = Label{octet_words::times_x(out.low), octet_words::times_x(out.high)} ^
          share_and_mac(bits[k]);
  return out;
}

Result<Tables> Tables::make(Dealer& dealer, const Table& table, std::size_t count) {
  Tables out(table);
  out.stock_ = Stock(dealer.session(), count, "tables");
  out.masks_.resize(count);
  resize_in_huge_pages(out.vectors_, count * kPlaces);
  for (std::size_t first = 0; first < count; first += kMaskedAtOnce) {
    const std::size_t some = std::min(kMaskedAtOnce, count - first);
    Labels bits(8 * some);
    if (auto drawn = dealer.draw(std::span(bits)); !drawn) return drawn.error();
    auto vectors = demux(dealer, bits, 8);
    if (!vectors) return vectors.error();
    for (std::size_t k = 0; k < some; ++k) out.masks_[first + k] = octet_of(&bits[8 * k]);
    std::transform(vectors->begin(), vectors->end(), &out.vectors_[first * kPlaces], share_and_mac);
  }
  if (auto good = dealer.check(); !good) return good.error();
  return out;
}

void Tables::expand() {
  if (expanded_) return;
  for (std::size_t k = stock_.next(); k < stock_.size(); ++k)
    fastest_kernel().expand(&vectors_[k * kPlaces], *table_, &vectors_[k * kPlaces]);
  expanded_ = true;
  garble::wipe_stack();
}

Result<void> Tables::look_up(Dealer& dealer, std::span<Label> octets) {
  auto taken = stock_.take(dealer.session(), octets.size());
  if (!taken) return taken.error();
  const std::size_t first = *taken;
  SecretVector opened(octets.size());
  for (std::size_t k = 0; k < octets.size(); ++k) {
    octets[k] = octets[k] ^ masks_[first + k];
    opened[k] = static_cast<std::uint8_t>(octets[k].low);
  }
  wipe(std::span(masks_).subspan(first, octets.size()));
  if (auto done = dealer.exchange(opened); !done) return done;
  const auto entry = [&](std::size_t k) { return &vectors_[(first + k) * kPlaces + opened[k]]; };
  for (std::size_t k = 0; k < octets.size(); ++k) {
    if (expanded_ && k + kEntriesAhead < octets.size())
      __builtin_prefetch(entry(k + kEntriesAhead));
    dealer.expect(octets[k] ^ dealer.multiple(opened[k]));
    octets[k] =
        expanded_ ? *entry(k)
                  : fastest_kernel().look_up(&vectors_[(first + k) * kPlaces], *table_, opened[k]);
  }
  return {};
}

}  // namespace tkdc::lut
