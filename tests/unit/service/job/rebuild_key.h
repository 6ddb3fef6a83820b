// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "three_services.h"

namespace tkdc {

// Through the job service rather than the test's own arithmetic, what a drawn key is.
inline Bytes rebuild_key(ThreeServices& e, const KeyRef& ref) {
  Bytes x;
  for (int p = 0; p < 3; ++p) {
    auto record = e.store(p).get(ref.id);
    const SecretVector& c = (*record)->fields.at("key").component[0];
    x.resize(c.size());
    xor_bytes(x.data(), c.data(), c.size());
  }
  return x;
}

}  // namespace tkdc
