// SPDX-License-Identifier: Apache-2.0
// Three Parties of the programming interface, each in a thread of its own.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <thread>

#include "tkdc/party.h"

namespace tkdc::mpc {

// Runs body(party) as party 0, 1 and 2 at once.
inline void as_three(Security security, const std::function<void(Party&)>& body) {
  auto parties = Party::in_process(security);
  ASSERT_TRUE(parties.ok());
  std::thread threads[3];
  for (std::size_t p = 0; p < 3; ++p)
    threads[p] = std::thread([&body, party = &(*parties)[p]] {
      body(*party);
      party->leave();
    });
  for (std::thread& thread : threads) thread.join();
}

template <class T>
T need(Result<T> result) {
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  if (!result.ok()) std::abort();
  return std::move(result).value();
}

inline Bytes some_octets(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 rng(seed);
  Bytes out(count);
  for (auto& octet : out) octet = static_cast<std::uint8_t>(rng());
  return out;
}

}  // namespace tkdc::mpc
