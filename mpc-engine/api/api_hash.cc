// SPDX-License-Identifier: Apache-2.0
// Of the sources of the protocols and of this folder: CMake computes the latter.
#include "api/impl.h"
#include "job/engine.h"

namespace tkdc::mpc {

std::uint64_t api_hash() { return circuit_hash() ^ TKDC_API_HASH; }

}  // namespace tkdc::mpc
