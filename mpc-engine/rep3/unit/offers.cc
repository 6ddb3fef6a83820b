// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/offers.h"

#include "rep3/unit/rep3_protocol.h"

namespace tkdc {

Representation preferred_representation(const std::string& backend, Security security) {
  if (security == Security::kMalicious) return Representation::kBytes;
  if (backend == "avx2") return Representation::kPlanes;
  if (backend == "cuda") return Representation::kBytes;
  for (const Rep3Backend* usable : usable_rep3_backends())
    if (usable->name() == "gfni") return Representation::kBytes;
  return backend == "scalar" ? Representation::kBytes : Representation::kPlanes;
}

ZeroOffer zero_offer(const std::string& wanted, const std::string& backend, Security security) {
  auto used = choose_rep3_backend(backend, preferred_representation(backend, security));
  return zero_offer_of(wanted, used.ok() && (*used)->name() == "cuda");
}

}  // namespace tkdc
