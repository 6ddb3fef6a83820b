// SPDX-License-Identifier: Apache-2.0
// SHA-1, SHA-2 and HMAC as circuits: FIPS 180-4's examples, RFC 2202 and 4231, and OpenSSL.
#include "protocol/hash.h"
#include "circuit_values.h"

namespace tkdc::circuit {
namespace {

Bytes text(std::string_view letters) { return {letters.begin(), letters.end()}; }

Bytes padded(const HashFunction& hash, Bytes message, std::size_t before = 0) {
  const Bytes padding = hash.padding(message.size(), before);
  message.insert(message.end(), padding.begin(), padding.end());
  return message;
}

Bytes digest_of(const HashFunction& hash, const std::string& name, std::string_view message) {
  const Bytes blocks = padded(hash, text(message)),
              initial(hash.initial().begin(), hash.initial().end());
  Bytes state =
      run_named(name + ":" + std::to_string(blocks.size() / hash.block_bytes), {initial, blocks});
  state.resize(hash.digest_bytes);
  return state;
}

// The examples beside FIPS 180-4.
TEST(HashCircuit, KnowsTheStandardsAnswers) {
  const std::string_view two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  for (const std::string ending : {"", "-shallow"}) {
    EXPECT_EQ(to_hex(digest_of(kSha1, "sha1" + ending, "abc")),
              "a9993e364706816aba3e25717850c26c9cd0d89d");
    EXPECT_EQ(to_hex(digest_of(kSha1, "sha1" + ending, two)),
              "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    EXPECT_EQ(to_hex(digest_of(kSha256, "sha256" + ending, "abc")),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(to_hex(digest_of(kSha256, "sha256" + ending, two)),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(to_hex(digest_of(kSha384, "sha512" + ending, "abc")),
              "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358ba"
              "eca134c825a7");
  }
}

TEST(HashCircuit, CompressesAsOpensslDoesInAllInstances) {
  const std::pair<const char*, const HashFunction*> cases[] = {
      {"sha1", &kSha1},     {"sha1-shallow", &kSha1},
      {"sha256", &kSha256}, {"sha256-shallow", &kSha256},
      {"sha512", &kSha384}, {"sha512-shallow", &kSha384}};
  for (const auto& [name, hash] : cases) {
    const Instances values = random_instances(std::array{hash->state_bytes, hash->block_bytes});
    const auto out = evaluate(schedule_of(circuit_named(name)), slices_of_all(values));
    for (std::size_t k = 0; k < kInstances; ++k)
      ASSERT_EQ(bytes_of(out[0], k), in_clear(hash->blocks, values[0][k], values[1][k])) << name;
  }
}

struct Pads {
  Bytes inner, outer;
};
Pads pads_of(const HashFunction& hash, const Bytes& key) {
  Pads pads;
  for (auto [pad, state] : {std::pair{0x36, &pads.inner}, std::pair{0x5c, &pads.outer}}) {
    Bytes block(hash.block_bytes, static_cast<std::uint8_t>(pad));
    for (std::size_t k = 0; k < key.size(); ++k) block[k] ^= key[k];
    *state = in_clear(hash.blocks, hash.initial(), block);
  }
  return pads;
}

Bytes mac_of(const HashFunction& hash, const std::string& name, const Bytes& key,
             const Bytes& message) {
  const Pads pads = pads_of(hash, key);
  const Bytes blocks = padded(hash, message, hash.block_bytes);
  return run_named(name + ":" + std::to_string(blocks.size() / hash.block_bytes),
                   {pads.inner, pads.outer, blocks});
}

// RFC 2202, section 3, and RFC 4231, section 4.2 and 4.3: test cases 1 and 2.
TEST(HmacCircuit, KnowsTheAnswersOfTheRfcs) {
  const Bytes first(20, 0x0b), second = text("Jefe");
  const Bytes hi = text("Hi There"), what = text("what do ya want for nothing?");
  EXPECT_EQ(to_hex(mac_of(kSha1, "hmac-sha1", first, hi)),
            "b617318655057264e28bc0b6fb378c8ef146be00");
  EXPECT_EQ(to_hex(mac_of(kSha1, "hmac-sha1", second, what)),
            "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
  EXPECT_EQ(to_hex(mac_of(kSha256, "hmac-sha256", first, hi)),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(to_hex(mac_of(kSha256, "hmac-sha256", second, what)),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(
      to_hex(mac_of(kSha384, "hmac-sha384", first, hi)),
      "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59cfaea9ea9076ede7f4af152e8"
      "b2fa9cb6");
}

TEST(HmacCircuit, MakesTheMacsOfThePlaintextReference) {
  for (const auto& [name, hash] :
       {std::pair{"hmac-sha1", &kSha1}, {"hmac-sha256", &kSha256}, {"hmac-sha384", &kSha384}})
    for (const std::size_t bytes : {0u, 130u}) {
      const Bytes key = random_octets(20), message = random_octets(bytes);
      const Pads pads = pads_of(*hash, key);
      Bytes held = pads.inner;
      held.insert(held.end(), pads.outer.begin(), pads.outer.end());
      EXPECT_EQ(mac_of(*hash, name, key, message),
                in_clear(hash->hmac, held, padded(*hash, message, hash->block_bytes)))
          << name << " of " << bytes;
    }
}

}  // namespace
}  // namespace tkdc::circuit
