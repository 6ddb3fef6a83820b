// SPDX-License-Identifier: Apache-2.0
#include "circuit/schedule_digest.h"

#include <sodium.h>

namespace tkdc::circuit {
namespace {

void add(crypto_generichash_state& state, std::uint64_t value) {
  std::uint8_t octets[8];
  for (std::size_t k = 0; k < 8; ++k) octets[k] = static_cast<std::uint8_t>(value >> 8 * k);
  crypto_generichash_update(&state, octets, sizeof octets);
}

}  // namespace

ScheduleDigest digest_of(const Schedule& schedule) {
  ScheduleDigest out;
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, out.size());
  for (const auto* ports : {&schedule.inputs, &schedule.outputs}) {
    add(state, ports->size());
    for (const Port& port : *ports) add(state, port.bits);
  }
  add(state, schedule.slots);
  add(state, schedule.layers.size());
  for (const Schedule::Layer& layer : schedule.layers) {
    add(state, layer.xors);
    add(state, layer.ands);
  }
  for (const ScheduledGate& gate : schedule.gates) {
    add(state, std::uint64_t{gate.a} << 32 | gate.b);
    add(state, gate.out);
  }
  for (const Schedule::Output& output : schedule.output_bits)
    add(state, std::uint64_t{output.slot} << 1 | (output.complement ? 1 : 0));
  crypto_generichash_final(&state, out.data(), out.size());
  return out;
}

}  // namespace tkdc::circuit
