// SPDX-License-Identifier: Apache-2.0
#include "protocol/offer.h"

#include <sodium.h>

namespace tkdc {
namespace {

void derive(SecretBuffer& out, std::string_view protocol, const SecretBuffer& key) {
  const std::string label = "tkdc keys of a protocol 1: " + std::string(protocol);
  crypto_generichash(out.data(), out.size(), reinterpret_cast<const std::uint8_t*>(label.data()),
                     label.size(), key.data(), key.size());
}

}  // namespace

PairwiseKeys keys_for(std::string_view protocol, const PairwiseKeys& lane) {
  PairwiseKeys keys;
  derive(keys.mine, protocol, lane.mine);
  derive(keys.next, protocol, lane.next);
  keys.zero_generator = lane.zero_generator;
  return keys;
}

}  // namespace tkdc
