// SPDX-License-Identifier: Apache-2.0
// What a realm's administrators and clients know: which keys there are, as far as they were told,
// and what plaintext Kerberos would answer.
//
// Imported keys' values are known here, so answers are compared with libkrb5's; a drawn key's
// answers with what was put in.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/secret.h"
#include "service/wire/key_ref.h"
#include "sim/random.h"
#include "sim/world.h"

namespace tkdc::sim {

struct Key {
  enum class State : std::uint8_t {
    kStaged,  // in the servers' memory, if there
    kUnsure,  // nobody was told how the change ended
    kBound,   // kadmin was told of it
    kGone,    // kadmin was told that it is gone, or was refused
  };
  KeyRef ref;
  std::string principal;
  State state = State::kStaged;
  int known = -1;  // which of known_keys(); -1: drawn
  bool is_user = false;
  bool buried = false;  // kadmin was told that it was removed

  // Of one that is removed, where removed keys are kept (dropped.h).
  bool asked_to_purge = false, purged = false;  // kadmin was told that it was
  std::array<bool, kServers> allowed{};         // to come back, as far as anybody knows
  Us back_since = -1;                           // it was given back then
  bool at_work = false;                         // somebody asks for a change of it
  int changes = 0;

  // Of its own answers.
  struct Ticket {
    SecretVector sealed, plaintext;
  };
  std::vector<Ticket> tickets;
};

struct Model {
  std::vector<std::unique_ptr<Key>> keys;
  // A random one in that state; null: there is none.
  Key* some(Key::State state, bool user);
  Key* krbtgt = nullptr;
  std::uint64_t logins = 0;
  Us last_login = -1;
};

// A value, and what libkrb5 makes of a timestamp with it. Made once, before any run: they do not
// depend on seeds.
struct KnownKey {
  std::uint32_t enctype = 0;
  Bytes value;
  Bytes timestamp, sealed_timestamp;  // usage 1
};
const std::vector<KnownKey>& known_keys(std::uint64_t which);
// What libkrb5 finds in a ciphertext; none: it does not hold.
std::optional<Bytes> open_with_krb5(const KnownKey& key, std::uint32_t usage, ByteSpan sealed);

}  // namespace tkdc::sim
