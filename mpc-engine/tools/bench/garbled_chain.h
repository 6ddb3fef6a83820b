// SPDX-License-Identifier: Apache-2.0
// What tkdc bench garble computes: a circuit again and again, its output the next input. Each link
// of the chain has other labels, other tables and other values, so nothing is measured that stays
// in a cache; and the end can be compared with OpenSSL's.
#pragma once

#include "garble/evaluator.h"
#include "garble/garbler.h"

namespace tkdc::bench {

struct Chain {
  std::string name;
  circuit::Schedule schedule;
  std::uint64_t ands;
  // Octets of the inputs: what stays, what the output replaces, and where that begins.
  std::size_t held_bytes, chained_bytes, chained_at;
  std::size_t input_bits() const { return 8 * (held_bytes + chained_bytes); }
  // What becomes of `chained` after so many links, by OpenSSL.
  Result<Bytes> (*after)(const Bytes& held, const Bytes& chained, std::uint64_t links);
};

// AES-128 of a block under a key, expansion included; SHA-256's compression of one block.
std::vector<Chain> make_chains();

// The inputs' values of some instances, and what they come to in the clear.
class ChainValues {
 public:
  ChainValues(const Chain& chain, std::size_t instances);

  // Bit k of instance s's inputs.
  std::uint64_t bit(std::size_t k, std::size_t s) const;
  // Whether colours of zero-labels and of labels say what OpenSSL computes in so many links.
  Result<void> check(std::uint64_t links, ByteSpan zero_colours, ByteSpan colours) const;

 private:
  const Chain& chain_;
  std::vector<Bytes> held_, chained_;  // of each instance
};

// One side's labels of a chain's inputs.
class ChainLabels {
 public:
  ChainLabels(const Chain& chain, garble::SecretLabels inputs)
      : chain_(chain), inputs_(std::move(inputs)) {}

  std::span<garble::Label> span() { return inputs_.span(); }
  std::span<const garble::Label> span() const { return inputs_.span(); }
  // The output of a link that is done becomes the next one's input.
  template <class Side>
  void take_output(const Side& side) {
    const std::size_t count = side.count();
    for (std::size_t k = 0; k < chain_.schedule.output_bits.size(); ++k)
      for (std::size_t s = 0; s < count; ++s)
        span()[(8 * chain_.chained_at + k) * count + s] = side.output(k, s);
  }
  // Of what the last link has left, an octet a label.
  Bytes colours() const;

 private:
  const Chain& chain_;
  garble::SecretLabels inputs_;
};

// Instances whose seeds are drawn, with zero-labels of their inputs.
struct ChainGarbler {
  ChainGarbler(const Chain& chain, std::size_t instances, const garble::Kernel& kernel);
  // What the evaluator gets for these values, before the first link.
  ChainLabels labels_of(const ChainValues& values) const;

  const Chain& chain;
  garble::Garbler garbler;
  ChainLabels zero;
};

}  // namespace tkdc::bench
