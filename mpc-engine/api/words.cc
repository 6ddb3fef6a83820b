// SPDX-License-Identifier: Apache-2.0
// Comparison: carries of words of bits by a prefix network (Kogge, Stone 1973).
//
// With generate g and propagate p at each bit, (g, p) o (g', p') = (g ^ p g', p p'):
// after log2(bits) layers g is the carry out of each bit. Addition: g = a b,
// p = a ^ b. Borrow of a - b: g = ~a b, p = ~(a ^ b).
//
// Z/2^n -> bits (Mohassel, Rindal 2018, section 5.3): component x_i is known to two
// parties, so (x_i at its place, 0 elsewhere) shares its bits; the three are added by a
// carry-save layer and one carry network.
#include "api/quadratic.h"

#include "protocol/replicated.h"

namespace tkdc::mpc {
namespace {

// Each word << by, within the word.
SharedBytes shifted(const SharedBytes& words, std::size_t word_bytes, unsigned by) {
  SharedBytes out(words.size());
  for (int c = 0; c < 2; ++c)
    for (std::size_t k = 0; k < words.size(); k += word_bytes) {
      std::uint64_t word = 0;
      std::memcpy(&word, words.component[c].data() + k, word_bytes);
      word <<= by;
      std::memcpy(out.component[c].data() + k, &word, word_bytes);
    }
  return out;
}

SharedBytes sum_of(SharedBytes a, const SharedBytes& b) {
  xor_into(a, b);
  return a;
}

SharedBytes joined(SharedBytes a, const SharedBytes& b) {
  a.append(b);
  return a;
}

// The carry out of each bit.
Task<SharedBytes> carries(Rep3& rep3, SharedBytes generate, SharedBytes propagate,
                          std::size_t word_bytes) {
  const std::size_t bytes = generate.size();
  for (unsigned by = 1; by < 8 * word_bytes; by *= 2) {
    SharedBytes right =
        joined(shifted(generate, word_bytes, by), shifted(propagate, word_bytes, by));
    SharedBytes left = joined(propagate, propagate);
    SharedBytes both = co_await multiply(rep3, Ring::kBits, std::move(left), std::move(right));
    xor_into(generate, both.slice(0, bytes));
    propagate = both.slice(bytes, bytes);
  }
  co_return generate;
}

// Component `which` of a sum, as a sharing of its own: 0 at the other places.
SharedBytes addend(int party, const SharedBytes& x, int which) {
  SharedBytes out(x.size());
  for (int c = 0; c < 2; ++c)
    if ((party + c) % 3 == which) out.component[c] = x.component[c];
  return out;
}

}  // namespace

SharedBytes top_bits(const SharedBytes& words, std::size_t word_bytes) {
  SharedBytes out(words.size() / word_bytes);
  for (int c = 0; c < 2; ++c)
    for (std::size_t k = 0; k < out.size(); ++k)
      out.component[c][k] = words.component[c][word_bytes * (k + 1) - 1] >> 7;
  return out;
}

Task<SharedBytes> words_less(Rep3& rep3, SharedBytes a, SharedBytes b, std::size_t word_bytes) {
  xor_public(a, rep3.party(), Bytes(a.size(), 0xff));
  SharedBytes propagate = sum_of(a, b);
  SharedBytes generate = co_await multiply(rep3, Ring::kBits, std::move(a), std::move(b));
  SharedBytes borrows =
      co_await carries(rep3, std::move(generate), std::move(propagate), word_bytes);
  co_return top_bits(borrows, word_bytes);
}

Task<SharedBytes> words_of(Rep3& rep3, SharedBytes x, std::size_t word_bytes) {
  const SharedBytes a = addend(rep3.party(), x, 0), b = addend(rep3.party(), x, 1),
                    c = addend(rep3.party(), x, 2);
  // maj(a, b, c) = (a ^ c)(b ^ c) ^ c
  SharedBytes majority = co_await multiply(rep3, Ring::kBits, sum_of(a, c), sum_of(b, c));
  xor_into(majority, c);
  SharedBytes sum = sum_of(sum_of(a, b), c), carry = shifted(majority, word_bytes, 1);
  SharedBytes propagate = sum_of(sum, carry);
  SharedBytes generate = co_await multiply(rep3, Ring::kBits, std::move(sum), std::move(carry));
  SharedBytes out = co_await carries(rep3, std::move(generate), propagate, word_bytes);
  out = shifted(out, word_bytes, 1);
  xor_into(out, propagate);
  co_return out;
}

}  // namespace tkdc::mpc
