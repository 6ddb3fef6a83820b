// SPDX-License-Identifier: Apache-2.0
// The primitives of one lane, as the modes of operation use them.
#pragma once

#include "rep3/unit/aes/aes.h"
#include "rep3/unit/sha1/sha1.h"
#include "rep3/unit/sha2/sha2.h"
#include "rep3/verify/verifier.h"

namespace tkdc {

struct Ciphers {
  Ciphers(Rep3& lane, const AesBackend& backend)
      : rep3(lane), verifier(lane, backend.octet_device()), aes(lane, backend),
        sha1(lane, backend.ripples()), sha256(lane, kSha256), sha384(lane, kSha384) {}

  Rep3& rep3;
  Verifier verifier;
  Aes aes;
  Sha1 sha1;
  Sha2 sha256, sha384;
};

// For results of tasks that run side by side (both(), all()).
inline Task<void> store(Task<SharedBytes> task, SharedBytes& out) { out = co_await task; }

}  // namespace tkdc
