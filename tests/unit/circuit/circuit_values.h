// SPDX-License-Identifier: Apache-2.0
// Values for circuits, and a circuit computed in one call.
#pragma once

#include <gtest/gtest.h>

#include <random>

#include "base/hex.h"
#include "circuit/evaluate.h"
#include "circuits/catalogue.h"
#include "protocol/clear.h"

namespace tkdc::circuit {

inline Bytes octets(std::string_view hex) {
  Bytes out(hex.size() / 2);
  EXPECT_TRUE(from_hex(hex, out));
  return out;
}

inline Bytes random_octets(std::size_t bytes) {
  Bytes out(bytes);
  if (bytes > 0) randombytes_buf(out.data(), out.size());
  return out;
}

// By OpenSSL.
inline Bytes in_clear(Unit unit, ByteSpan held, const Bytes& data) {
  const SecretVector out = compute_clear(unit, held, SecretVector(data.begin(), data.end()));
  return {out.begin(), out.end()};
}

inline Bytes bytes_of(std::span<const Slice> slices, std::size_t instance) {
  const SecretVector value = octets_of(slices, instance);
  return {value.begin(), value.end()};
}

// Instance k of value v is values[v][k].
using Instances = std::vector<std::vector<Bytes>>;

inline std::vector<SecretSlices> slices_of_all(const Instances& values) {
  std::vector<SecretSlices> out;
  for (const std::vector<Bytes>& one : values) out.push_back(slices_of(std::span(one)));
  return out;
}

inline Instances random_instances(std::span<const std::size_t> widths_bytes,
                                  std::size_t instances = kInstances) {
  Instances out;
  for (const std::size_t bytes : widths_bytes) {
    out.emplace_back();
    for (std::size_t k = 0; k < instances; ++k) out.back().push_back(random_octets(bytes));
  }
  return out;
}

inline Circuit circuit_named(std::string_view name) {
  const auto chosen = circuits::find_named(name);
  EXPECT_TRUE(chosen.ok());
  return circuits::record(*chosen);
}

// By the schedule of a circuit of the catalogue: one instance, all outputs one after the other.
inline Bytes run_named(std::string_view name, std::initializer_list<Bytes> inputs) {
  std::vector<SecretSlices> slices;
  for (const Bytes& one : inputs) slices.push_back(slices_of(ByteSpan(one)));
  Bytes out;
  for (const SecretSlices& value : evaluate(schedule_of(circuit_named(name)), slices)) {
    const Bytes one = bytes_of(value, 0);
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

// The body itself, without recording it.
inline std::vector<Bytes> run_body(const std::string& name, const std::vector<Bytes>& inputs) {
  const auto chosen = circuits::find_named(name);
  EXPECT_TRUE(chosen.ok()) << name;
  std::vector<SecretSlices> slices;
  for (const Bytes& one : inputs) slices.push_back(slices_of(ByteSpan(one)));
  Plain plain(slices);
  chosen->named->compute(plain, chosen->size);
  std::vector<Bytes> out;
  for (const SecretSlices& value : plain.outputs()) out.push_back(bytes_of(value, 0));
  return out;
}

}  // namespace tkdc::circuit
