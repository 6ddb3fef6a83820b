// SPDX-License-Identifier: Apache-2.0
// Bad input, mixed in: requests of before sent again, cut short, with flipped
// bits, or random octets. From a socket of its own; what the KDC answers is
// thrown away. Good requests must not notice.
#pragma once

#include "storm/transport.h"

namespace tkdc::storm {

class Noise {
 public:
  Noise(const Target& target, double share);
  ~Noise();
  Noise(const Noise&) = delete;
  Noise& operator=(const Noise&) = delete;
  // May send something made of a request that was just sent; true if it did.
  bool after(ByteSpan request);

 private:
  int fd_ = -1;
  double share_;
  Bytes previous_;
  std::mt19937_64 dice_{0x6e6f'6973'65};
};

}  // namespace tkdc::storm
