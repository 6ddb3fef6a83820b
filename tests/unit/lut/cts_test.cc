// SPDX-License-Identifier: Apache-2.0
// AES decryption and ciphertext stealing on labels: against FIPS 197 and OpenSSL, by tables of 256
// entries and by norms; the inverse S-box by norms, every octet.
#include "lut/cts.h"

#include "lut/cts_reference.h"
#include "lut/lut_parties.h"
#include "lut/norm_tables.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

// FIPS 197, figure 14.
TEST(LutCts, TheInverseSboxUndoesTheSbox) {
  for (unsigned x = 0; x < kPlaces; ++x) EXPECT_EQ(aes_inverse_sbox()[aes_sbox()[x]], x);
  EXPECT_EQ(aes_inverse_sbox()[0], 0x52);
}

TEST(LutNormTables, EveryOctetIsTheInverseSboxsUnderItsMac) {
  Looked looked;
  const Outcome outcome = look_up_all(NormTables::make_inverse, kPlaces, looked);
  ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  looked.expect_right(kPlaces, aes_inverse_sbox());
}

TEST(LutNormTables, EveryOnlineMessageOfTheInverseChangedEndsIt) {
  constexpr std::size_t kFew = 5;
  Looked honest;
  const Outcome outcome = look_up_all(NormTables::make_inverse, kFew, honest);
  ASSERT_TRUE(outcome.ok());
  for (const int cheat : {0, 1})
    for (std::uint64_t at = 0; at < 3 * kFew; at += 4) {
      Looked looked;
      const Outcome ended = look_up_all(NormTables::make_inverse, kFew, looked, cheat,
                                        {honest.online_at[cheat] + at, 0x20});
      EXPECT_TRUE(ended.error[1 - cheat]) << cheat << " " << at;
    }
}

// A substitution that is in the clear: parties' labels of public octets, with no message. The
// layers between S-boxes are then tested by themselves.
struct Clear {
  Label part{1, 0};
  Substitute by(const Table& table) const {
    return [this, &table](std::span<Label> octets) -> Result<void> {
      for (Label& one : octets) one = times(part, table[one.low & 0xff]);
      return {};
    };
  }
  Labels labels(const Bytes& octets) const {
    Labels out;
    for (const std::uint8_t octet : octets) out.push_back(times(part, octet));
    return out;
  }
  static Bytes octets(std::span<const Label> labels) {
    Bytes out;
    for (const Label& one : labels) out.push_back(static_cast<std::uint8_t>(one.low));
    return out;
  }
  Labels round_keys(const Bytes& key) const {
    auto keys = schedule_of(labels(key), by(aes_sbox()), [&](Label& octet, std::uint8_t constant) {
      octet = octet ^ times(part, constant);
    });
    return *keys;
  }
};

TEST(LutCts, DecryptsWhatFips197Has) {
  const Clear clear;
  for (const auto& [key, sealed] :
       {std::pair("000102030405060708090a0b0c0d0e0f", "69c4e0d86a7b0430d8cdb78070b4c55a"),
        std::pair("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
                  "8ea2b7ca516745bfeafc49904b496089")}) {
    Labels blocks = clear.labels(octets_of(std::string_view(sealed)));
    ASSERT_TRUE(decrypt(clear.by(aes_inverse_sbox()),
                        clear.round_keys(octets_of(std::string_view(key))), blocks)
                    .ok());
    EXPECT_EQ(Clear::octets(blocks), octets_of("00112233445566778899aabbccddeeff"));
  }
}

TEST(LutCts, EveryLengthAsOpenssl) {
  const Clear clear;
  std::mt19937_64 generator(3);
  for (const std::size_t key_octets : {16, 32})
    for (std::size_t octets = 16; octets < 83; ++octets) {
      const Bytes key = random_octets(generator, key_octets),
                  plain = random_octets(generator, octets), sealed = openssl_cts(key, plain);
      const Labels keys = clear.round_keys(key);
      auto made = cts_encrypt(clear.by(aes_sbox()), keys, clear.labels(plain));
      ASSERT_TRUE(made.ok());
      EXPECT_EQ(Clear::octets(*made), sealed) << octets;
      auto back = cts_decrypt(clear.by(aes_inverse_sbox()), keys, clear.labels(sealed));
      ASSERT_TRUE(back.ok());
      EXPECT_EQ(Clear::octets(*back), plain) << octets;
    }
}

TEST(LutCts, LessThanABlockAndOtherRoundKeysAreRefused) {
  const Substitute never = [](std::span<Label>) -> Result<void> { return fail("was called"); };
  const Labels keys(176), other(177);
  for (const std::size_t octets : {0, 1, 15}) {
    EXPECT_NE(cts_encrypt(never, keys, Labels(octets)).error().message.find("takes 16 and more"),
              std::string::npos);
    EXPECT_NE(cts_decrypt(never, keys, Labels(octets)).error().message.find("takes 16 and more"),
              std::string::npos);
  }
  EXPECT_NE(cts_decrypt(never, other, Labels(16)).error().message.find("AES has 176 or 240"),
            std::string::npos);
}

}  // namespace
}  // namespace tkdc::lut
