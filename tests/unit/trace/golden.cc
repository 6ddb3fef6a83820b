// SPDX-License-Identifier: Apache-2.0
#include "golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/hex.h"

namespace tkdc::test {
namespace {

constexpr const char *kControl = "control", *kLater = "later";

const char* file_of(const std::string& mode) {
  if (mode == kLater) return TKDC_LATER_WIRE_FORMAT_FILE;
  return mode == kControl ? TKDC_WIRE_FORMAT_FILE : TKDC_REP3_WIRE_FORMAT_FILE;
}

Traces read_golden(const char* file) {
  Traces golden;
  std::ifstream in(file);
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
  crypto_generichash_final(&state_, digest, sizeof digest);
  return to_hex(digest);
}

void add_trace(Traces& traces, const std::string& protocol, const std::string& mode,
               const std::array<std::string, 3>& by_party) {
  for (std::size_t p = 0; p < 3; ++p)
    traces[protocol + " " + mode + " " + std::to_string(p)] = by_party[p];
}

void expect_golden(const std::string& mode, const Traces& now) {
  const char* file = file_of(mode);
  Traces golden = read_golden(file);
  if (std::getenv("TKDC_UPDATE_GOLDEN") != nullptr) {
    for (const auto& [key, hash] : now) golden[key] = hash;
    std::ofstream out(file);
    for (const auto& [key, hash] : golden) out << key << " " << hash << "\n";
    return;
  }
  for (const auto& [key, hash] : now)
    EXPECT_EQ(golden[key], hash) << key << ": other octets on the wire; `make golden` if meant";
}

void expect_control(const std::string& name, Hashes& hashes) {
  Traces now;
  add_trace(now, name, kControl, {hashes[0].hex(), hashes[1].hex(), hashes[2].hex()});
  expect_golden(kControl, now);
}

void expect_lane(const std::string& name, const std::string& protocol, Hashes& hashes) {
  if (protocol != "rep3") return expect_control(name, hashes);
  Traces now;
  add_trace(now, name, "lane", {hashes[0].hex(), hashes[1].hex(), hashes[2].hex()});
  expect_golden("lane", now);
}

}  // namespace tkdc::test
