// SPDX-License-Identifier: Apache-2.0
// Malicious mode's check on a device, by the host's loops: what it sends, folds and opens is what
// the CPU's kernels give, bit by bit, and a device that fails at any point changes nothing of it.
#include "cuda/device/check.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "cuda/block/check_folds.h"
#include "cuda/block/check_points.h"
#include "cuda/device/check_layout.h"
#include "cuda/device/host_driver.h"
#include "cuda/device/select.h"
#include "field/gf256.h"
#include "rep3/unit/aes/sbox_claims.h"
#include "rep3/unit/bits/bit_claims.h"
#include "rep3/verify/octet_check.h"
#include "unit/cuda/cohort_runs.h"

namespace tkdc::cuda {
namespace {

using Check = InnerProductCheck<Gf64Field>;

// ---- thread/ and block/

TEST(CheckThread, ProductsAreTheFields) {
  std::mt19937_64 rng(1);
  Element a[32], b[32];
  Word planes[2][64] = {}, product[64];
  for (std::size_t k = 0; k < 32; ++k) {
    a[k] = k == 0 ? ~Element{0} : rng();
    b[k] = k < 2 ? ~Element{0} : rng();
    EXPECT_EQ(multiply(a[k], b[k]), gf64::multiply_portable(a[k], b[k]));
    for (std::size_t bit = 0; bit < 64; ++bit) {
      planes[0][bit] |= static_cast<Word>(a[k] >> bit & 1) << k;
      planes[1][bit] |= static_cast<Word>(b[k] >> bit & 1) << k;
    }
  }
  multiply_planes(planes[0], planes[1], product);
  for (std::size_t k = 0; k < 32; ++k) {
    Element got = 0;
    for (std::size_t bit = 0; bit < 64; ++bit) got |= Element{product[bit] >> k & 1u} << bit;
    EXPECT_EQ(got, gf64::multiply_portable(a[k], b[k]));
  }
}

TEST(CheckThread, OctetsInPlanesMultiply) {
  std::mt19937_64 rng(2);
  for (int round = 0; round < 100; ++round) {
    std::uint8_t octets[2][32], got[32];
    Planes a, b, product;
    for (auto& side : octets)
      for (std::uint8_t& octet : side) octet = static_cast<std::uint8_t>(rng());
    std::memcpy(a, octets[0], 32);
    std::memcpy(b, octets[1], 32);
    slice(a);
    slice(b);
    multiply_octets(a, b, product);
    slice(product);
    std::memcpy(got, product, 32);
    for (std::size_t k = 0; k < 32; ++k)
      ASSERT_EQ(got[k], gf256_multiply(octets[0][k], octets[1][k]));
  }
}

TEST(CheckThread, ImagesAreTheLifts) {
  std::mt19937_64 rng(3);
  Element column[8];
  for (Element& one : column) one = rng();
  Quad map[kMapQuads];
  write_map(column, map);
  for (unsigned octet = 0; octet < 256; ++octet) {
    Element image = 0;
    for (int b = 0; b < 8; ++b) image ^= octet >> b & 1 ? column[b] : 0;
    const Word in[1] = {octet | (octet ^ 0x5a) << 16};
    FourElements sum[1] = {};
    add_images(in, map, sum);
    EXPECT_EQ(element_of(sum[0], 0), image);
    EXPECT_EQ(element_of(sum[0], 1), 0u);
  }
}

TEST(CheckBlock, PositionsAreThoseOfLanes) {
  for (std::uint32_t p = 0; p < kCheckLanes; ++p)
    EXPECT_EQ(check::position_of(static_cast<std::uint32_t>(gf64::lane_at(p))), p);
}

// ---- a batch

// A shape of one or two slots, all kept as multiples by w, with factors and claims of its own.
ClaimShape made_up_form(std::size_t slots) {
  ClaimShape shape{ClaimShape::Product::kOctets, 4, slots, 2, {}, {}, {}};
  shape.second.assign(4, kTimesOmega);
  shape.z.resize(2);
  ClaimShape::Factor factor;
  factor.right = {{1, {}}, {0, {}}};
  for (std::size_t s = 0; s < slots; ++s) {
    const auto of = [s](unsigned k) { return times(static_cast<std::uint8_t>(17 * k + s)); };
    factor.x.push_back({{s, of(1)}, {3, of(2)}});
    factor.right[0].y.push_back({{1, of(3)}});
    factor.right[1].y.push_back({{2, of(4)}, {0, of(5)}, {1, of(6)}});
    for (auto& z : shape.z) z.push_back({{3, of(7)}, {s, of(8)}});
  }
  shape.factors = {factor};
  return shape;
}
const ClaimShape& shape_of(std::size_t which) {
  static const ClaimShape one = made_up_form(1), two = made_up_form(2);
  const ClaimShape* const all[] = {&sbox_claim_shape(), &tkdc::bits::bit_claim_shape(1),
                                   &tkdc::bits::bit_claim_shape(2), &one, &two};
  return *all[which];
}
constexpr std::size_t kSbox = 0, kBits = 1, kTwoBits = 2, kOne = 3, kTwo = 4;

struct Part {
  std::size_t shape, lanes;
};
using Batch = std::vector<Part>;

std::vector<std::unique_ptr<ClaimRows>> random_claims(const Batch& batch) {
  std::mt19937_64 rng(4);
  std::vector<std::unique_ptr<ClaimRows>> claims;
  for (auto [which, lanes] : batch) {
    const ClaimShape& shape = shape_of(which);
    SecretVector octets = test::random_bytes(rng, 2 * shape.rows * lanes);
    ClaimRows::Rows rows{};
    for (std::size_t c = 0; c < 2; ++c)
      for (std::size_t r = 0; r < shape.rows; ++r)
        rows[c][r] = octets.data() + (c * shape.rows + r) * lanes;
    claims.push_back(std::make_unique<ClaimRows>(shape));
    claims.back()->append(lanes / 3, rows);  // in two parts, as cohorts of different sizes come
    for (auto& component : rows)
      for (std::size_t r = 0; r < shape.rows; ++r) component[r] += lanes / 3;
    claims.back()->append(lanes - lanes / 3, rows);
  }
  return claims;
}

// All that a party sends and computes in the check up to the last fold, which the CPU always has.
Bytes course_of(const Batch& batch, OctetDevice* device) {
  const std::array<std::uint8_t, OctetCheck::kSeedBytes> seed = {9, 8, 7};
  OctetShapes shapes;
  SecretPool pool;
  std::mt19937_64 rng(5);
  auto claims = random_claims(batch);
  auto on_device = OctetCheck::begin(device, claims);
  auto check =
      std::make_unique<OctetCheck>(std::move(claims), seed.data(), shapes, std::move(on_device));
  Bytes course(check->message_bytes());
  check->points(course.data());
  auto random = [&](std::size_t octets) {
    Bytes out(octets);
    for (std::uint8_t& octet : out) octet = static_cast<std::uint8_t>(rng());
    return out;
  };
  const Bytes challenge = random(OctetCheck::kChallengeBytes);
  Check product;
  OctetCheck::fold(std::move(check), course.data(), course.data(), challenge.data(), product, pool);
  auto note = [&](Element e) {
    for (int k = 0; k < 8; ++k) course.push_back(static_cast<std::uint8_t>(e >> 8 * k));
  };
  note(product.claim);
  for (product.begin_fold(); !product.last(); product.begin_fold()) {
    Bytes sent(product.message_bytes());
    product.points_sent(sent.data());
    course.insert(course.end(), sent.begin(), sent.end());
    product.take_points(sent.data(), sent.data());
    product.fold(random(product.challenge_bytes()).data());
    note(product.claim);
  }
  for (std::size_t k = 0; k < 16; ++k) note(k < 2 ? product.x[k] : product.y[k - 2]);
  return course;
}

struct HostChecks {
  explicit HostChecks(std::uint64_t fail_at = HostDriver::kNever, std::size_t min_products = 1)
      : driver(new HostDriver(fail_at)),
        device(std::unique_ptr<Driver>(driver), [this](const std::string& why) { lost = why; }),
        checks(device, min_products) {}
  std::string lost;
  HostDriver* driver;
  Device device;
  DeviceChecks checks;
};

TEST(DeviceCheck, CourseIsThatOfTheCpu) {
  for (const Batch& batch :
       {Batch{{kSbox, 1}}, Batch{{kSbox, 512}}, Batch{{kSbox, 4096 + 100}},
        Batch{{kSbox, 512 * 70 + 5}},   // more than a set; one fold there
        Batch{{kSbox, 512 * 260 + 1}},  // two folds there
        Batch{{kOne, 2048 * 9 + 33}}, Batch{{kTwo, 3000}}, Batch{{kOne, 700}, {kSbox, 900}},
        Batch{{kBits, 1}}, Batch{{kTwoBits, 1024 * 9 + 65}},
        Batch{{kBits, 1024 * 65 + 1}},  // more than a set
        Batch{{kBits, 1500}, {kSbox, 512 * 71}, {kTwo, 2000}, {kTwoBits, 1024 * 20}}}) {
    HostChecks host;
    const Bytes expected = course_of(batch, nullptr);
    for (int time = 0; time < 2; ++time)  // the second in memory that the first had
      EXPECT_EQ(course_of(batch, &host.checks), expected)
          << batch[0].shape << " " << batch[0].lanes;
    EXPECT_EQ(host.lost, "");
    EXPECT_GT(host.driver->operations(), 10u);  // it did run on the device
    EXPECT_FALSE(host.driver->misuse()) << *host.driver->misuse();
  }
}

// Batches of different sizes in the same memory.
TEST(DeviceCheck, BatchesFollowOneAnother) {
  HostChecks host;
  std::uint64_t held = 0;
  for (int time = 0; time < 2; ++time) {
    for (const Batch& batch : {Batch{{kSbox, 5000}}, Batch{{kSbox, 4700}}, Batch{{kTwo, 9000}},
                               Batch{{kSbox, 4700}, {kBits, 64}}, Batch{{kSbox, 5000}}})
      EXPECT_EQ(course_of(batch, &host.checks), course_of(batch, nullptr));
    EXPECT_FALSE(host.driver->misuse()) << *host.driver->misuse();
    if (time == 0) held = host.driver->octets_held();
  }
  EXPECT_EQ(host.driver->octets_held(), held);  // the second time nothing was allocated
}

TEST(DeviceCheck, FailingDeviceLosesNothing) {
  for (const Batch& batch : {Batch{{kSbox, 512 * 70}}, Batch{{kBits, 1500}, {kSbox, 512 * 70}},
                             Batch{{kSbox, 512 * 260}}, Batch{{kBits, 1024 * 66}}}) {
    const Bytes expected = course_of(batch, nullptr);
    std::uint64_t operations = 0;
    {
      HostChecks host;
      course_of(batch, &host.checks);
      operations = host.driver->operations();
    }
    for (std::uint64_t at = 0; at < operations; ++at) {
      HostChecks host(at);
      EXPECT_EQ(course_of(batch, &host.checks), expected) << at;
      // The last two operations wipe the memory; it is freed then.
      EXPECT_EQ(host.lost.empty(), at >= operations - 2) << at;
      EXPECT_EQ(host.driver->octets_held(), 0u) << at;
    }
  }
}

TEST(DeviceCheck, SmallBatchesAndLostDevicesStayOnTheCpu) {
  const Batch batch = {{kSbox, 512 * 3}};  // 384 products
  HostChecks small(HostDriver::kNever, 385);
  course_of(batch, &small.checks);
  EXPECT_EQ(small.driver->operations(), 0u);
  HostChecks enough(HostDriver::kNever, 384);
  course_of(batch, &enough.checks);
  EXPECT_GT(enough.driver->operations(), 0u);
  HostChecks few_bits(HostDriver::kNever, 1025), bits(HostDriver::kNever, 1024);
  course_of({{kBits, 1500}}, &few_bits.checks);  // two blocks: 1,024 products
  EXPECT_EQ(few_bits.driver->operations(), 0u);
  course_of({{kBits, 1500}}, &bits.checks);
  EXPECT_GT(bits.driver->operations(), 0u);
  HostChecks lost;
  lost.device.health.set_lost("pulled out");
  course_of(batch, &lost.checks);
  EXPECT_EQ(lost.driver->operations(), 0u);
}

TEST(CheckPool, WipesBetweenBatches) {
  HostDriver driver;
  CheckPool pool(driver);
  auto memory = pool.acquire({1000, 600});
  ASSERT_TRUE(memory.ok());
  CheckMemory* const first = memory->get();
  const std::pair<const Arena*, std::size_t> arenas[] = {{&first->device(), 1024},
                                                         {&first->pinned(), 1024}};
  for (auto [arena, octets] : arenas) {
    ASSERT_EQ(arena->octets(), octets);
    std::memset(arena->memory(), 0xa5, octets);
  }
  pool.give_back(std::move(*memory));
  auto again = pool.acquire({1001, 601});
  ASSERT_TRUE(again.ok());
  ASSERT_EQ(again->get(), first);
  for (auto [arena, octets] : arenas) {
    const auto* at = static_cast<const std::uint8_t*>(arena->memory());
    EXPECT_TRUE(std::all_of(at, at + octets, [](std::uint8_t octet) { return octet == 0; }));
  }
}

// What a batch leaves in memory is secret: after it there is nothing.
TEST(DeviceCheck, LeavesNothingInMemory) {
  HostChecks host;
  const Batch batch = {{kSbox, 5000}};
  auto claims = random_claims(batch);
  CheckLayout layout({CheckShape(*claims[0])}, 1280);
  course_of(batch, &host.checks);
  auto memory = host.device.checks.acquire({layout.device_octets, layout.pinned_octets});
  ASSERT_TRUE(memory.ok());
  const std::uint64_t operations = host.driver->operations();
  for (const Arena* arena : {&(*memory)->device(), &(*memory)->pinned()}) {
    const auto* at = static_cast<const std::uint8_t*>(arena->memory());
    EXPECT_TRUE(
        std::all_of(at, at + arena->octets(), [](std::uint8_t octet) { return octet == 0; }));
  }
  auto other = host.device.checks.acquire({layout.device_octets, layout.pinned_octets});
  EXPECT_GT(host.driver->operations(), operations);  // the first was the batch's, not a new one
}

// ---- a session's cohorts

// So many blocks that folds of their batch are on the device too.
TEST(DeviceCheck, WireTraceIsThatOfThreeCpus) {
  const Setting setting{Representation::kBytes, Security::kMalicious, 900};
  const Outcome expected = run(setting, nullptr, 0);
  for (int parties : {1, 3}) {
    HostDriver* const driver = new HostDriver;
    TestDevice device{std::unique_ptr<Driver>(driver), setting.representation};
    EXPECT_EQ(run(setting, &device.backend, parties), expected) << parties;
    EXPECT_EQ(device.lost, "");
    EXPECT_FALSE(driver->misuse()) << *driver->misuse();
  }
}

// A backend whose check counts the batches that it took.
struct Counted final : Rep3Backend, OctetDevice {
  explicit Counted(const Rep3Backend& its) : backend(its) {}
  std::string name() const override { return backend.name(); }
  Representation representation() const override { return backend.representation(); }
  std::unique_ptr<AesCohort> make_cohort(int party, std::size_t blocks) const override {
    return backend.make_cohort(party, blocks);
  }
  OctetDevice* octet_device() const override { return const_cast<Counted*>(this); }
  std::unique_ptr<OctetBatch> begin(const std::vector<ClaimRows*>& records,
                                    std::size_t products) override {
    auto batch = backend.octet_device()->begin(records, products);
    taken += batch != nullptr ? 1 : 0;
    return batch;
  }
  const Rep3Backend& backend;
  std::size_t taken = 0;
};

// A lane is a thread; whoever makes it is another. One stays, the others are new in each session.
TEST(DeviceCheck, IsOnTheLanesOwnDevice) {
  std::vector<HostDriver*> drivers;
  Devices devices({{0, 1}, false, {1, 1}, {}},
                  [&](const GpuOptions&) -> Result<std::unique_ptr<Driver>> {
                    drivers.push_back(new HostDriver);
                    return std::unique_ptr<Driver>(drivers.back());
                  });
  auto backend = devices.backend(Representation::kBytes);
  ASSERT_TRUE(backend.ok());
  OctetDevice* const check = (*backend)->octet_device();
  auto check_there = [&] {
    auto claims = random_claims({{kSbox, 700}});
    EXPECT_NE(check->begin({claims[0].get()}, 1000), nullptr);
  };
  std::thread([&] {
    for (int session = 0; session < 3; ++session) {
      const std::uint64_t before[2] = {drivers[0]->operations(), drivers[1]->operations()};
      check_there();
      std::thread(check_there).join();
      for (std::size_t k = 0; k < 2; ++k) EXPECT_GT(drivers[k]->operations(), before[k]) << k;
    }
  }).join();
}

// A bit that party 1 changes on its way to party 0, whose check is on the device.
TEST(DeviceCheck, FindsAWrongBit) {
  for (const bool wrong : {false, true}) {
    TestDevice device{std::make_unique<HostDriver>(), Representation::kBytes};
    Counted counted(device.backend);
    PartiesWithCiphers s(5, {&counted, &rep3_backend_scalar(), &rep3_backend_scalar()},
                         Security::kMalicious);
    const auto keys = s.expand(test::random_bytes(s.net.rng(), 16));
    const auto in = s.net.share(test::random_bytes(s.net.rng(), 16 * 100));
    std::size_t packets = 0;
    s.net.tamper = [&](int p, SecretVector& to_prev, SecretVector&) {
      if (wrong && p == 1 && packets++ == 2) to_prev[to_prev.size() / 2] ^= 4;
    };
    bool released = false;
    struct Job {
      static Task<void> run(Rep3Protocol& c, const SharedBytes& key, SharedBytes x, bool* done) {
        SharedBytes y = co_await c.aes.encrypt(key, std::move(x));
        co_await c.rep3.verified();
        if (done != nullptr) *done = true;
      }
    };
    auto ran = s.net.run([&](int p) {
      return Job::run(*s.ciphers[p], keys[static_cast<std::size_t>(p)],
                      in[static_cast<std::size_t>(p)], p == 0 ? &released : nullptr);
    });
    EXPECT_EQ(ran.ok(), !wrong);
    EXPECT_EQ(released, !wrong);
    EXPECT_EQ(s.net.party[0]->lane.deviation().has_value(), wrong);
    EXPECT_GT(counted.taken, 0u);
    EXPECT_EQ(device.lost, "");
  }
}

}  // namespace
}  // namespace tkdc::cuda
