// SPDX-License-Identifier: Apache-2.0
// Values of a polynomial that is linear in each of two variables, at {0, 1, infinity}^2
// (rep3/verify/points.h), in the registers of one thread. Only additions; secret.
#pragma once

#include "cuda/thread/host_device.h"

namespace tkdc::cuda {

inline constexpr std::uint32_t kPointsOfFour = 9;

// From those at {0, 1}^2; the first variable is the fastest.
template <class W>
TKDC_HD void spread_four(const W (&in)[4], W (&out)[kPointsOfFour]) {
  TKDC_UNROLL
  for (int k = 0; k < 2; ++k) {
    out[3 * k] = in[2 * k];
    out[3 * k + 1] = in[2 * k + 1];
    out[3 * k + 2] = in[2 * k] ^ in[2 * k + 1];
  }
  TKDC_UNROLL
  for (int k = 0; k < 3; ++k) out[6 + k] = out[k] ^ out[3 + k];
}

}  // namespace tkdc::cuda
