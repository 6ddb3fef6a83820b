// SPDX-License-Identifier: Apache-2.0
// A bound key's name for tests of what is written with it: no two members are alike.
#pragma once

#include <cstring>

#include "wire.h"

inline tkdc_wire_key sample_key() {
  tkdc_wire_key key{};
  std::memset(key.key_id, 0x11, sizeof key.key_id);
  std::memset(key.installation, 0x22, sizeof key.installation);
  std::memset(key.principal, 0x33, sizeof key.principal);
  key.kvno = 7;
  key.enctype = 18;
  return key;
}
