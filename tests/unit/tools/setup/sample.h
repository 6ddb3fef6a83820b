// SPDX-License-Identifier: Apache-2.0
// Introductions as members would write them.
#pragma once

#include "base/curve_key.h"
#include "tools/setup/introduction_file.h"

namespace tkdc::setup::sample {

inline SecretBuffer seed_of(std::uint8_t number) {
  SecretBuffer seed(kSeedBytes);
  std::fill_n(seed.data(), seed.size(), number);
  return seed;
}

inline Introduction common(std::uint8_t number) {
  Introduction out;
  out.installation.fill(0x11);
  out.realm = "EXAMPLE.TEST";
  out.made_s = 1'790'000'000 + number;
  out.host = "10.0.1." + std::to_string(number + 1);
  out.curve_public_key = new_curve_keys()->public_text;
  out.identity = identity_of(seed_of(number));
  return out;
}

inline Introduction server(int party) {
  Introduction out = common(static_cast<std::uint8_t>(party));
  ServerPart part;
  part.party = party;
  part.control_port = 7700 + party;
  part.data_port = 7710 + party;
  part.certificate_sha256.fill(static_cast<std::uint8_t>(0x20 + party));
  part.approver = Approver{"approver" + std::to_string(party), party, {}};
  part.approver->public_key.fill(static_cast<std::uint8_t>(0x30 + party));
  out.part = part;
  return out;
}

inline Introduction agent(const std::string& name, const std::string& role, std::uint8_t number) {
  Introduction out = common(number);
  out.part = AgentPart{name, role};
  return out;
}

}  // namespace tkdc::setup::sample
