// SPDX-License-Identifier: Apache-2.0
// Computations of three parties of which some have a device: what the tests on the host and those
// on a GPU have in common.
#pragma once

#include <gtest/gtest.h>

#include <thread>

#include "cuda/device/backend.h"
#include "rep3/unit/aes/plane_cohort.h"
#include "support/parties_with_ciphers.h"

namespace tkdc::cuda {

using test::PartiesWithCiphers;
using test::ThreeParties;

inline const Rep3Backend& cpu_backend(Representation representation) {
  return representation == Representation::kBytes ? rep3_backend_scalar() : rep3_backend_planes();
}

// A device with a backend on it.
struct TestDevice {
  explicit TestDevice(std::unique_ptr<Driver> driver, Representation representation,
                      std::size_t min_blocks = 1)
      : device(std::move(driver), [this](const std::string& why) { lost = why; }),
        backend(device, cpu_backend(representation), {min_blocks, min_blocks}) {}
  std::string lost;
  Device device;
  CudaBackend backend;
};

struct Outcome {
  Bytes wire;  // every packet of every party, in order
  Bytes result;
  bool operator==(const Outcome&) const = default;
};

struct Setting {
  Representation representation;
  Security security;
  std::size_t blocks;
  std::size_t key_octets = 16;
  bool encrypt = true;
  ZeroGenerator zero_shares = ZeroGenerator::kAesCtr;
};

// One computation: two keys' jobs of which the second starts in the middle of a block of 32.
inline Outcome run(const Setting& setting, const Rep3Backend* device, int device_parties) {
  std::array<const Rep3Backend*, 3> backends;
  for (int p = 0; p < 3; ++p)
    backends[static_cast<std::size_t>(p)] =
        p < device_parties ? device : &cpu_backend(setting.representation);
  PartiesWithCiphers s(5, backends, setting.security, setting.zero_shares);
  Outcome outcome;
  s.net.record = [&](int, const SecretVector& to_prev, const SecretVector& to_next) {
    for (const SecretVector* packet : {&to_prev, &to_next})
      outcome.wire.insert(outcome.wire.end(), packet->begin(), packet->end());
  };
  const auto keys = s.expand(test::random_bytes(s.net.rng(), setting.key_octets));
  const auto other = s.expand(test::random_bytes(s.net.rng(), setting.key_octets));
  const std::size_t first = setting.blocks / 3;
  PartiesWithCiphers::Shares in[2] = {
      s.net.share(test::random_bytes(s.net.rng(), 16 * first)),
      s.net.share(test::random_bytes(s.net.rng(), 16 * (setting.blocks - first)))};
  PartiesWithCiphers::Shares out[2];
  auto job = [&](Rep3Protocol& c, int p, std::size_t k) -> Task<void> {
    const auto& key = k == 0 ? keys[p] : other[p];
    if (setting.encrypt)
      out[k][p] = co_await c.aes.encrypt(key, in[k][p]);
    else
      out[k][p] = co_await c.aes.decrypt(key, in[k][p]);
    co_await c.rep3.verified();
  };
  s.run_all(2, job);
  for (auto& shares : out) {
    EXPECT_TRUE(ThreeParties::consistent(shares));
    const Bytes value = ThreeParties::rebuild(shares);
    outcome.result.insert(outcome.result.end(), value.begin(), value.end());
  }
  for (auto& p : s.net.lane) EXPECT_FALSE(p->deviation()) << *p->deviation();
  return outcome;
}

// Lanes of one device, each with cohorts and batches of ever other sizes: memory is taken and given
// back while others compute.
inline void run_side_by_side(const Rep3Backend& device, std::size_t lanes, std::size_t largest) {
  std::vector<std::thread> threads;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    threads.emplace_back([&, lane] {
      for (std::size_t blocks = 17 + lane; blocks <= largest; blocks += blocks / 2 + lane) {
        const Security security = blocks % 2 == 0 ? Security::kMalicious : Security::kSemiHonest;
        const Setting setting{device.representation(), security, blocks};
        EXPECT_EQ(run(setting, &device, 1), run(setting, nullptr, 0)) << lane << ": " << blocks;
      }
    });
  for (std::thread& thread : threads) thread.join();
}

inline std::vector<Setting> settings() {
  constexpr auto kBytes = Representation::kBytes, kPlanes = Representation::kPlanes;
  constexpr auto kMalicious = Security::kMalicious, kSemiHonest = Security::kSemiHonest;
  std::vector<Setting> all;
  for (std::size_t blocks : {1u, 2u, 3u, 31u, 64u, 77u, 300u}) {
    all.push_back({kBytes, kSemiHonest, blocks});
    all.push_back({kPlanes, kSemiHonest, blocks});
  }
  for (std::size_t blocks : {1u, 33u, 130u}) all.push_back({kBytes, kMalicious, blocks});
  for (Representation representation : {kBytes, kPlanes}) {
    all.push_back({representation, kSemiHonest, 45, 32});
    all.push_back({representation, kSemiHonest, 45, 16, false});
    all.push_back({representation, kSemiHonest, 20, 32, false});
  }
  all.push_back({kBytes, kMalicious, 21, 32, false});
  const std::size_t count = all.size();
  for (std::size_t k = 0; k < count; ++k) {
    all.push_back(all[k]);
    all.back().zero_shares = ZeroGenerator::kChaCha20;
  }
  return all;
}

}  // namespace tkdc::cuda
