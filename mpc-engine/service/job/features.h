// SPDX-License-Identifier: Apache-2.0
// What servers offer each other beside protocols (MeshOptions::features): a session has it where
// all three offer it alike. The number is another one when the messages of it are.
#pragma once

#include <cstdint>

namespace tkdc {

// MACs on shares (docs/protocols/23-share-macs.md).
inline constexpr char kShareMacs[] = "share-macs";
inline constexpr std::uint64_t kShareMacsFormat = 1;

// Keys that are removed are dropped first (docs/protocols/28-dropped-keys.md).
inline constexpr char kKeepsDropped[] = "keeps-dropped";
inline constexpr std::uint64_t kKeepsDroppedFormat = 1;

// A session whose newcomer is a server that has lost its store (docs/protocols/25-repair.md). Its
// pages are proved by MACs on shares, without which there is none.
inline constexpr char kRepairSession[] = "repair";

}  // namespace tkdc
