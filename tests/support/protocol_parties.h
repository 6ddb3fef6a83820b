// SPDX-License-Identifier: Apache-2.0
// All parties of a protocol in one thread, for tests of what is built on protocols. Which protocol
// the environment says (TKDC_TEST_PROTOCOL; "rep3" if it says nothing): the same tests run with
// each of protocol_parties.cc's list.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>

#include "base/result.h"
#include "cipher/aes_keys.h"
#include "protocol/protocol.h"

namespace tkdc::test {

class Parties {
 public:
  static constexpr std::size_t kMost = 3;
  using Shares = std::array<SharedBytes, kMost>;  // by party

  virtual ~Parties() = default;
  virtual int count() const = 0;
  virtual Protocol& at(int party) = 0;
  virtual Shares share(ByteSpan value) = 0;
  // The value; a failure of the test if the parties' shares do not belong together.
  virtual Bytes rebuild(const Shares& shares) const = 0;
  // Spawns make(party) at each and runs until all are done.
  virtual Result<void> run(const std::function<Task<void>(int)>& make) = 0;
};
std::unique_ptr<Parties> make_parties(std::uint64_t seed);

struct ProtocolParties {
  using Shares = Parties::Shares;

  explicit ProtocolParties(std::uint64_t seed) : all(make_parties(seed)) {}

  Shares share(ByteSpan value) { return all->share(value); }
  Bytes rebuild(const Shares& shares) const { return all->rebuild(shares); }
  // Runs make(protocol, party) at each party.
  Shares shares_of(const std::function<Task<SharedBytes>(Protocol&, int)>& make) {
    Shares out;
    const auto ran = all->run(
        [&](int p) { return store(make(all->at(p), p), out[static_cast<std::size_t>(p)]); });
    EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().message);
    return out;
  }
  Bytes value_of(const std::function<Task<SharedBytes>(Protocol&, int)>& make) {
    return rebuild(shares_of(make));
  }
  // Runs many jobs at each party side by side.
  void run_all(std::size_t jobs,
               const std::function<Task<void>(Protocol&, int, std::size_t)>& make) {
    const auto ran = all->run([&](int p) {
      std::vector<Task<void>> tasks;
      for (std::size_t k = 0; k < jobs; ++k) tasks.push_back(make(all->at(p), p, k));
      return tkdc::all(all->at(p).scheduler(), std::move(tasks));
    });
    ASSERT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().message);
  }
  Shares expand(ByteSpan key) {
    const Shares keys = share(key);
    return shares_of(
        [&](Protocol& c, int p) { return aes_expand_key(c, keys[static_cast<std::size_t>(p)]); });
  }

  const std::unique_ptr<Parties> all;
};

}  // namespace tkdc::test
