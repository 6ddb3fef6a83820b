// SPDX-License-Identifier: Apache-2.0
// The primitives of one lane, as the modes of operation use them.
#pragma once

#include "cipher/aes/aes.h"
#include "cipher/sha1/sha1.h"

namespace tkdc {

struct Ciphers {
  Ciphers(Rep3& lane, const AesBackend& backend) : rep3(lane), aes(lane, backend), sha1(lane) {}

  Rep3& rep3;
  Aes aes;
  Sha1 sha1;
};

}  // namespace tkdc
