// SPDX-License-Identifier: Apache-2.0
// What a server's configuration says of garbled circuits (docs/protocols/20-three-servers.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tkdc {

struct GarblingOptions {
  // In the order of kUses.
  enum class Use : std::uint8_t { kNever, kAuto, kAlways };
  Use use = Use::kNever;  // the leader's decides, where no server's is kNever
  // Of instances in one lane, at the server that keeps most of them. The same at all three.
  std::size_t most_bytes = std::size_t{256} << 20;

  // As data.garbling and `tkdc status` say it.
  static constexpr std::array kUses{"never", "auto", "always"};
  const char* use_name() const { return kUses[static_cast<std::size_t>(use)]; }
};

}  // namespace tkdc
