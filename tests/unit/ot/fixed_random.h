// SPDX-License-Identifier: Apache-2.0
// What parties send from fixed random numbers, and the file in which its hashes are committed.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

#include "base/secret.h"

namespace tkdc::ot {

// libsodium's random numbers, replaced by a count of each thread: a party's own. A store's nonces
// have a count of theirs: how often it writes changes nothing that is sent. They are told by their
// length alone: whoever else draws exactly 24 octets takes from the store's count, and what is sent
// then depends on how often it has written.
inline thread_local std::uint64_t drawn = 0, drawn_by_store = 0;
inline thread_local std::uint8_t who = 0;
inline void fixed_octets(void* out, const std::size_t bytes) {
  std::uint8_t seed[randombytes_SEEDBYTES] = {who};
  std::uint64_t& count =
      bytes == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES ? drawn_by_store : drawn;
  std::memcpy(seed + 1, &++count, sizeof count);
  std::uint8_t key[crypto_stream_chacha20_KEYBYTES];
  std::memcpy(key, seed, sizeof key);
  const std::uint8_t nonce[crypto_stream_chacha20_NONCEBYTES] = {};
  crypto_stream_chacha20(static_cast<std::uint8_t*>(out), bytes, nonce, key);
}
inline std::uint32_t fixed_word() {
  std::uint32_t out = 0;
  fixed_octets(&out, sizeof out);
  return out;
}
inline const char* fixed_name() { return "fixed"; }

class FixedRandom {
 public:
  FixedRandom() {
    EXPECT_GE(sodium_init(), 0);
    randombytes_set_implementation(&fixed_);
  }
  ~FixedRandom() { randombytes_set_implementation(&randombytes_sysrandom_implementation); }

 private:
  randombytes_implementation fixed_{fixed_name, fixed_word,   nullptr,
                                    nullptr,    fixed_octets, nullptr};
};

// The calling thread is party `number`, from its first random octet on.
inline void begin_fixed(std::uint8_t number) {
  who = number;
  drawn = drawn_by_store = 0;
}

using Hashes = std::map<std::string, std::string>;  // of a name and a party

// Compared with the file; or written, for `make golden`.
inline void compare_golden(const char* path, const Hashes& now) {
  if (std::getenv("TKDC_UPDATE_GOLDEN") != nullptr) {
    std::ofstream out(path);
    for (const auto& [name, hash] : now) out << name << " " << hash << "\n";
    return;
  }
  Hashes golden;
  std::ifstream in(path);
  std::string name, party, hash;
  while (in >> name >> party >> hash) golden[name + " " + party] = hash;
  EXPECT_EQ(golden.size(), now.size()) << "lines of nothing, or none of something";
  for (const auto& [of, expected] : now)
    EXPECT_EQ(golden[of], expected) << of << ": other octets; `make golden` if meant";
}

}  // namespace tkdc::ot
