// SPDX-License-Identifier: Apache-2.0
// Zero-shares of a generator that makes both components' streams at once: where in its keys'
// streams it is, and when they are replaced. Generators have the octets to add. Nothing is inline
// here: some of them are compiled for CPUs that not every machine has.
#pragma once

#include "rep3/zero_stream.h"

namespace tkdc {

class CounterZeroStream : public ZeroStream {
 public:
  CounterZeroStream(const ZeroStreamKeys& keys, std::string_view purpose);
  void next(std::uint8_t* out, std::size_t bytes) final;
  void skip(std::size_t bytes) final;
  const std::uint8_t* key(int c, std::uint64_t position, std::size_t bytes) const final;

 protected:
  const std::uint8_t* in_use(std::size_t c) const;  // key of component i (0) or i+1 (1)

 private:
  // F(k_i) ^ F(k_{i+1}) from octet `at` of the streams under the keys in use.
  virtual void generate(std::uint64_t at, std::uint8_t* out, std::size_t bytes) = 0;
  virtual void keys_replaced() = 0;

  // How much of `bytes` the keys in use make; first the next keys, where they make no more.
  std::size_t next_piece(std::size_t bytes);

  StreamKey key_[2];
  const std::uint64_t ratchet_bytes_;
  std::uint64_t at_ = 0;  // octets made under the present keys
  std::uint64_t ratchets_ = 0;
};

}  // namespace tkdc
