// SPDX-License-Identifier: Apache-2.0
// What a garbler draws for an instance: all of it follows from one seed of 32 octets, so that two
// garblers with one seed make the same circuit. ChaCha20 under the seed, a stream for each purpose.
//
// Secret: the seed, Δ and labels; wiped. Keys of π are public once they are sent.
#pragma once

#include <span>

#include "base/secret.h"
#include "garble/label.h"

namespace tkdc::garble {

inline constexpr std::size_t kSeedBytes = 32;

// What a stream is for: its nonce.
enum class Purpose : std::uint8_t { kDelta = 1, kInputs = 2, kKeys = 3 };

class LabelStream {
 public:
  LabelStream(ByteSpan seed, Purpose purpose);
  // The next ones of the stream.
  void fill(std::span<Label> out);
  Label next();

 private:
  SecretVector seed_ = SecretVector(kSeedBytes);
  Purpose purpose_;
  std::uint64_t position_ = 0;  // in labels
};

// Δ of an instance: random but for its colour, which is 1.
Label draw_delta(ByteSpan seed);

}  // namespace tkdc::garble
