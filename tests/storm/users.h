// SPDX-License-Identifier: Apache-2.0
// The principals that log in, each with a key: read from a keytab, or derived
// from a pattern and a common password. Derived keys can be written as an
// ordinary keytab, so that a hundred thousand are derived once.
//
// Runs before the first request. Keys are test users' keys.
#pragma once

#include "storm/crypto.h"

namespace tkdc::storm {

constexpr std::size_t kMaxUsers = 10'000'000;

struct User {
  std::string name;  // without the realm, components separated by '/'
  RawKey raw;
  Key key;  // made of `raw` at first use
};

struct Pattern {
  std::string text;  // user%06d; %d, or %0Nd with N up to 9
  std::uint64_t first = 0;
  std::uint64_t count = 1;
  std::string password;
  std::int32_t enctype = ENCTYPE_AES256_CTS_HMAC_SHA1_96;
};

// The pattern's name of one number; an error unless it has exactly one %d.
Result<std::string> pattern_name(const std::string& pattern, std::uint64_t number);

// Salted as MIT does: realm and components, one after the other.
Result<std::vector<User>> derive_users(const Pattern& pattern, const std::string& realm);

// Every principal of `realm`, with its newest key of the strongest enctype
// listed first for that kvno.
Result<std::vector<User>> read_keytab(const std::string& path, const std::string& realm);

// A new file, mode 0600, in the format 0x0502 that all implementations read.
Result<void> write_keytab(const std::string& path, const std::string& realm,
                          const std::vector<User>& users);

// "host/a.test" -> {"host", "a.test"}
std::vector<std::string_view> components(std::string_view name);

}  // namespace tkdc::storm
