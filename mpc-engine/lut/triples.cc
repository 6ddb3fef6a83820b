// SPDX-License-Identifier: Apache-2.0
#include "lut/triples.h"

#include <algorithm>
#include <string>

#include "field/gf256.h"
#include "lut/kernel.h"
#include "lut/sizes.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

constexpr std::size_t kTriple = 3;

constexpr std::uint8_t power_of_x(std::size_t exponent) {
  std::uint8_t out = 1;
  for (; exponent > 0; --exponent) out = gf256_times_x(out);
  return out;
}

// c of Σ_{i, j} a_i b_j x^(i+j).
Label product_of_bits(const Label* products, std::size_t width) {
  Label out;
  for (std::size_t i = 0; i < width; ++i)
    for (std::size_t j = 0; j < width; ++j)
      out = out ^ times(octet_part(products[i * width + j]), power_of_x(i + j));
  return out;
}

Result<void> make_some(Dealer& dealer, std::size_t width, std::span<Label> out) {
  const std::size_t count = out.size() / kTriple;
  Labels a(count * width), b(count * width);
  for (Labels* bits : {&a, &b})
    if (auto drawn = dealer.draw(std::span(*bits)); !drawn) return drawn;
  auto products = multiply(dealer, {width, width}, a, b);
  if (!products) return products.error();
  for (std::size_t k = 0; k < count; ++k) {
    out[kTriple * k] = octet_of(&a[k * width], width);
    out[kTriple * k + 1] = octet_of(&b[k * width], width);
    out[kTriple * k + 2] = product_of_bits(&(*products)[k * width * width], width);
  }
  return {};
}

// Opens bits, eight to an octet.
Result<void> open_bits(Dealer& dealer, std::span<const Label> bits, MutableByteSpan values) {
  Labels packed((bits.size() + kOctetBits - 1) / kOctetBits);
  for (std::size_t k = 0; k < packed.size(); ++k)
    packed[k] = octet_of(&bits[k * kOctetBits], std::min(kOctetBits, bits.size() - k * kOctetBits));
  SecretVector octets(packed.size());
  auto done = dealer.open(packed, octets);
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = octets[k / kOctetBits] >> k % kOctetBits & 1;
  return done;
}

}  // namespace

Result<Triples> Triples::make(Dealer& dealer, Width width, std::size_t count) {
  Triples out(width);
  out.stock_ = Stock(dealer.session(), count, "triples");
  out.labels_.resize(kTriple * count);
  for (std::size_t first = 0; first < count; first += kProductsAtOnce) {
    const auto some =
        std::span(out.labels_)
            .subspan(kTriple * first, kTriple * std::min(kProductsAtOnce, count - first));
    if (auto made = make_some(dealer, static_cast<std::size_t>(width), some); !made)
      return made.error();
  }
  if (auto good = dealer.check(); !good) return good.error();
  garble::wipe_stack();
  return out;
}

Result<Labels> Triples::multiply(Dealer& dealer, std::span<const Label> x,
                                 std::span<const Label> y) {
  if (x.size() != y.size())
    return fail("lut: " + std::to_string(x.size()) + " factors and " + std::to_string(y.size()));
  auto taken = stock_.take(dealer.session(), x.size());
  if (!taken) return taken.error();
  const auto serving = std::span(labels_).subspan(kTriple * *taken, kTriple * x.size());
  Labels masked(2 * x.size()), out(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    masked[2 * k] = x[k] ^ serving[kTriple * k];
    masked[2 * k + 1] = y[k] ^ serving[kTriple * k + 1];
  }
  SecretVector opened(masked.size());
  Result<void> done;
  if (width_ == Width::kOctet)
    done = dealer.open(masked, opened);
  else
    done = open_bits(dealer, masked, opened);
  for (std::size_t k = 0; done && k < x.size(); ++k) {
    const Label* triple = &serving[kTriple * k];
    const std::uint8_t d = opened[2 * k], e = opened[2 * k + 1];
    out[k] = triple[2] ^ times(triple[1], d) ^ times(triple[0], e) ^
             dealer.multiple(gf256_multiply(d, e));
  }
  wipe(serving);
  garble::wipe_stack();
  if (!done) return done.error();
  return out;
}

Result<BitMasks> BitMasks::make(Dealer& dealer, std::size_t count) {
  BitMasks out;
  out.labels_.resize(kOctetBits * count);
  if (auto drawn = dealer.draw(std::span(out.labels_)); !drawn) return drawn.error();
  for (Label& one : out.labels_) one = octet_part(one);
  out.stock_ = Stock(dealer.session(), count, "masks of bits");
  return out;
}

// Their labels, which are left behind as zeros.
Result<Labels> BitMasks::take(Dealer& dealer, std::size_t count) {
  auto taken = stock_.take(dealer.session(), count);
  if (!taken) return taken.error();
  const auto serving = std::span(labels_).subspan(kOctetBits * *taken, kOctetBits * count);
  Labels out(serving.begin(), serving.end());
  wipe(serving);
  return out;
}

Result<Labels> BitMasks::decompose(Dealer& dealer, std::span<const Label> octets) {
  auto bits = take(dealer, octets.size());
  if (!bits) return bits;
  Labels masked(octets.begin(), octets.end());
  for (std::size_t k = 0; k < octets.size(); ++k)
    masked[k] = masked[k] ^ octet_of(&(*bits)[kOctetBits * k], kOctetBits);
  SecretVector opened(octets.size());
  if (auto done = dealer.open(masked, opened); !done) return done.error();
  for (std::size_t k = 0; k < bits->size(); ++k)
    (*bits)[k] = (*bits)[k] ^ dealer.multiple(opened[k / kOctetBits] >> k % kOctetBits & 1);
  garble::wipe_stack();
  return bits;
}

Result<Labels> BitMasks::input(Dealer& dealer, ByteSpan own) {
  auto bits = take(dealer, own.size());
  if (!bits) return bits;
  SecretVector sent(own.begin(), own.end());
  for (std::size_t k = 0; k < bits->size(); ++k)
    sent[k / kOctetBits] ^= static_cast<std::uint8_t>(((*bits)[k].low & 1) << k % kOctetBits);
  if (auto done = dealer.exchange(sent); !done) return done.error();
  for (std::size_t k = 0; k < bits->size(); ++k)
    (*bits)[k] = (*bits)[k] ^ dealer.multiple(sent[k / kOctetBits] >> k % kOctetBits & 1);
  return bits;
}

}  // namespace tkdc::lut
