// SPDX-License-Identifier: Apache-2.0
// Whole operations under a key's record by garbled circuits, beside replicated sharing in one lane:
// each against libkrb5 and against sharing, and how many ticks either takes. What falls back;
// copies that differ.
#include "service/garbled/run_whole.h"

#include <thread>

#include "cipher/derived_keys.h"
#include "enctype.h"
#include "protocol/clear.h"
#include "protocol/offer.h"
#include "rep3/unit/aes/byte_cohort.h"
#include "rep3/unit/rep3_protocol.h"
#include "service/garbled/garbled_gcm.h"
#include "service/operation/keys.h"
#include "service/operation/operations.h"
#include "support/krb5_client.h"
#include "threegarble/trio.h"

namespace tkdc {
namespace {

using threegarble::random_octets;
using threegarble::Trio;

constexpr std::uint32_t kUsage = 3;

PairwiseKeys keys_of(const Trio& trio, std::string_view protocol, int p) {
  return keys_for(protocol, trio.lanes.keys_of(p));
}

// Three servers with one lane: both protocols, a record of one key, a reserve.
class Garbled : public testing::TestWithParam<std::uint32_t> {
 protected:
  Garbled()
      : key(random_octets(GetParam() % 2 == 1 ? 16 : 32)), whole(GetParam(), key),
        trio(GetParam()) {
    const auto keys = test::derive_all(GetParam(), 1, key, kUsage);
    for (std::size_t p = 0; p < 3; ++p) {
      record[p].ref.enctype = GetParam();
      record[p].fields[field_name(kUsage, "ke")] = keys->ke[p];
      record[p].fields[field_name(kUsage, "ki")] = keys->ki[p];
      record[p].fields[field_name(kUsage, "kc")] = keys->kc[p];
      rep3[p] = std::make_unique<Rep3>(*trio.lanes.lane[p], Representation::kPlanes,
                                       keys_of(trio, "rep3", static_cast<int>(p)));
      shared[p] = std::make_unique<Rep3Protocol>(*rep3[p], rep3_backend_scalar());
    }
  }
  // So many instances of each; made here and now (threegarble/reserve_test.cc fills over streams).
  void fill(const std::vector<WholeKinds::Wanted>& wanted) {
    auto made = WholeKinds::of(wanted);
    ASSERT_TRUE(made.ok()) << made.error().message;
    kinds.emplace(std::move(*made));
    trio.plan = {kinds->reserve_kinds(), std::size_t{1} << 30};
    for (;;) {
      const auto next = trio.side(0).reserve().next();
      if (!next) break;
      ASSERT_TRUE(trio.prepare(trio.side(0).reserve().shape(next->kind), next->id.n));
      for (int p = 0; p < 3; ++p) {
        trio.side(p).reserve().begin(*next);
        trio.side(p).reserve().put(*next, std::move(*trio.instances[p]));
      }
    }
  }
  struct Ran {
    tkdc_status status;
    Bytes output;
    std::uint64_t ticks;
  };
  Ran run(tkdc_wire_op op, ByteSpan input) { return run(op, trio.lanes.share(input)); }
  // As if nothing garbled.
  Ran run_shared(tkdc_wire_op op, ByteSpan input) {
    only_shared = true;
    Ran ran = run(op, input);
    only_shared = false;
    return ran;
  }
  Ran run(tkdc_wire_op op, const std::array<SharedBytes, 3>& input) {
    const std::uint64_t before = trio.lanes.lane[0]->rounds();
    JobOutcome outcomes[3];
    auto ran = trio.lanes.run([&](int p) { return keep(op, input, p, outcomes[p]); });
    EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().message);
    std::array<SharedBytes, 3> shares;
    for (std::size_t p = 0; p < 3; ++p) {
      EXPECT_EQ(outcomes[p].status, outcomes[0].status);
      shares[p] = outcomes[p].output;
    }
    EXPECT_TRUE(test::ThreeLanes::consistent(shares));
    return {outcomes[0].status, test::ThreeLanes::rebuild(shares),
            trio.lanes.lane[0]->rounds() - before};
  }
  std::size_t ready() { return trio.side(0).reserve().counts(0).ready; }
  std::string name(const char* op, std::size_t bytes) const {
    return op + std::to_string(GetParam()) + ":" + std::to_string(bytes);
  }
  std::string sum_name(const char* op, std::size_t bytes) const {
    const char* hash = GetParam() <= 18 ? "sha1" : GetParam() == 19 ? "sha256" : "sha384";
    return op + std::string(hash) + ":" + std::to_string(bytes);
  }

  const Bytes key;
  test::Krb5Client whole;
  Trio trio;
  std::unique_ptr<Rep3> rep3[3];
  std::unique_ptr<Rep3Protocol> shared[3];
  KeyRecord record[3];
  std::optional<WholeKinds> kinds;
  std::size_t at_work_before = 0;
  std::uint32_t use = kUsage;
  bool only_shared = false;
  const InstallationId installation{};
  const Bytes nothing;

  Task<void> until_answered(tkdc_wire_op op, const std::array<SharedBytes, 3>& input, int p,
                            JobOutcome& out, bool& ended) {
    co_await keep(op, input, p, out);
    ended = true;
  }

 private:
  Task<void> keep(tkdc_wire_op op, const std::array<SharedBytes, 3>& input, int p,
                  JobOutcome& out) {
    NonceCoordinates at;
    at.number = jobs_[p];
    JobContext context{*shared[p], installation, record[p], at, 0, use, nothing};

    std::size_t at_work = at_work_before;
    GarbledLane garbled{trio.side(p), *kinds, at_work};
    threegarble::JobTag tag;
    tag.job = ++jobs_[p];
    if (only_shared) {
      out = co_await run_operation(context, op, input[static_cast<std::size_t>(p)]);
      co_await shared[p]->verified();
      co_return;
    }
    out = co_await run_garbled_or_shared(context, garbled, op, tag,
                                         input[static_cast<std::size_t>(p)]);
    co_await shared[p]->verified();
  }
  std::uint64_t jobs_[3]{};
};

// m1, m2, m3; one more where a check's octet is opened.
constexpr std::uint64_t kTicks = 3, kTicksThatOpen = 4;

TEST_P(Garbled, OpensWhatLibkrb5Seals) {
  const Bytes plain = random_octets(32);
  Bytes sealed = whole.seal(kUsage, plain);
  fill({{name("open", sealed.size()), 2}});
  Ran ran = run(TKDC_OP_OPEN, sealed);
  EXPECT_EQ(ran.status, TKDC_STATUS_OK);
  EXPECT_EQ(ran.output, plain);
  EXPECT_LE(ran.ticks, kTicksThatOpen);
  const std::uint64_t garbled = ran.ticks;
  // Another one that is changed; its octets stay with the servers.
  sealed[20] ^= 1;
  ran = run(TKDC_OP_OPEN, sealed);
  EXPECT_EQ(ran.status, TKDC_STATUS_INTEGRITY);
  EXPECT_TRUE(ran.output.empty());
  EXPECT_EQ(ready(), 0u);
  // None is left: by sharing, with the same result.
  sealed[20] ^= 1;
  ran = run(TKDC_OP_OPEN, sealed);
  EXPECT_EQ(ran.status, TKDC_STATUS_OK);
  EXPECT_EQ(ran.output, plain);
  EXPECT_GT(ran.ticks, 20 * garbled);
  RecordProperty("ticks_garbled", static_cast<int>(garbled));
  RecordProperty("ticks_shared", static_cast<int>(ran.ticks));
  std::printf("OPEN of enctype %u: %d ticks garbled, %d shared\n", GetParam(),
              static_cast<int>(garbled), static_cast<int>(ran.ticks));
}

TEST_P(Garbled, SealsWhatLibkrb5Opens) {
  const Bytes plain = random_octets(20);
  fill({{name("seal", plain.size()), 2}});
  const Ran first = run(TKDC_OP_SEAL, plain), second = run(TKDC_OP_SEAL, plain);
  for (const Ran& ran : {first, second}) {
    EXPECT_EQ(ran.status, TKDC_STATUS_OK);
    EXPECT_EQ(whole.open(kUsage, ran.output), plain);
    EXPECT_LE(ran.ticks, kTicks);
  }
  EXPECT_NE(first.output, second.output);  // confounders are drawn anew
  EXPECT_EQ(ready(), 0u);
}

TEST_P(Garbled, MakesAndVerifiesLibkrb5sChecksums) {
  const Bytes data = random_octets(40), sum = whole.checksum(kUsage, data);
  fill({{sum_name("mac-", data.size()), 1}, {sum_name("verify-", data.size()), 2}});
  const Ran made = run(TKDC_OP_MAC, data);
  EXPECT_EQ(made.output, sum);
  EXPECT_LE(made.ticks, kTicks);
  Bytes both = data;
  both.insert(both.end(), sum.begin(), sum.end());
  EXPECT_EQ(run(TKDC_OP_VERIFY, both).status, TKDC_STATUS_OK);
  both.back() ^= 0x80;
  EXPECT_EQ(run(TKDC_OP_VERIFY, both).status, TKDC_STATUS_INTEGRITY);
  EXPECT_EQ(trio.side(2).reserve().counts(1).ready, 0u);
}

// Lengths, operations and forms that nothing garbles.
TEST_P(Garbled, OthersAreShared) {
  fill({{sum_name("mac-", 4), 1}});
  EXPECT_EQ(run(TKDC_OP_MAC, Bytes(5, 1)).output, whole.checksum(kUsage, Bytes(5, 1)));
  EXPECT_EQ(ready(), 1u);
  // Packets that are full of other jobs' messages.
  at_work_before = kMostAtWork;
  EXPECT_EQ(run(TKDC_OP_MAC, Bytes(4, 1)).output, whole.checksum(kUsage, Bytes(4, 1)));
  EXPECT_EQ(ready(), 1u);
  at_work_before = 0;
  const KeyRecord& one = record[0];
  EXPECT_FALSE(whole_of(one, TKDC_OP_OPEN, kUsage, 27));
  EXPECT_FALSE(whole_of(one, TKDC_OP_VERIFY, kUsage, 11));
  EXPECT_FALSE(whole_of(one, TKDC_OP_SEAL, kUsage + 1, 40));
  EXPECT_FALSE(whole_of(one, TKDC_OP_EQUAL, kUsage, 40));
  EXPECT_FALSE(WholeKinds::of({{"no-such-circuit", 1}}).ok());
  EXPECT_FALSE(WholeKinds::of({{"mac-sha1:4", 1}, {"mac-sha1:4", 2}}).ok());
  EXPECT_FALSE(WholeKinds::of({{"open18:100000", 1}}).ok());
}

// A krbtgt key of the own form, with the lane's protocols and reserve.
class GarbledTickets : public Garbled {
 protected:
  GarbledTickets() {
    const auto keys = [&](const char* rk, const char* h) {
      const Bytes fresh = random_octets(key.size());
      std::array<SharedBytes, 3> schedule = trio.lanes.share(expanded(fresh)), powers;
      auto ran = trio.lanes.run([&](int p) {
        const auto at = static_cast<std::size_t>(p);
        return store(gcm_powers(*shared[at], schedule[at]), powers[at]);
      });
      EXPECT_TRUE(ran.ok());
      for (std::size_t p = 0; p < 3; ++p) {
        record[p].form = KeyForm::kGcm;
        record[p].fields[rk] = schedule[p];
        record[p].fields[h] = powers[p];
      }
    };
    keys("gcm.rk", "gcm.h");
    keys("sign.rk", "sign.h");
  }
  static Bytes expanded(const Bytes& key) {
    const SecretVector out =
        compute_clear(key.size() == 16 ? Unit::kAesExpand128 : Unit::kAesExpand256, {},
                      SecretVector(key.begin(), key.end()));
    return {out.begin(), out.end()};
  }
  std::string circuit(tkdc_wire_op op, std::size_t input_bytes) const {
    const std::uint32_t its =
        op == TKDC_OP_SEAL || op == TKDC_OP_OPEN ? usage::kTicket : usage::kPacSignature;
    return circuit_of(record[0], op, its, input_bytes).value_or("none");
  }
  std::uint64_t taken() {
    std::uint64_t all = 0;
    threegarble::Reserve& reserve = trio.side(0).reserve();
    for (std::size_t kind = 0; kind < reserve.kinds(); ++kind) all += reserve.counts(kind).taken;
    return all;
  }
};

// m1 to m3, and what each is opened for: the ciphertext; the ticket and the tag's octet.
constexpr std::uint64_t kSealTicks = 5, kOpenTicks = 6;

TEST_P(GarbledTickets, OpenWhatSharingSealsAndTheOtherWayRound) {
  constexpr std::size_t kLengths[] = {0, 1, 128, 129, 250};
  const std::size_t overhead = tkdc_enctype_of(GetParam())->overhead_bytes;
  use = usage::kTicket;
  fill({{circuit(TKDC_OP_SEAL, 0), 3},
        {circuit(TKDC_OP_SEAL, 129), 2},
        {circuit(TKDC_OP_OPEN, overhead), 12},
        {circuit(TKDC_OP_OPEN, overhead + 129), 8}});
  Bytes last;
  for (const std::size_t bytes : kLengths) {
    const Bytes plain = random_octets(bytes);
    const Ran shared_one = run_shared(TKDC_OP_SEAL, plain), garbled = run(TKDC_OP_SEAL, plain);
    EXPECT_EQ(garbled.status, TKDC_STATUS_OK);
    EXPECT_EQ(garbled.output.size(), bytes + overhead);
    EXPECT_LE(garbled.ticks, kSealTicks);
    for (const Bytes& ticket : {shared_one.output, garbled.output}) {
      const Ran opened = run(TKDC_OP_OPEN, ticket);
      EXPECT_EQ(opened.status, TKDC_STATUS_OK);
      EXPECT_EQ(opened.output, plain);
      EXPECT_LE(opened.ticks, kOpenTicks);
    }
    EXPECT_EQ(run_shared(TKDC_OP_OPEN, garbled.output).output, plain);
    // The ciphertext's first bit, or the tag's, and the tag's last; nothing of them is answered.
    for (const std::size_t at : {std::size_t{12}, 12 + bytes + 15}) {
      Bytes forged = garbled.output;
      forged[at] ^= 0x40;
      const Ran refused = run(TKDC_OP_OPEN, forged);
      EXPECT_EQ(refused.status, TKDC_STATUS_INTEGRITY);
      EXPECT_TRUE(refused.output.empty());
      EXPECT_LE(refused.ticks, kOpenTicks);
    }
    last = garbled.output;
  }
  EXPECT_EQ(taken(), 25u);
  // None is left: by sharing, with the same result.
  const Ran again = run(TKDC_OP_OPEN, last);
  EXPECT_EQ(again.status, TKDC_STATUS_OK);
  EXPECT_GT(again.ticks, 4 * kOpenTicks);
}

TEST_P(GarbledTickets, SignAsSharingDoes) {
  use = usage::kPacSignature;
  const std::size_t sum_bytes = tkdc_enctype_of(GetParam())->checksum_bytes;
  fill({{circuit(TKDC_OP_MAC, 0), 3}, {circuit(TKDC_OP_VERIFY, sum_bytes), 9}});
  for (const std::size_t bytes : {0u, 100u, 1100u}) {
    const Bytes data = random_octets(bytes);
    const Ran shared_one = run_shared(TKDC_OP_MAC, data), garbled = run(TKDC_OP_MAC, data);
    EXPECT_EQ(garbled.status, TKDC_STATUS_OK);
    EXPECT_EQ(garbled.output, shared_one.output);
    EXPECT_LT(2 * garbled.ticks, shared_one.ticks);
    Bytes both = data;
    both.insert(both.end(), garbled.output.begin(), garbled.output.end());
    EXPECT_EQ(run(TKDC_OP_VERIFY, both).status, TKDC_STATUS_OK);
    // The last octet of enctype 20 is a zero behind the signature.
    for (const std::size_t at : {both.size() - 1, both.size() - sum_bytes}) {
      Bytes other = both;
      other[at] ^= 1;
      EXPECT_EQ(run(TKDC_OP_VERIFY, other).status, TKDC_STATUS_INTEGRITY) << at;
    }
    std::printf("MAC of %zu octets, own form, enctype %u: %d ticks garbled, %d shared\n", bytes,
                GetParam(), static_cast<int>(garbled.ticks), static_cast<int>(shared_one.ticks));
  }
  EXPECT_EQ(taken(), 12u);
}

// A party that adds an error to GHASH's layer, whose claim is checked while m1 to m3 travel: found
// by every party that is honest, whatever the signature is, and nobody gets a result.
TEST_P(GarbledTickets, ALayerThatIsWrongIsFoundBeforeAnythingIsAnswered) {
  use = usage::kPacSignature;
  const std::size_t sum_bytes = tkdc_enctype_of(GetParam())->checksum_bytes;
  fill({{circuit(TKDC_OP_MAC, 0), 2}, {circuit(TKDC_OP_VERIFY, sum_bytes), 2}});
  const Bytes data = random_octets(40);
  Bytes both = data;
  const Ran honest = run(TKDC_OP_MAC, data);
  both.insert(both.end(), honest.output.begin(), honest.output.end());
  ASSERT_EQ(run(TKDC_OP_VERIFY, both).status, TKDC_STATUS_OK);
  constexpr std::size_t kLiar = 1;
  record[kLiar].fields["sign.h"].component[0][5] ^= 0x20;
  const auto input = trio.lanes.share(GetParam() % 2 == 0 ? data : both);
  JobOutcome outcomes[3];
  std::array<bool, 3> ended{};
  auto ran = trio.lanes.run([&](int p) {
    return until_answered(GetParam() % 2 == 0 ? TKDC_OP_MAC : TKDC_OP_VERIFY, input, p, outcomes[p],
                          ended[static_cast<std::size_t>(p)]);
  });
  EXPECT_FALSE(ran.ok());
  EXPECT_EQ(taken(), 3u) << "by sharing";
  for (std::size_t p = 0; p < 3; ++p) EXPECT_FALSE(ended[p]) << p;
}

// Tickets whose lengths are near each other have one kind; those that are too long have none.
TEST_P(GarbledTickets, KindsAreOfLengths) {
  const std::string bits = std::to_string(8 * key.size());
  EXPECT_EQ(circuit(TKDC_OP_SEAL, 0), "gcm-stream" + bits + ":8");
  EXPECT_EQ(circuit(TKDC_OP_SEAL, 128), "gcm-stream" + bits + ":8");
  EXPECT_EQ(circuit(TKDC_OP_SEAL, 129), "gcm-stream" + bits + ":16");
  EXPECT_EQ(circuit(TKDC_OP_SEAL, 2048), "gcm-stream" + bits + ":128");
  EXPECT_EQ(circuit(TKDC_OP_SEAL, 2049), "none");
  EXPECT_EQ(circuit(TKDC_OP_OPEN, 27), "none");
  EXPECT_EQ(circuit(TKDC_OP_MAC, 5000), "aes" + bits);
  EXPECT_FALSE(circuit_of(record[0], TKDC_OP_EQUAL, usage::kTicket, 40));
  EXPECT_FALSE(circuit_of(record[0], TKDC_OP_SEAL, kUsage + 1, 40)) << "no such keys";
}

constexpr std::size_t kMib = std::size_t{1} << 20;

// One layout for all lanes that ask at the same time, and for those that ask when all have ended.
TEST(WholeShapes, AreLaidOutOnce) {
  WholeShapes shapes(64 * kMib);
  constexpr std::size_t kLanes = 4;
  std::array<WholeKinds::ShapePtr, kLanes> got;
  std::vector<std::thread> threads;
  for (auto& one : got)
    threads.emplace_back([&] {
      auto shape = shapes.get("aes256");
      ASSERT_TRUE(shape.ok());
      one = *shape;
    });
  for (auto& thread : threads) thread.join();
  for (const auto& one : got) EXPECT_EQ(one, got[0]);
  EXPECT_EQ(*shapes.get("aes256"), got[0]);
  got = {};
  ASSERT_TRUE(shapes.get("aes256").ok());
  EXPECT_EQ(shapes.times(), 1u);
  EXPECT_FALSE(shapes.get("no-such-circuit").ok());
  EXPECT_FALSE(shapes.get("no-such-circuit").ok()) << "who asks again does not wait";
  EXPECT_EQ(shapes.times(), 1u);
}

// Those that nobody has go, who was asked for longest ago first; what a lane has stays.
TEST(WholeShapes, AreKeptWithinABound) {
  const std::size_t aes128 = (*WholeKinds::shape_of("aes128"))->layout_bytes(),
                    middle = (*WholeKinds::shape_of("aes256-encrypt"))->layout_bytes(),
                    aes256 = (*WholeKinds::shape_of("aes256"))->layout_bytes();
  WholeShapes shapes(aes128 + middle + aes256 - 1);
  const auto kept = *shapes.get("aes128");
  ASSERT_TRUE(shapes.get("aes256-encrypt").ok());
  ASSERT_TRUE(shapes.get("aes256").ok());
  EXPECT_EQ(shapes.laid_out(), (std::vector<std::string>{"aes128", "aes256"}));
  EXPECT_EQ(*shapes.get("aes128"), kept);
  ASSERT_TRUE(shapes.get("aes256-encrypt").ok());
  EXPECT_EQ(shapes.laid_out(), (std::vector<std::string>{"aes128", "aes256-encrypt"}));
  EXPECT_EQ(shapes.times(), 4u);
  // One that is too long is refused by its count of gates, before anything is recorded.
  WholeShapes small(aes256);
  const auto refused = small.get("aes256");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("data.garbled_mb"), std::string::npos);
  EXPECT_EQ(small.unfit().size(), 1u);
  EXPECT_TRUE(small.get("aes-sbox").ok());
}

INSTANTIATE_TEST_SUITE_P(Enctypes, GarbledTickets, testing::Values(17u, 18u, 19u, 20u));
INSTANTIATE_TEST_SUITE_P(Enctypes, Garbled, testing::Values(17u, 18u, 19u, 20u));

}  // namespace
}  // namespace tkdc
