// SPDX-License-Identifier: Apache-2.0
// Randomness for secret sharing, and the sharing itself: x = x0 ^ x1 ^ x2.
//
// One ChaCha20 stream per agent, keyed from the system's generator at start.
// Each refill takes the key of the next one from its own output and wipes what
// was handed out, so a later look into the agent's memory does not give the
// shares of earlier inputs, and no octet of the stream is used twice. One
// thread; the whole state is secret.
#pragma once

#include <array>

#include "base/secret.h"

namespace tkdc::agent {

class ShareStream {
 public:
  ShareStream();
  void fill(MutableByteSpan out);

 private:
  void refill();

  SecretBuffer key_{32};
  SecretBuffer pool_{64 * 1024};
  std::size_t used_;
};

// Turns a secret into its three components; the secret's memory becomes x2.
std::array<SecretVector, 3> split(ShareStream& stream, SecretVector secret);

}  // namespace tkdc::agent
