// SPDX-License-Identifier: Apache-2.0
// What AES-GCM computes by AES, as circuits: the specification's test cases, and OpenSSL's AES on
// random values, for as many blocks as a ticket has.
#include "circuits/gcm.h"

#include "circuit_values.h"

namespace tkdc::circuit {
namespace {

Bytes aes_of(const Bytes& key, const Bytes& blocks) {
  const Bytes keys =
      in_clear(key.size() == 16 ? Unit::kAesExpand128 : Unit::kAesExpand256, {}, key);
  return in_clear(Unit::kAesEncrypt, keys, blocks);
}

// J0 and the counters behind it (SP 800-38D, section 7.1).
Bytes counters(const Bytes& nonce, std::size_t blocks) {
  Bytes out;
  for (std::size_t k = 1; k <= blocks + 1; ++k) {
    out.insert(out.end(), nonce.begin(), nonce.end());
    for (int shift = 24; shift >= 0; shift -= 8)
      out.push_back(static_cast<std::uint8_t>(k >> shift));
  }
  return out;
}

// Laid out once, for many values.
class Laid {
 public:
  Laid(const char* what, const Bytes& key, std::size_t size)
      : schedule_(schedule_of(
            circuit_named(what + std::to_string(8 * key.size()) + ":" + std::to_string(size)))) {}
  Bytes run(std::initializer_list<Bytes> inputs) const {
    std::vector<SecretSlices> slices;
    for (const Bytes& one : inputs) slices.push_back(slices_of(ByteSpan(one)));
    Bytes out;
    for (const SecretSlices& value : evaluate(schedule_, slices)) {
      const Bytes one = bytes_of(value, 0);
      out.insert(out.end(), one.begin(), one.end());
    }
    return out;
  }

 private:
  Schedule schedule_;
};

Bytes first(const Bytes& octets, std::size_t bytes) {
  return {octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(bytes)};
}
Bytes behind(const Bytes& octets, std::size_t bytes) {
  return {octets.begin() + static_cast<std::ptrdiff_t>(bytes), octets.end()};
}

// McGrew and Viega, "The Galois/Counter Mode of Operation": of test cases 1 and 13 the tags, which
// are E(K, Y0) where nothing is hashed; of 2 and 14 the ciphertexts of zeros.
TEST(GcmCircuit, SpecificationTestCases) {
  const Bytes nonce(12, 0);
  EXPECT_EQ(to_hex(run_named("gcm-stream128:1", {Bytes(16, 0), nonce})),
            "58e2fccefa7e3061367f1d57a4e7455a0388dace60b6a392f328c2b971b2fe78");
  EXPECT_EQ(to_hex(run_named("gcm-stream256:1", {Bytes(32, 0), nonce})),
            "530f8afbc74536b9a963b4f1c4cb738bcea7403d4d606b6e074ec5d3baf39d18");
}

TEST(GcmCircuit, StreamsAsOpensslsAes) {
  for (const std::size_t key_bytes : {16u, 32u})
    for (const std::size_t blocks : {1u, 2u, 9u, 40u}) {
      const Bytes key = random_octets(key_bytes), nonce = random_octets(12);
      EXPECT_EQ(Laid("gcm-stream", key, blocks).run({key, nonce}),
                aes_of(key, counters(nonce, blocks)))
          << key_bytes << " " << blocks;
    }
}

TEST(GcmCircuit, LetsTheKeystreamThroughIfTheMaskIsRight) {
  for (const std::size_t key_bytes : {16u, 32u}) {
    constexpr std::size_t kBlocks = 3;
    const Bytes key = random_octets(key_bytes), nonce = random_octets(12);
    const Bytes all = aes_of(key, counters(nonce, kBlocks)), stream = behind(all, 16);
    const Laid open("gcm-open", key, kBlocks);
    Bytes mask = first(all, 16), right{1}, wrong(1 + stream.size(), 0);
    right.insert(right.end(), stream.begin(), stream.end());
    EXPECT_EQ(open.run({key, nonce, mask}), right);
    for (std::size_t bit = 0; bit < 128; ++bit) {
      Bytes other = mask;
      other[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
      ASSERT_EQ(open.run({key, nonce, other}), wrong) << bit;
    }
  }
}

// Cut for enctypes 17 and 18, whole for 19, filled up with zeros for 20.
TEST(GcmCircuit, VerifiesSignatures) {
  for (const std::size_t key_bytes : {16u, 32u})
    for (const std::size_t bytes : {12u, 16u, 24u}) {
      const Bytes key = random_octets(key_bytes), hash = random_octets(16);
      Bytes signature = aes_of(key, hash);
      signature.resize(bytes, 0);
      const Laid verify("gcm-verify", key, bytes);
      EXPECT_EQ(verify.run({key, hash, signature}), Bytes{1});
      for (std::size_t bit = 0; bit < 8 * bytes; ++bit) {
        Bytes other = signature;
        other[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
        ASSERT_EQ(verify.run({key, hash, other}), Bytes{0}) << bytes << " " << bit;
      }
    }
}

}  // namespace
}  // namespace tkdc::circuit
