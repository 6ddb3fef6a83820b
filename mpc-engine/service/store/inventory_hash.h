// SPDX-License-Identifier: Apache-2.0
// The inventory of a store as it grows: BLAKE2b-256 over the ids and headers of committed records,
// then of tombstones, each in the order of their ids. Equal at all three servers. Nothing secret.
#pragma once

#include <array>
#include <string_view>

#include "base/codec.h"

namespace tkdc {

class InventoryHash {
 public:
  InventoryHash() { crypto_generichash_init(&state_, nullptr, 0, kBytes); }

  // Before the first entry of a table, also of one that is empty.
  void begin_table(std::string_view name) { add(octets_of(name), {}); }
  void add(ByteSpan id, ByteSpan header) {
    crypto_generichash_update(&state_, id.data(), id.size());
    crypto_generichash_update(&state_, header.data(), header.size());
  }
  // Records have the refresh epoch in their versions; a store without records is of one, too.
  std::array<std::uint8_t, 32> finish(std::uint32_t refresh_epoch) {
    if (refresh_epoch > 0) {
      Bytes refreshed;
      Writer w(refreshed);
      w.text("refresh");
      w.u32(refresh_epoch);
      add(refreshed, {});
    }
    std::array<std::uint8_t, kBytes> digest{};
    crypto_generichash_final(&state_, digest.data(), digest.size());
    return digest;
  }

 private:
  static constexpr std::size_t kBytes = 32;
  static ByteSpan octets_of(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
  }
  crypto_generichash_state state_;
};

}  // namespace tkdc
