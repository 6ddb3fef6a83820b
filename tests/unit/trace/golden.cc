// SPDX-License-Identifier: Apache-2.0
#include "golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace tkdc::test {
namespace {

std::string golden_file() { return TKDC_WIRE_FORMAT_FILE; }

Traces read_golden() {
  Traces golden;
  std::ifstream in(golden_file());
  std::string protocol, mode, party, hash;
  while (in >> protocol >> mode >> party >> hash)
    golden[protocol + " " + mode + " " + party] = hash;
  return golden;
}

}  // namespace

void TraceHash::add(ByteSpan packet) {
  const std::uint64_t bytes = packet.size();
  crypto_generichash_update(&state_, reinterpret_cast<const std::uint8_t*>(&bytes), 8);
  crypto_generichash_update(&state_, packet.data(), packet.size());
}

std::string TraceHash::hex() {
  std::uint8_t digest[32];
  char text[65];
  crypto_generichash_final(&state_, digest, sizeof digest);
  return sodium_bin2hex(text, sizeof text, digest, sizeof digest);
}

void add_trace(Traces& traces, const std::string& protocol, const std::string& mode,
               const std::array<std::string, 3>& by_party) {
  for (std::size_t p = 0; p < 3; ++p)
    traces[protocol + " " + mode + " " + std::to_string(p)] = by_party[p];
}

void expect_golden(const Traces& now) {
  Traces golden = read_golden();
  if (std::getenv("TKDC_UPDATE_GOLDEN") != nullptr) {
    for (const auto& [key, hash] : now) golden[key] = hash;
    std::ofstream out(golden_file());
    for (const auto& [key, hash] : golden) out << key << " " << hash << "\n";
    return;
  }
  for (const auto& [key, hash] : now)
    EXPECT_EQ(golden[key], hash) << key << ": other octets on the wire; `make golden` if meant";
}

void expect_control(const std::string& name, Hashes& hashes) {
  Traces now;
  add_trace(now, name, "control", {hashes[0].hex(), hashes[1].hex(), hashes[2].hex()});
  expect_golden(now);
}

}  // namespace tkdc::test
