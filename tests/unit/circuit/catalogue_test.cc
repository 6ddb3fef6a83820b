// SPDX-License-Identifier: Apache-2.0
// The catalogue: every context agrees on every body, exact counts, and names that are refused.
#include "circuits/catalogue.h"

#include "circuit/linear_form.h"
#include "random_circuit.h"

namespace tkdc::circuits {
namespace {

using circuit::Bits;
using circuit::GateCounts;
using circuit::Plain;
using circuit::SecretSlices;

// Plain, the recorded circuit and its schedule, on 64 random instances.
void expect_contexts_agree(const Chosen& chosen) {
  std::mt19937_64 generator(31);
  const circuit::Circuit recorded = record(chosen);
  ASSERT_TRUE(is_sound(recorded));
  std::vector<SecretSlices> inputs;
  Bits<Plain> flat;
  for (const circuit::Port& port : recorded.inputs) {
    const Bits<Plain> one = circuit::random_slices(generator, port.bits);
    inputs.emplace_back(one.begin(), one.end());
    flat.insert(flat.end(), one.begin(), one.end());
  }
  Plain plain(inputs);
  chosen.named->compute(plain, chosen.size);
  Bits<Plain> expected;
  for (const SecretSlices& one : plain.outputs())
    expected.insert(expected.end(), one.begin(), one.end());
  Plain c;
  EXPECT_EQ(apply(c, recorded, circuit::BitSpan<Plain>(flat)), expected) << chosen.named->name;
  const auto evaluated = evaluate(schedule_of(recorded), inputs);
  EXPECT_TRUE(evaluated == plain.outputs()) << chosen.named->name;
}

TEST(Catalogue, AllContextsAgree) {
  for (const Named& named : catalogue()) {
    expect_contexts_agree({&named, named.usual});
    if (named.least < named.usual) expect_contexts_agree({&named, named.least});
    if (named.unit == "octets") expect_contexts_agree({&named, named.least + 1});
  }
}

TEST(Catalogue, TheCounterSeesAtLeastWhatIsRecorded) {
  for (const Named& named : catalogue()) {
    circuit::Counter counter;
    named.count(counter, named.usual);
    const GateCounts counted = counter.counts(),
                     recorded = counts_of(record({&named, named.usual}));
    EXPECT_GE(counted.ands, recorded.ands) << named.name;
    EXPECT_GE(counted.xors, recorded.xors) << named.name;
    EXPECT_GE(counted.and_depth, recorded.and_depth) << named.name;
  }
}

TEST(Catalogue, NoCircuitHasMoreAndsThanArePublished) {
  std::size_t compared = 0;
  for (const Named& named : catalogue()) {
    if (named.published_ands == 0) continue;
    EXPECT_LE(counts_of(record({&named, named.usual})).ands, named.published_ands) << named.name;
    EXPECT_FALSE(named.published.empty());
    ++compared;
  }
  EXPECT_EQ(compared, 14u);
}

struct Count {
  const char* name;
  std::uint64_t ands, xors;
  std::uint32_t depth;
};

// docs/protocols/18-circuits.md has these numbers too.
constexpr Count kCounts[] = {
    {"aes-sbox", 32, 93, 5},
    {"aes-inverse-sbox", 32, 98, 5},
    {"aes128-encrypt", 5120, 20176, 50},
    {"aes128-decrypt", 5120, 23208, 50},
    {"aes256-encrypt", 7168, 28368, 70},
    {"aes256-decrypt", 7168, 32712, 70},
    {"aes128-expand", 1280, 5000, 50},
    {"aes256-expand", 1664, 6500, 65},
    {"aes128", 6400, 25176, 50},
    {"aes256", 8832, 34868, 70},
    {"cts128-encrypt", 20480, 81216, 200},
    {"cts128-decrypt", 20480, 93344, 50},
    {"cts256-encrypt", 28672, 113984, 280},
    {"cts256-decrypt", 28672, 131360, 70},
    {"sha1", 10955, 45439, 2165},
    {"sha256", 22271, 92401, 1607},
    {"sha512", 57572, 239322, 3303},
    {"sha1-shallow", 21155, 50594, 567},
    {"sha256-shallow", 51916, 104388, 808},
    {"sha512-shallow", 154132, 279700, 1209},
    {"hmac-sha1", 21910, 89033, 4298},
    {"hmac-sha256", 44272, 181580, 3182},
    {"hmac-sha384", 114127, 469740, 6542},
    {"open-if-equal", 575, 96, 8},
    {"less-than", 64, 189, 64},
    {"add64", 63, 251, 63},
    {"add64-shallow", 373, 313, 7},
    {"open17", 38839, 163031, 4405},
    {"open18", 45367, 193043, 4440},
    {"open19", 73782, 296891, 4790},
    {"open20", 129375, 532284, 6551},
    {"seal17", 153988, 617910, 12938},
    {"seal18", 189188, 758674, 12938},
    {"seal19", 221071, 895723, 9582},
    {"seal20", 351174, 1426851, 13102},
    {"seal-head17", 99275, 395423, 2165},
    {"seal-head18", 134475, 536187, 2165},
    {"mac-sha1", 32803, 123042, 6458},
    {"mac-sha256", 61972, 246150, 4782},
    {"mac-sha384", 113367, 462274, 6542},
    {"mac-tail-sha1", 10893, 43348, 2165},
    {"verify-sha1", 32898, 123138, 6465},
    {"verify-sha256", 62099, 246278, 4789},
    {"verify-sha384", 113558, 462466, 6550},
    {"prf17", 22197, 87324, 2213},
    {"prf18", 33845, 133576, 2233},
    {"prf19", 43728, 176678, 3182},
    {"prf20", 112760, 458891, 6542},
    {"gcm-stream128", 40292, 160241, 50},
    {"gcm-stream256", 59213, 235785, 70},
    {"gcm-open128", 41443, 160369, 58},
    {"gcm-open256", 60364, 235913, 78},
    {"gcm-verify128", 6367, 24712, 57},
    {"gcm-verify256", 8799, 34404, 77},
};

TEST(Catalogue, Counts) {
  ASSERT_EQ(std::size(kCounts), catalogue().size());
  for (const Count& expected : kCounts) {
    const auto chosen = find_named(expected.name);
    ASSERT_TRUE(chosen.ok()) << expected.name;
    const GateCounts counts = counts_of(record(*chosen));
    EXPECT_EQ(counts.ands, expected.ands) << expected.name;
    EXPECT_EQ(counts.xors, expected.xors) << expected.name;
    EXPECT_EQ(counts.and_depth, expected.depth) << expected.name;
  }
}

// A garbler would give its secret away: docs/protocols/19-garbling.md.
TEST(Catalogue, NoAndHasAConstantOperand) {
  for (const Named& named : catalogue()) {
    EXPECT_EQ(ands_of_constants(record({&named, named.usual})), 0u) << named.name;
    EXPECT_EQ(ands_of_constants(record({&named, named.least})), 0u) << named.name;
  }
}

// A body has such ANDs where padding and lengths cancel; what is recorded has none, and is still
// the same function (threegarble/enctype_test.cc).
TEST(Catalogue, ABodyAtALengthWithConstantOperands) {
  const Named& named = *find_named("prf20")->named;
  circuit::Recorder body;
  named.record(body, 1);
  EXPECT_GT(ands_of_constants(body.finish()), 0u);
  EXPECT_EQ(ands_of_constants(record({&named, 1})), 0u);
}

// Seen through three levels of XORs, where folding sees one.
TEST(Catalogue, AConstantOperandWouldBeSeen) {
  circuit::Recorder c;
  const auto in = c.input("in", 5);
  const auto some = c.xor_of(c.xor_of(in[0], in[1]), in[2]);
  const auto same = c.xor_of(c.xor_of(in[2], in[1]), in[0]);
  for (const auto& bit : {c.xor_of(some, same), c.not_of(c.xor_of(some, same)), some}) {
    circuit::Recorder fresh = c;
    const auto both = fresh.and_of(bit, fresh.xor_of(in[3], in[4]));
    fresh.output("out", circuit::BitSpan<circuit::Recorder>(&both, 1));
    const circuit::Circuit circuit = fresh.finish();
    EXPECT_EQ(ands_of_constants(circuit), bit == some ? 0u : 1u);
    const circuit::Circuit without = without_constant_operands(circuit);
    EXPECT_EQ(ands_of_constants(without), 0u);
    EXPECT_EQ(counts_of(without).ands, bit == some ? 1u : 0u);
    std::mt19937_64 generator(3);
    const circuit::Bits<circuit::Plain> values = circuit::random_slices(generator, 5);
    circuit::Plain plain;
    const circuit::BitSpan<circuit::Plain> inputs(values);
    EXPECT_EQ(apply(plain, without, inputs), apply(plain, circuit, inputs));
  }
}

TEST(Catalogue, OpensOnlyIfEqual) {
  const Bytes tag = circuit::random_octets(12), value = circuit::random_octets(60);
  Bytes expected{1};
  expected.insert(expected.end(), value.begin(), value.end());
  EXPECT_EQ(circuit::run_named("open-if-equal", {tag, tag, value}), expected);
  for (std::size_t bit = 0; bit < 96; ++bit) {
    Bytes other = tag;
    other[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    ASSERT_EQ(circuit::run_named("open-if-equal", {tag, other, value}), Bytes(61)) << bit;
  }
}

TEST(Catalogue, FindsNamesAndSizes) {
  const auto sized = find_named("cts128-encrypt:17");
  ASSERT_TRUE(sized.ok());
  EXPECT_EQ(sized->size, 17u);
  EXPECT_EQ(find_named("sha1")->size, 1u);
  for (const char* wrong :
       {"", "aes", "sha1:0", "sha1:65", "sha1:", "sha1:1x", "sha1:-1", "sha1:99999999999999999999",
        "aes128-encrypt:1", "cts128-encrypt:15", ":1", "sha1:1:1"})
    EXPECT_FALSE(find_named(wrong).ok()) << wrong;
  EXPECT_EQ(find_named("sha1:65").error().message,
            "circuit sha1 has blocks from 1 to 64, not '65'");
}

}  // namespace
}  // namespace tkdc::circuits
