// SPDX-License-Identifier: Apache-2.0
// SHA-1's bulk work on devices, run by the host's loops over the kernel bodies: a party with a
// device and two without one compute together, and what goes over the wire is that of three CPUs.
#include <algorithm>
#include <cstring>
#include <set>

#include "rep3/zero_stream.h"
#include "unit/cuda/host_device.h"
#include "unit/cuda/ripple_runs.h"

namespace tkdc::cuda {
namespace {

constexpr auto kBytes = Representation::kBytes;
constexpr auto kMalicious = Security::kMalicious, kSemiHonest = Security::kSemiHonest;

class DeviceRipples : public testing::TestWithParam<HashSetting> {};

TEST_P(DeviceRipples, WireTraceIsThatOfThreeCpus) {
  const Outcome expected = run_hashes(GetParam(), nullptr, 0);
  for (unsigned parties : {1u, 2u, 4u, 7u}) {
    HostDevice device(kBytes);
    const Outcome got = run_hashes(GetParam(), &device.backend, parties);
    EXPECT_EQ(got.wire, expected.wire) << parties;
    EXPECT_EQ(got.result, expected.result) << parties;
    EXPECT_EQ(device.lost, "");
    EXPECT_GT(device.driver->operations(), 2 * Sha1::kRippleRounds);  // it did run on the device
    EXPECT_FALSE(device.driver->misuse()) << *device.driver->misuse();
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, DeviceRipples, testing::ValuesIn(hash_settings()));

// One party's part in a cohort, whoever computes it: always from the same shares, the neighbour
// always sending the same.
class OneParty {
 public:
  OneParty(int party, std::size_t columns, Security security,
           ZeroGenerator generator = ZeroGenerator::kAesCtr)
      : party_(party), security_(security), generator_(generator), data_(columns), states_(columns),
        stream_(256 * ZeroStream::kPieceBytes) {
    std::memset(mine_.data(), 0x11, mine_.size());
    std::memset(next_.data(), 0x22, next_.size());
    std::mt19937_64 rng(columns);
    for (std::size_t n = 0; n < columns; ++n)
      for (std::size_t c = 0; c < 2; ++c) {
        data_[n].component[c] = test::random_bytes(rng, kSha1BlockBytes);
        states_[n].component[c] = test::random_bytes(rng, kSha1StateBytes);
      }
    zero_ = make_zero_stream({mine_.span(), next_.span(), kRatchetBytes, generator});
    zero_->next(stream_.data(), stream_.size());
  }

  struct Course {
    Bytes sent, result, claims;
    bool operator==(const Course&) const = default;
  };
  Course of(const sha1::RippleBackend& backend, bool masks_itself = true) {
    std::vector<SharedBytes> states = states_;
    std::vector<sha1::RippleBlock> blocks;
    for (std::size_t n = 0; n < data_.size(); ++n) blocks.push_back({&states[n], &data_[n]});
    ClaimLog log;
    Course course;
    run(*backend.make(party_, security_ == kMalicious ? &log : nullptr, std::move(blocks)),
        masks_itself, course);
    for (const SharedBytes& state : states)
      for (const SecretVector& component : state.component)
        course.result.insert(course.result.end(), component.begin(), component.end());
    take_claims(log, course.claims);
    return course;
  }

 private:
  void run(sha1::RippleCohort& cohort, bool masks_itself, Course& course) {
    std::mt19937_64 rng(7);
    for (std::uint64_t at = 3; cohort.next();) {
      const std::size_t octets = cohort.bytes();
      SecretVector mine(octets);
      if (masks_itself &&
          cohort.start_masked(
              {{zero_->key(0, at, octets), zero_->key(1, at, octets)}, at, generator_})) {
        cohort.finish_masked(mine.data());
      } else {
        cohort.write(mine.data());
        xor_bytes(mine.data(), stream_.data() + at, octets);
      }
      at += octets;
      ASSERT_LE(at, stream_.size());
      course.sent.insert(course.sent.end(), mine.begin(), mine.end());
      const SecretVector theirs = test::random_bytes(rng, octets);
      cohort.read(mine.data(), theirs.data());
    }
  }
  static void take_claims(ClaimLog& log, Bytes& to) {
    ClaimBatch batch;
    log.take(batch);
    for (const auto& record : batch.octets)
      record->for_each_block([&](const ClaimRows::Tile* tiles) {
        for (std::size_t k = 0; k < record->tiles_per_block(); ++k)
          for (std::size_t strand = 0; strand < record->strands(); ++strand) {
            const std::uint8_t* first = tiles[k].base + tiles[k].row[strand];
            to.insert(to.end(), first, first + ClaimRows::kLanes);
          }
      });
  }

  const int party_;
  const Security security_;
  const ZeroGenerator generator_;
  std::vector<SharedBytes> data_, states_;
  SecretBuffer mine_{32}, next_{32};
  std::unique_ptr<ZeroStream> zero_;
  SecretVector stream_;
};

const sha1::RippleBackend& on_cpu() {
  struct Cpu final : sha1::RippleBackend {
    std::unique_ptr<sha1::RippleCohort> make(int party, ClaimLog* claims,
                                             std::vector<sha1::RippleBlock> blocks) const override {
      return std::make_unique<sha1::Ripple>(party, claims, std::move(blocks));
    }
  };
  static const Cpu cpu;
  return cpu;
}

TEST(DeviceRipple, MakesTheClaimsOfTheCpu) {
  for (int party : {0, 1, 2})
    for (std::size_t columns : {3u, 45u}) {
      OneParty one(party, columns, kMalicious);
      const OneParty::Course expected = one.of(on_cpu());
      EXPECT_GT(expected.claims.size(), 6 * Sha1::kRippleBits * columns / 8);
      HostDevice device(kBytes);
      EXPECT_EQ(one.of(*device.backend.ripples()), expected);
    }
}

// Where the key of the zero-shares changes within a message, the lane adds them.
TEST(DeviceRipple, LetsTheLaneAddTheZeroShare) {
  OneParty one(2, 40, kMalicious);
  HostDevice device(kBytes);
  EXPECT_EQ(one.of(*device.backend.ripples(), false), one.of(on_cpu()));
  EXPECT_EQ(device.lost, "");
  EXPECT_FALSE(device.driver->misuse()) << *device.driver->misuse();
}

// Which operations fail: with TKDC_FAILURES=all every one, else a choice that has all kinds.
std::vector<std::uint64_t> failures(std::uint64_t operations) {
  const char* set = std::getenv("TKDC_FAILURES");
  const bool all = set != nullptr && std::string(set) == "all";
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t at = 0; at < operations; ++at)
    if (all || at < 12 || at + 9 > operations || at % 601 < 2) chosen.push_back(at);
  return chosen;
}

// The device fails at an operation: nobody notices but the health report.
TEST(DeviceRipple, FailingDeviceLosesNothing) {
  for (bool masks_itself : {true, false})
    for (Security security : {kSemiHonest, kMalicious})
      for (ZeroGenerator generator : {ZeroGenerator::kAesCtr, ZeroGenerator::kChaCha20}) {
        if (!masks_itself && generator == ZeroGenerator::kChaCha20) continue;
        OneParty one(0, 5, security, generator);
        const OneParty::Course expected = one.of(on_cpu());
        std::uint64_t operations = 0;
        {
          HostDevice device(kBytes);
          EXPECT_EQ(one.of(*device.backend.ripples(), masks_itself), expected);
          operations = device.driver->operations();
        }
        for (std::uint64_t at : failures(operations)) {
          HostDevice device(kBytes, 1, at);
          EXPECT_EQ(one.of(*device.backend.ripples(), masks_itself), expected) << at;
          // The last two wipe the slot: its memory is freed then, no cohort is lost.
          EXPECT_EQ(device.lost.empty(), at >= operations - 2) << at;
        }
      }
}

TEST(DeviceRipple, FailingDeviceOfASessionLosesNothing) {
  const HashSetting setting{9, 100, kMalicious};
  const Outcome expected = run_hashes(setting, nullptr, 0);
  for (std::uint64_t at : {0u, 2u, 5u, 1001u, 1002u, 4500u, 6001u}) {
    HostDevice device(kBytes, 1, at);
    EXPECT_EQ(run_hashes(setting, &device.backend, 2), expected) << at;
    EXPECT_NE(device.lost, "") << at;
  }
}

// One device for many cohorts, of sizes that share a slot and that do not.
TEST(DeviceRipple, SlotsServeOneCohortAfterAnother) {
  HostDevice device(kBytes);
  std::uint64_t held = 0;
  for (int time = 0; time < 2; ++time) {
    for (std::size_t columns : {40u, 64u, 90u, 33u, 40u})
      for (Security security : {kMalicious, kSemiHonest}) {
        OneParty one(1, columns, security);
        EXPECT_EQ(one.of(*device.backend.ripples()), one.of(on_cpu())) << columns;
      }
    EXPECT_FALSE(device.driver->misuse()) << *device.driver->misuse();
    if (time == 0) held = device.driver->octets_held();
  }
  EXPECT_EQ(device.driver->octets_held(), held);  // the second time nothing was allocated
  EXPECT_EQ(device.lost, "");
}

bool all_zero(const void* part, std::size_t octets) {
  const auto* at = static_cast<const std::uint8_t*>(part);
  return std::all_of(at, at + octets, [](std::uint8_t octet) { return octet == 0; });
}

// First and last octets of what a slot of 64 columns has.
template <class Do>
void each_part(BitSlot& slot, Do what) {
  const std::size_t message = 64 / 8 * BitProgram::kMostProducts;
  what(slot.tick, sizeof *slot.tick);
  what(slot.device_tick, sizeof *slot.device_tick);
  what(slot.program, sizeof *slot.program);
  what(slot.view.bits.planes, sizeof(Word) * 2 * 3 * sha1::kPlaneCount);
  what(slot.view.bits.factors, sizeof(Word) * 4 * 3 * BitProgram::kMostProducts);
  for (void* part : {static_cast<void*>(slot.view.mine[0]), static_cast<void*>(slot.view.theirs[0]),
                     static_cast<void*>(slot.mine), static_cast<void*>(slot.theirs)})
    what(part, message);
  for (std::size_t c = 0; c < 2; ++c) {
    what(slot.view.octets[c], 84 * 64);
    what(slot.octets[c], 84 * 64);
    for (std::size_t side = 0; side < 2; ++side) {
      what(slot.view.bits.packed[c][side], message);
      what(slot.packed[c][side], message);
    }
  }
}

TEST(BitSlotPool, WipesBetweenCohorts) {
  HostDriver driver;
  BitSlotPool pool(driver);
  auto slot = pool.acquire(60);
  ASSERT_TRUE(slot.ok());
  BitSlot* const first = slot->get();
  ASSERT_EQ(first->capacity(), 64u);
  each_part(*first, [](void* part, std::size_t octets) { std::memset(part, 0xa5, octets); });
  pool.give_back(std::move(*slot));
  auto again = pool.acquire(64);
  ASSERT_TRUE(again.ok());
  ASSERT_EQ(again->get(), first);
  each_part(*first, [](void* part, std::size_t octets) { EXPECT_TRUE(all_zero(part, octets)); });
}

TEST(DeviceRipple, GivesItsSlotBackWiped) {
  HostDevice device(kBytes);
  OneParty one(0, 64, kMalicious);
  one.of(*device.backend.ripples());
  const std::uint64_t held = device.driver->octets_held();
  auto slot = device.device.bit_slots.acquire(64);
  ASSERT_TRUE(slot.ok());
  EXPECT_EQ(device.driver->octets_held(), held);  // it is the cohort's
  each_part(**slot, [](void* part, std::size_t octets) { EXPECT_TRUE(all_zero(part, octets)); });
}

TEST(CudaRipples, SmallCohortsAndLostDevicesStayOnTheCpu) {
  OneParty one(0, 20, kSemiHonest);
  const OneParty::Course expected = one.of(on_cpu());
  HostDevice device(kBytes, 21);
  EXPECT_EQ(one.of(*device.backend.ripples()), expected);
  EXPECT_EQ(device.driver->operations(), 0u);
  HostDevice lost(kBytes);
  lost.device.health.set_lost("pulled out");
  EXPECT_EQ(one.of(*lost.backend.ripples()), expected);
  EXPECT_EQ(lost.driver->operations(), 0u);
}

// What programs and queues have room for.
TEST(RippleSchedule, FitsAProgramAndAQueuesGraphs) {
  struct Counter final : sha1::PlaneMachine {
    void sum(sha1::PlaneNumber, std::initializer_list<sha1::PlaneNumber>) override { ++ops; }
    void product(sha1::PlaneNumber, sha1::PlaneNumber, sha1::PlaneNumber, sha1::PlaneNumber,
                 sha1::PlaneNumber) override {
      ++ops;
      ++products;
    }
    std::size_t ops = 0, products = 0;
  } counter;
  sha1::RippleSchedule schedule(counter);
  std::size_t rounds = 0, all_ops = 0, all_products = 0, before = 0, most = 0;
  std::set<std::pair<std::size_t, std::size_t>> graphs;
  for (bool more = true; more;) {
    counter.ops = counter.products = 0;
    more = schedule.next();
    rounds += more ? 1 : 0;
    most = std::max(most, counter.ops);
    all_ops += counter.ops;
    all_products += counter.products;
    graphs.emplace(before, counter.products);
    before = counter.products;
  }
  EXPECT_EQ(rounds, sha1::RippleSchedule::kRounds);
  EXPECT_EQ(all_products, sha1::RippleSchedule::kBits);
  EXPECT_LE(most, BitProgram::kMostOps);
  EXPECT_LT(graphs.size(), 64u);  // of 128 of a queue
  RecordProperty("sums", static_cast<int>(all_ops - all_products));
  RecordProperty("most_ops", static_cast<int>(most));
  RecordProperty("graphs", static_cast<int>(graphs.size()));
}

}  // namespace
}  // namespace tkdc::cuda
