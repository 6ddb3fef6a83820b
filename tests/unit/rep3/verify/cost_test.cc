// SPDX-License-Identifier: Apache-2.0
// What verification costs, all three parties in one thread and without a network: CPU
// time and rounds in both modes. Not run by default; docs/performance.md has the
// figures: verify_test --gtest_also_run_disabled_tests --gtest_filter='*Cost*'
#include <cstdio>
#include <ctime>

#include "base/heap.h"
#include "cipher/rfc3962.h"
#include "support/parties_with_ciphers.h"

namespace tkdc {
namespace {

using test::PartiesWithCiphers;
using test::random_bytes;
using Shares = PartiesWithCiphers::Shares;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

const Rep3Backend& backend() {
  for (const Rep3Backend* one : usable_rep3_backends())
    if (one->representation() == Representation::kBytes) return *one;
  return rep3_backend_scalar();
}

Task<SharedBytes> encrypt(Rep3Protocol& c, SharedBytes round_keys, SharedBytes in) {
  SharedBytes out = co_await c.aes.encrypt(round_keys, std::move(in));
  co_await c.rep3.verified();
  co_return out;
}

Task<SharedBytes> compress(Rep3Protocol& c, SharedBytes state, SharedBytes block) {
  SharedBytes out = co_await c.sha1.compress(std::move(state), std::move(block));
  co_await c.rep3.verified();
  co_return out;
}

// Side by side, as those of many logins are.
Task<SharedBytes> compress_many(Rep3Protocol& c, SharedBytes state, SharedBytes block,
                                std::size_t count, Work work = Work::kWaitedFor) {
  std::vector<SharedBytes> out(count);
  std::vector<Task<void>> tasks;
  for (SharedBytes& one : out) tasks.push_back(store(c.sha1.compress(state, block, work), one));
  co_await all(c.rep3.lane, std::move(tasks));
  co_await c.rep3.verified();
  co_return std::move(out.back());
}

// 20 blocks of CBC and HMAC-SHA1 of as much, as a reply under a user's key has.
Task<SharedBytes> chain(Rep3Protocol& c, SharedBytes round_keys, SharedBytes pads,
                        SharedBytes data) {
  SharedBytes state(16);
  for (std::size_t at = 0; at < data.size(); at += 16) {
    xor_into(state, data.slice(at, 16));
    state = co_await c.aes.encrypt(round_keys, std::move(state));
  }
  SharedBytes mac = co_await hmac_sha1_96(c, pads, std::move(data));
  co_await c.rep3.verified();
  mac.append(state);
  co_return mac;
}

void measure(const char* name, std::size_t units, int runs,
             const std::function<Task<SharedBytes>(Rep3Protocol&, int)>& make,
             PartiesWithCiphers& parties, const char* mode) {
  double least = 1e9;
  std::uint64_t rounds = 0;
  for (int run = 0; run < runs; ++run) {
    const std::uint64_t before = parties.net.party[0]->lane.rounds();
    const double start = cpu_seconds();
    parties.shares_of(make);
    least = std::min(least, cpu_seconds() - start);
    rounds = parties.net.party[0]->lane.rounds() - before;
  }
  std::printf("%-12s %-12s %9.3f us CPU per unit, all parties; %llu rounds\n", name, mode,
              1e6 * least / static_cast<double>(units), static_cast<unsigned long long>(rounds));
}

TEST(DISABLED_Cost, InBothModes) {
  keep_freed_memory();  // as the programs do
  for (Security security : {Security::kSemiHonest, Security::kMalicious}) {
    const char* mode = security == Security::kMalicious ? "malicious" : "semi-honest";
    PartiesWithCiphers s(1, backend(), security);
    std::mt19937_64 rng(1);
    const Shares keys = s.net.share(random_bytes(rng, 176));
    const Shares state = s.net.share(random_bytes(rng, kSha1StateBytes));
    const Shares block = s.net.share(random_bytes(rng, kSha1BlockBytes));
    const Shares pads = s.net.share(random_bytes(rng, 2 * kSha1StateBytes));
    for (std::size_t blocks : {16u, 256u, 4096u}) {
      const Shares in = s.net.share(random_bytes(rng, 16 * blocks));
      const std::string name = "aes x " + std::to_string(blocks);
      measure(
          name.c_str(), blocks, 10,
          [&](Rep3Protocol& c, int p) { return encrypt(c, keys[p], in[p]); }, s, mode);
    }
    measure(
        "sha1", 1, 10, [&](Rep3Protocol& c, int p) { return compress(c, state[p], block[p]); }, s,
        mode);
    constexpr std::size_t kMany = 256;
    measure(
        "sha1 x 256", kMany, 3,
        [&](Rep3Protocol& c, int p) { return compress_many(c, state[p], block[p], kMany); }, s,
        mode);
    const Shares data = s.net.share(random_bytes(rng, 320));
    measure(
        "cbc+hmac", 1, 3,
        [&](Rep3Protocol& c, int p) { return chain(c, keys[p], pads[p], data[p]); }, s, mode);
  }
}

// SHA-1's two shapes, in turn.
TEST(DISABLED_Cost, OfSha1InTwoShapes) {
  keep_freed_memory();
  for (Security security : {Security::kSemiHonest, Security::kMalicious}) {
    const char* mode = security == Security::kMalicious ? "malicious" : "semi-honest";
    PartiesWithCiphers s(1, backend(), security);
    for (auto& ciphers : s.ciphers) ciphers->sha1.set_ripple_from(1);
    std::mt19937_64 rng(1);
    const Shares state = s.net.share(random_bytes(rng, kSha1StateBytes));
    const Shares block = s.net.share(random_bytes(rng, kSha1BlockBytes));
    for (std::size_t count : {1u, 16u, 64u, 128u, 256u, 512u, 1024u, 2048u})
      for (Work work : {Work::kWaitedFor, Work::kBulk}) {
        const std::string name =
            (work == Work::kBulk ? "bits x " : "rounds x ") + std::to_string(count);
        measure(
            name.c_str(), count, count > 256 ? 5 : 10,
            [&](Rep3Protocol& c, int p) {
              return compress_many(c, state[p], block[p], count, work);
            },
            s, mode);
      }
  }
}

}  // namespace
}  // namespace tkdc
