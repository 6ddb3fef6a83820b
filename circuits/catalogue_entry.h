// SPDX-License-Identifier: Apache-2.0
// A line of the catalogue, made from a body: a struct whose run(context, size) reads inputs and
// leaves outputs, in any context.
#pragma once

#include <string_view>

#include "circuit/plain.h"
#include "circuit/recorder.h"

namespace tkdc::circuits {

struct Named {
  std::string_view name, meaning, source;
  // The size that `NAME:SIZE` sets, in which unit; 1 to 1 and no unit if there is none.
  std::string_view unit;
  std::size_t least, usual, most;
  // ANDs for the usual size to compare with, and whose number that is; 0 if there is none.
  std::uint64_t published_ands;
  std::string_view published;
  // The body in a context with input() and output().
  void (*record)(circuit::Recorder&, std::size_t);
  void (*count)(circuit::Counter&, std::size_t);
  void (*compute)(circuit::Plain&, std::size_t);
};

inline constexpr std::size_t kMostBlocks = 64, kMostOctets = 4096;

template <class Body>
constexpr Named named(std::string_view name, std::string_view meaning, std::string_view source,
                      std::uint64_t published_ands = 0, std::string_view published = {},
                      std::string_view unit = {}, std::size_t least = 1, std::size_t usual = 1,
                      std::size_t most = 1) {
  return {name,
          meaning,
          source,
          unit,
          least,
          usual,
          most,
          published_ands,
          published,
          [](circuit::Recorder& c, std::size_t size) { Body::run(c, size); },
          [](circuit::Counter& c, std::size_t size) { Body::run(c, size); },
          [](circuit::Plain& c, std::size_t size) { Body::run(c, size); }};
}

template <class Body>
constexpr Named of_blocks(std::string_view name, std::string_view meaning, std::string_view source,
                          std::uint64_t published_ands = 0, std::string_view published = {}) {
  return named<Body>(name, meaning, source, published_ands, published, "blocks", 1, 1, kMostBlocks);
}

template <class Body>
constexpr Named of_octets(std::string_view name, std::string_view meaning, std::string_view source,
                          std::size_t least, std::size_t usual) {
  return named<Body>(name, meaning, source, 0, {}, "octets", least, usual, kMostOctets);
}

// The whole operations of enctypes, a part of the catalogue (operations.cc).
std::span<const Named> operations();
// Those for the making of keys, which no table lists (derivations.cc).
std::span<const Named> derivations();
// Those around lookup tables (around_tables.cc), which servers take by name.
std::span<const Named> around_tables();

}  // namespace tkdc::circuits
