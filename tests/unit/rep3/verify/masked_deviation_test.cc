// SPDX-License-Identifier: Apache-2.0
// AES by masks with a party that deviates: while masks are made, in what it sends for
// a masked value, in the digests, and in what the servers believe to be running.
// Whatever it does is caught, whatever the secrets are.
#include "protocol/replicated.h"
#include "trial.h"

namespace tkdc::test {
namespace {

constexpr MaskPool::Count kRoom = {64, 8};

// Secret: 11 round keys, then the block. A pool is filled and one block encrypted.
Task<SharedBytes> fill_and_encrypt(Rep3Protocol& c, SharedBytes secret) {
  auto pool = std::make_unique<MaskPool>(c.rep3, kRoom);
  co_await pool->fill(MaskPool::needed(1, 10));
  c.aes.use_masks(*pool, 1);
  c.rep3.lane.course().note(Course::Kind::kSaid, {Bytes(1, 1)});  // a job is admitted
  SharedBytes keys = secret.slice(0, 176), block = secret.slice(176, 16);
  SharedBytes out = co_await c.aes.encrypt(keys, std::move(block));
  co_await c.rep3.verified();
  co_return out;
}

// The S-box inputs of the first round are `value`, whatever the keys are.
template <std::uint8_t value>
Task<SharedBytes> encrypt_chosen(Rep3Protocol& c, SharedBytes secret) {
  SharedBytes block = secret.slice(0, 16);
  xor_public(block, c.rep3.party(), Bytes(16, value));
  secret.append(block);
  SharedBytes out = co_await fill_and_encrypt(c, std::move(secret));
  co_return out;
}

const CheckedProtocol kMasked = {"masked", 192, fill_and_encrypt};

// Ticks of the honest run: 3 layers of the masks, their verification, then the
// comparison of jobs, ten masked values, the comparison of what was heard.
constexpr std::size_t kFillTicks = 3, kRounds = 10;

struct Ticks {
  std::size_t jobs, first, heard, ends;
};
Ticks ticks_of(const std::vector<MessageSize>& sizes) {
  // The first tick in which 32 octets go to both is the comparison of jobs: the
  // verification's messages have other sizes or go one way.
  for (std::size_t t = kFillTicks; t + kRounds + 1 < sizes.size(); ++t)
    if (sizes[t].to_prev == 32 && sizes[t].to_next == 32 && sizes[t + 1].to_next == 16 &&
        sizes[t + 2].to_prev == 16 && sizes[t + 2].to_next == 16)
      return {t, t + 1, t + 1 + kRounds, sizes.size()};
  ADD_FAILURE() << "no masked run found";
  return {};
}

TEST(MaskedDeviations, NoBitOfTheMasksProductsIsHarmless) {
  const std::vector<MessageSize> sizes = sizes_of(kMasked);
  // Planes of 10 states' 160 octets, a bit of each, and 225 of one state's.
  const Ticks ticks = ticks_of(sizes);
  EXPECT_EQ(sizes[0].to_prev, 12u * 20);
  EXPECT_EQ(sizes[1].to_prev, 10u * 20);
  EXPECT_EQ(sizes[2].to_prev, 225u * 2);
  Trials trials(kMasked);
  for (std::size_t tick = 0; tick < kFillTicks; ++tick)
    for (std::size_t bit = tick; bit < 8 * sizes[tick].to_prev; bit += 97) {
      std::size_t last = 0;
      auto tamper = [&](std::size_t at, int p, SecretVector& to_prev, SecretVector&) {
        last = at;
        if (p == static_cast<int>(bit % 3) && at == tick)
          to_prev[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
      };
      EXPECT_EQ(trials.run(bit, static_cast<int>(bit % 3), tamper), Outcome::kAborted);
      EXPECT_LT(last, ticks.jobs) << "a mask was used before it was verified";
    }
}

TEST(MaskedDeviations, AnyChangeInAnyTickIsCaughtForAllSecrets) {
  const std::vector<MessageSize> sizes = sizes_of(kMasked);
  const Ticks ticks = ticks_of(sizes);
  const std::size_t secrets = setting("TKDC_SECRETS", 3);
  Trials trials(kMasked);
  std::mt19937_64 rng(3);
  for (std::size_t tick = ticks.jobs; tick <= ticks.heard; ++tick)
    for (bool to_prev : {true, false}) {
      const std::size_t bytes = to_prev ? sizes[tick].to_prev : sizes[tick].to_next;
      const Deviation d{static_cast<int>(rng() % 3), to_prev, tick, rng() % bytes,
                        static_cast<std::uint8_t>(1u << rng() % 8)};
      EXPECT_EQ(trials.aborts(d, secrets), secrets) << d;
    }
}

// The same error to both others: their values are equal, and one of the two relations is
// broken, also where the S-box's input is 0 and where the error leaves 0.
TEST(MaskedDeviations, AnEqualErrorToBothIsCaughtWhateverTheInput) {
  const CheckedProtocol protocols[] = {{"zero", 176, encrypt_chosen<0>},
                                       {"one", 176, encrypt_chosen<1>},
                                       {"other", 176, encrypt_chosen<0x9c>}};
  for (const CheckedProtocol& protocol : protocols) {
    const Ticks ticks = ticks_of(sizes_of(protocol));
    Trials trials(protocol);
    for (std::size_t value = 1; value < kRounds; value += 4)
      for (unsigned error = 1; error < 256; error += 25) {
        auto tamper = [&](std::size_t tick, int p, SecretVector& to_prev, SecretVector& to_next) {
          if (p != 2 || tick != ticks.first + value) return;
          to_prev[error % 16] ^= static_cast<std::uint8_t>(error);
          to_next[error % 16] ^= static_cast<std::uint8_t>(error);
        };
        EXPECT_EQ(trials.run(error, 2, tamper), Outcome::kAborted)
            << protocol.name << " " << value << " " << error;
      }
  }
}

// Different errors: what follows is masked, and ends at the comparison.
TEST(MaskedDeviations, DifferentErrorsAreCaughtBeforeAnythingIsVerified) {
  const Ticks ticks = ticks_of(sizes_of(kMasked));
  Trials trials(kMasked);
  constexpr std::uint8_t kErrors[][2] = {{0x40, 0}, {0, 0x40}, {0x40, 0x41}};
  for (std::size_t value = 1; value < kRounds; ++value)
    for (const auto& error : kErrors) {
      const int liar = static_cast<int>(value % 3);
      std::size_t last = 0;
      auto tamper = [&](std::size_t tick, int p, SecretVector& to_prev, SecretVector& to_next) {
        last = tick;
        if (p != liar || tick != ticks.first + value) return;
        to_prev[value] ^= error[0];
        to_next[value] ^= error[1];
      };
      EXPECT_EQ(trials.run(value, liar, tamper), Outcome::kAborted) << value;
      EXPECT_EQ(last, ticks.heard);
    }
}

// ---- what the servers believe to be running

struct Servers : PartiesWithCiphers {
  explicit Servers(std::uint64_t seed)
      : PartiesWithCiphers(seed, rep3_backend_scalar(), Security::kMalicious) {
    for (std::size_t p = 0; p < 3; ++p) {
      pool[p] = std::make_unique<MaskPool>(*net.party[p], kRoom);
      ciphers[p]->aes.use_masks(*pool[p], 1);
    }
    EXPECT_TRUE(net.run([&](int p) { return pool[p]->fill(MaskPool::needed(3, 10)); }).ok());
    keys = net.share(random_bytes(net.rng(), 176));
    block = net.share(random_bytes(net.rng(), 16));
  }
  bool encrypt() {
    packets.clear();
    net.record = [&](int p, const SecretVector& prev, const SecretVector& next) {
      if (p == 0) packets.push_back({prev.size(), next.size()});
    };
    ended = 0;
    auto ran = net.run([&](int p) { return one(static_cast<std::size_t>(p)); });
    return ran.ok() && ended == 3;
  }
  Task<void> one(std::size_t p) {
    SharedBytes in = block[p];
    in = co_await ciphers[p]->aes.encrypt(keys[p], std::move(in));
    ++ended;
  }
  void note(int p, std::uint8_t what) {
    net.party[p]->lane.course().note(Course::Kind::kSaid, {Bytes(1, what)});
  }

  std::unique_ptr<MaskPool> pool[3];
  Shares keys, block;
  std::vector<MessageSize> packets;
  int ended = 0;
};

// One server was told of other jobs than the others: nothing that is masked leaves any of
// them. Else two inputs could meet one mask, and their difference would be seen.
TEST(MaskedCourse, NothingIsOpenedBeforeTheServersHaveComparedTheirJobs) {
  for (int p = 0; p < 3; ++p) {
    Servers s(20);
    for (int q = 0; q < 3; ++q) s.note(q, q == p ? 7 : 0);
    EXPECT_FALSE(s.encrypt());
    ASSERT_EQ(s.packets.size(), 1u);
    EXPECT_EQ(s.packets[0].to_prev, 32u);
    EXPECT_EQ(s.packets[0].to_next, 32u);
    for (int q = 0; q < 3; ++q) {
      EXPECT_TRUE(s.net.party[q]->lane.deviation());
      EXPECT_EQ(s.pool[q]->held(), MaskPool::needed(2, 10));  // and the masks are lost
    }
  }
}

TEST(MaskedCourse, IsComparedAgainWhenItChanges) {
  Servers s(21);
  for (int p = 0; p < 3; ++p) s.note(p, 0);
  EXPECT_TRUE(s.encrypt());
  EXPECT_EQ(s.packets.size(), 12u);
  EXPECT_TRUE(s.encrypt());
  EXPECT_EQ(s.packets.size(), 11u);  // as before
  for (int p = 0; p < 3; ++p) s.note(p, 1);
  EXPECT_TRUE(s.encrypt());
  EXPECT_EQ(s.packets.size(), 12u);
}

// A course that only one of them knows of, after one that all compared: the lengths differ or
// the digest does, and the block's masked input has reached one neighbour at most, once.
TEST(MaskedCourse, AServerThatFollowsAnotherCourseLaterIsCaught) {
  for (int p = 0; p < 3; ++p) {
    Servers s(22);
    EXPECT_TRUE(s.encrypt());
    s.note(p, 1);
    EXPECT_FALSE(s.encrypt());
    EXPECT_EQ(s.packets.size(), 1u);
  }
}

}  // namespace
}  // namespace tkdc::test
