// SPDX-License-Identifier: Apache-2.0
// AES by tables of shares alone, against OpenSSL's answers in FIPS 197.
#include "lut/shares.h"

#include "lut/lut_parties.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

// FIPS 197, appendices C.1 and C.3: keys 00 01 02 …, one block 00 11 22 …; two of it here.
void expect_known(std::size_t key_octets, std::string_view block) {
  std::string out[2];
  const Outcome outcome = with_dealers([&](PairDealer& dealer, int p) -> Result<void> {
    // Both differ from it in one octet of each, by the same.
    SecretVector key(key_octets), blocks(2 * kBlockOctets);
    for (std::size_t k = 0; k < key.size() && p == 1; ++k) key[k] = static_cast<std::uint8_t>(k);
    for (std::size_t k = 0; k < blocks.size() && p == 1; ++k)
      blocks[k] = static_cast<std::uint8_t>(0x11 * (k % kBlockOctets));
    key[3] ^= 0x5a;
    blocks[5] ^= 0xa5;
    auto tables = ShareTables::make(dealer, aes_sbox(),
                                    schedule_lookups(key_octets) + 2 * block_lookups(key_octets));
    if (!tables) return tables.error();
    auto keys = expand_key_shares(dealer, *tables, key);
    if (!keys) return keys.error();
    if (auto done = encrypt_shares(dealer, *tables, *keys, blocks); !done) return done;
    EXPECT_EQ(tables->left(), 0u);
    if (auto done = dealer.exchange(blocks); !done) return done;
    out[p] = to_hex(blocks);
    return {};
  });
  ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("");
  for (const int p : {0, 1}) EXPECT_EQ(out[p], std::string(block) + std::string(block));
}

TEST(LutShares, KnownAnswers) {
  expect_known(16, "69c4e0d86a7b0430d8cdb78070b4c55a");
  expect_known(32, "8ea2b7ca516745bfeafc49904b496089");
}

TEST(LutShares, OtherRoundKeysAndHalvesOfBlocksAreRefused) {
  const Outcome outcome = with_dealers([&](PairDealer& dealer, int) -> Result<void> {
    auto tables = ShareTables::make(dealer, aes_sbox(), 200);
    if (!tables) return tables.error();
    constexpr std::pair<std::size_t, std::size_t> kWrong[] = {{192, 16}, {0, 16},   {15, 16},
                                                              {16, 16},  {176, 15}, {176, 17}};
    for (const auto& [keys, octets] : kWrong) {
      SecretVector blocks(octets);
      if (encrypt_shares(dealer, *tables, SecretVector(keys), blocks))
        return fail("it took " + std::to_string(keys) + " and " + std::to_string(octets));
      if (tables->left() != 200) return fail("tables served what is to be refused");
    }
    return {};
  });
  EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("");
}

}  // namespace
}  // namespace tkdc::lut
