// SPDX-License-Identifier: Apache-2.0
// What the parties tell each other between HELLO and the first tick: refusals,
// pages of half made keys, inventories, epochs. No input may agree to an epoch that
// is not above all persisted ones.
#include "session/agreement.h"

#include "fuzz.h"
#include "link/memory_ring.h"
#include "session/memory_store.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tkdc;
  auto ring = MemoryRing::create();
  auto prev = ring->link(0), mine = ring->link(1), next = ring->link(2);
  Reader in(ByteSpan(data, size));
  while (!in.failed() && in.remaining() > 0) {
    const bool from_next = (in.u8() & 1) != 0;
    const ByteSpan packet = in.raw(std::min<std::size_t>(in.u16(), in.remaining()));
    (void)(from_next ? next->send(Neighbour::kPrev, packet) : prev->send(Neighbour::kNext, packet))
        .ok();
  }
  MemoryStore store;
  AgreementInputs inputs;
  inputs.party = 1;
  inputs.epochs = {EpochsSaid{3, 3}, EpochsSaid{5, 5}, EpochsSaid{4, 4}};
  EpochLedger ledger(store, EpochLedger::kPerDay);
  if (!confirm_handshake(*mine, inputs, 0).ok()) return 0;
  auto epoch = agree_on_session(*mine, store, ledger, inputs, 0);
  if (epoch.ok()) fuzz::require(*epoch == 6);
  return 0;
}
