// SPDX-License-Identifier: Apache-2.0
// Golden transcripts: what each party sends, ahead and with the job, from fixed keys and inputs,
// with each party as evaluator (mpc-engine/threegarble/wire-format.txt). `make golden` writes them
// anew, when other octets are meant.
#include <cstdlib>
#include <fstream>
#include <map>

#include "base/hex.h"
#include "circuits/catalogue.h"
#include "threegarble/three_words.h"
#include "trio.h"

namespace tkdc::threegarble {
namespace {

using Lines = std::map<std::string, std::string>;

class Hash {
 public:
  Hash() { crypto_generichash_init(&state_, nullptr, 0, 32); }
  void add(ByteSpan octets) {
    const std::uint64_t bytes = octets.size();
    crypto_generichash_update(&state_, reinterpret_cast<const std::uint8_t*>(&bytes), 8);
    crypto_generichash_update(&state_, octets.data(), octets.size());
  }
  std::string hex() {
    Digest digest;
    crypto_generichash_final(&state_, digest.data(), digest.size());
    return to_hex(digest);
  }

 private:
  crypto_generichash_state state_;
};

void add_lines(const std::string& name, const Shape& shape, Lines& lines) {
  for (std::uint64_t n = 0; n < 3; ++n) {
    Trio trio(1'234);
    Hash parties[3];
    trio.change_ahead = [&](Ahead& sent) {
      parties[Trio::party_of(Role::kGarblerA, n)].add(sent.from_a);
      parties[Trio::party_of(Role::kGarblerB, n)].add(sent.from_b);
    };
    trio.lanes.record = [&](int p, const SecretVector& prev, const SecretVector& next) {
      parties[p].add(prev);
      parties[p].add(next);
    };
    JobTag tag;
    tag.job = 77 + n;
    tag.attempt = 1;
    tag.mode = 3;
    tag.about.fill(9);
    ASSERT_TRUE(trio.prepare(shape, n));
    const auto inputs = trio.lanes.share(Bytes(shape.in_bytes(), 0x5a));
    ASSERT_TRUE(trio.admit_and_run(shape, {tag, tag, tag}, inputs).ok());
    for (int p = 0; p < 3; ++p)
      lines[name + " evaluator" + std::to_string(n) + " " + std::to_string(p)] = parties[p].hex();
  }
}

// How far each of the three is, in three ticks.
void add_words(Lines& lines) {
  Trio trio(1'234);
  Hash parties[3];
  trio.lanes.record = [&](int p, const SecretVector& prev, const SecretVector& next) {
    parties[p].add(prev);
    parties[p].add(next);
  };
  const auto talk = [&](int p) -> Task<void> {
    ThreeWords words(*trio.lanes.lane[p], {1, 2, 3});
    for (const int word : {0, 1, 1}) co_await words.say(static_cast<std::uint8_t>(word + p));
    EXPECT_TRUE(words.any(3));
  };
  ASSERT_TRUE(trio.lanes.run(talk).ok());
  for (int p = 0; p < 3; ++p) lines["words three-ticks " + std::to_string(p)] = parties[p].hex();
}

TEST(ThreegarbleGolden, Transcripts) {
  Lines now, golden;
  add_words(now);
  add_lines("small", shape_for(small_circuit()), now);
  for (const char* name : {"aes128-encrypt", "open18", "seal19:20", "mac-sha1"})
    add_lines(name, shape_for(circuits::record(*circuits::find_named(name))), now);
  if (std::getenv("TKDC_UPDATE_GOLDEN") != nullptr) {
    std::ofstream out(TKDC_THREEGARBLE_WIRE_FORMAT_FILE);
    for (const auto& [key, hash] : now) out << key << " " << hash << "\n";
    return;
  }
  std::ifstream in(TKDC_THREEGARBLE_WIRE_FORMAT_FILE);
  std::string name, evaluator, party, hash;
  while (in >> name >> evaluator >> party >> hash) {
    std::string key = name;
    key += " " + evaluator;
    key += " " + party;
    golden[key] = hash;
  }
  EXPECT_EQ(now, golden) << "other octets on the wire; `make golden` if meant";
}

}  // namespace
}  // namespace tkdc::threegarble
