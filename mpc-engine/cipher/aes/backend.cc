// SPDX-License-Identifier: Apache-2.0
// Picks the AES backend, once, when a session starts.
#include "cipher/aes/byte_cohort.h"
#include "cipher/aes/plane_cohort.h"

namespace tkdc {

std::vector<const AesBackend*> usable_aes_backends() {
  std::vector<const AesBackend*> all = {aes_backend_gfni(), aes_backend_avx2(),
                                        &aes_backend_scalar(), &aes_backend_planes()};
  std::erase(all, nullptr);
  return all;
}

Result<const AesBackend*> choose_aes_backend(const std::string& wanted,
                                             Representation representation) {
  const AesBackend* fastest = nullptr;
  bool known = wanted == "auto";
  std::string names;
  for (const AesBackend* backend : usable_aes_backends()) {
    names += ", " + backend->name();
    known |= backend->name() == wanted;
    if (backend->representation() != representation) continue;
    if (backend->name() == wanted) return backend;
    if (fastest == nullptr) fastest = backend;
  }
  if (!known)
    return fail("data.backend = \"" + wanted + "\" is not available on this CPU; it has auto" +
                names);
  return fastest;
}

}  // namespace tkdc
