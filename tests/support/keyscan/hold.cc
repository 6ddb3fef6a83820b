// SPDX-License-Identifier: Apache-2.0
#include "hold.h"

#include <random>

namespace keyscan {

namespace {
std::mt19937_64& generator() {
  static std::mt19937_64 instance{std::random_device{}()};
  return instance;
}
}  // namespace

Control::Control(const std::vector<Value>& values) {
  for (const Value& value : values) {
    lay_octets(value);
    lay_planes(value);
  }
}

// Memory full of noise, as a working process' is; odd lengths in front so that
// values stand at all alignments.
Octets& Control::fresh(std::size_t octets) {
  memory_.emplace_back(octets);
  for (std::uint8_t& octet : memory_.back()) octet = static_cast<std::uint8_t>(generator()());
  return memory_.back();
}

void Control::lay_octets(const Value& value) {
  for (const OctetForm& form : octet_forms(value.octets)) {
    const std::vector<std::size_t> packed = {form.unit};
    for (std::size_t stride : form.strided ? octet_strides() : packed) {
      if (form.strided && stride <= form.unit) continue;
      std::size_t front = generator()() % 64;
      Octets& memory = fresh(front + form.octets.size() / form.unit * stride + 64);
      for (std::size_t i = 0; i < form.octets.size(); i++)
        memory[front + i / form.unit * stride + i % form.unit] = form.octets[i];
      expectations_.push_back({value.name, form.form, stride, 1});
    }
  }
}

// One instance among 8 * stride others, then the same bit in all instances.
void Control::lay_planes(const Value& value) {
  for (const BitForm& form : bit_forms(value.octets)) {
    for (std::size_t stride : plane_strides()) {
      std::size_t front = generator()() % 64;
      std::size_t instance = generator()() % (8 * stride);
      Octets& one = fresh(front + form.bits.size() * stride + 64);
      Octets& all = fresh(front + form.bits.size() * stride + 64);
      for (std::size_t j = 0; j < form.bits.size(); j++) {
        std::uint8_t& octet = one[front + j * stride + instance / 8];
        std::uint8_t mask = static_cast<std::uint8_t>(1u << instance % 8);
        octet = static_cast<std::uint8_t>(form.bits[j] ? octet | mask : octet & ~mask);
        for (std::size_t i = 0; i < stride; i++)
          all[front + j * stride + i] = form.bits[j] ? 0xff : 0x00;
      }
      expectations_.push_back({value.name, form.form, stride, 1 + 8 * stride});
    }
  }
}

}  // namespace keyscan
