// SPDX-License-Identifier: Apache-2.0
#include "circuit/schedule_digest.h"

namespace tkdc::circuit {

NumbersDigest::NumbersDigest() {
  crypto_generichash_init(&state_, nullptr, 0, ScheduleDigest().size());
}

void NumbersDigest::add(std::uint64_t number) {
  std::uint8_t octets[8];
  for (std::size_t k = 0; k < 8; ++k) octets[k] = static_cast<std::uint8_t>(number >> 8 * k);
  crypto_generichash_update(&state_, octets, sizeof octets);
}

ScheduleDigest NumbersDigest::end() {
  ScheduleDigest out;
  crypto_generichash_final(&state_, out.data(), out.size());
  return out;
}

ScheduleDigest digest_of(const Schedule& schedule) {
  NumbersDigest of;
  for (const auto* ports : {&schedule.inputs, &schedule.outputs}) {
    of.add(ports->size());
    for (const Port& port : *ports) of.add(port.bits);
  }
  of.add(schedule.slots);
  of.add(schedule.layers.size());
  for (const Schedule::Layer& layer : schedule.layers) {
    of.add(layer.xors);
    of.add(layer.ands);
  }
  for (const ScheduledGate& gate : schedule.gates) {
    of.add(std::uint64_t{gate.a} << 32 | gate.b);
    of.add(gate.out);
  }
  for (const Schedule::Output& output : schedule.output_bits)
    of.add(std::uint64_t{output.slot} << 1 | (output.complement ? 1 : 0));
  return of.end();
}

}  // namespace tkdc::circuit
