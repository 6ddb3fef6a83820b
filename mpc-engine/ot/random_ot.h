// SPDX-License-Identifier: Apache-2.0
// Random and chosen OTs out of correlated ones. Random: the sender has two keys for each OT, the
// receiver a random bit and the key of that bit. Chosen: the sender's messages travel under those
// keys, for the receiver's choices.
//
//   keys       H(K, j) and H(K ⊕ Δ, j); the receiver's is H(M, j), the bit is M's bit 0
//   chosen     receiver → sender  choice ⊕ bit
//              sender → receiver  m_0 ⊕ key_{choice ⊕ bit}, m_1 ⊕ the other one
//
// H is H2 of garble/kernel.h, as a changed receiver can choose its rows, under keys that follow
// from a seed of the sender, each for 2^18 numbers j (docs/protocols/21-oblivious-transfer.md,
// "Keys from rows"). Without Δ's other bits each key that the receiver did not get is random to it.
// Calls block; one thread. Secret: rows, keys, messages, choices. Error: the extension's, and
// nothing is handed out of a batch whose check failed.
#pragma once

#include "garble/kernel.h"
#include "ot/extension.h"
#include "ot/row_hash.h"

namespace tkdc::ot {

// H of rows in their order; both parties count alike.
class RowHash {
 public:
  RowHash(const Label& seed, const garble::Kernel& kernel) : kernel_(kernel), seed_(seed) {}
  // out[k] = H(rows[k], j + k); the numbers count on if `count`.
  void hash(std::span<const Label> rows, Label* out, bool count);

 private:
  const garble::Kernel& kernel_;
  const Label seed_;
  std::uint64_t next_ = 0, keyed_ = ~std::uint64_t{0};
  garble::RoundKeys keys_;
};

// Both keys of so many OTs; the receiver's rows, whose bit 0 is the choice, and their keys.
using UsePairs = std::function<void(std::span<const Label> zero, std::span<const Label> one)>;
using UseChosen = std::function<void(std::span<const Label> rows, std::span<const Label> keys)>;

Result<void> send_random(Channel& channel, ExtensionSender& extension, std::size_t count,
                         const UsePairs& use,
                         const garble::Kernel& kernel = garble::fastest_kernel());
Result<void> receive_random(Channel& channel, ExtensionReceiver& extension, std::size_t count,
                            const UseChosen& use,
                            const garble::Kernel& kernel = garble::fastest_kernel());

Result<void> send_chosen(Channel& channel, ExtensionSender& extension, std::span<const Label> zero,
                         std::span<const Label> one);
// `choices` are 0 or 1.
Result<void> receive_chosen(Channel& channel, ExtensionReceiver& extension,
                            std::span<const std::uint8_t> choices, std::span<Label> messages);

}  // namespace tkdc::ot
