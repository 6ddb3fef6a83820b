// SPDX-License-Identifier: Apache-2.0
// The public file by which a server or an agent makes itself known to the other members of an
// installation: `tkdc init` writes it, `tkdc join` reads the others'.
//
//   tkdc-introduction 1              2: of an installation of two servers
//   installation HEX
//   realm EXAMPLE.TEST
//   security malicious               or semi-honest, of three servers
//   servers 2                        of two; of three the line is not there
//   made SECONDS                     Unix time: of two by one member the later one counts
//   host 10.0.1.5                    as the others reach it (tools/setup/host_name.h)
//   curve Z85                        its CURVE public key
//   server 0                         or: agent ROLE NAME, and then identity
//   lanes 2
//   control 7700                     ports
//   data 7710
//   certificate HEX                  SHA-256 of its DER form, which is all that peers go by
//   approver HEX NAME                of its administrator; or: approver none
//   identity HEX                     Ed25519
//   signature HEX                    by it, over all lines before
//
// There is one way to write each; anything else is refused. The signature shows that a file is
// whole and of whom an earlier one was. Whose it is, only people can say: each administrator reads
// the fingerprint of his own file to the others. Nothing in it is secret.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/secret.h"
#include "link/certificate.h"
#include "service/export/approval.h"
#include "service/wire/key_ref.h"
#include "session/security.h"

namespace tkdc::setup {

using IdentityKey = std::array<std::uint8_t, 32>;

struct ServerPart {
  int party = 0;
  int lanes = 2;
  int control_port = 0, data_port = 0;
  tkdc::Fingerprint certificate_sha256{};
  std::optional<Approver> approver;
};

struct AgentPart {
  std::string name;
  std::string role;  // "kdc" or "admin"
};

struct Introduction {
  InstallationId installation{};
  std::string realm;
  Security security = Security::kMalicious;
  int servers = 3;  // that hold the realm's keys
  std::int64_t made_s = 0;
  std::string host;              // canonical
  std::string curve_public_key;  // Z85
  std::variant<ServerPart, AgentPart> part;
  IdentityKey identity{};  // encode() puts that of its seed

  const ServerPart* server() const { return std::get_if<ServerPart>(&part); }
  const AgentPart* agent() const { return std::get_if<AgentPart>(&part); }
  std::string name() const;  // "server0", or the agent's name: of its folder and its file
};

inline constexpr std::size_t kMaxIntroductionBytes = 2048;
inline constexpr std::size_t kSeedBytes = 32;
inline constexpr int kDataPortOffset = 10;  // control: base + party, data: base + 10 + party

bool good_realm(std::string_view realm);
// Of an agent or an approver: it stands in configuration files and in names of files.
bool good_name(std::string_view name);

IdentityKey identity_of(const SecretBuffer& seed);

std::string encode(const Introduction& introduction, const SecretBuffer& seed);
// Error: in which line what is wrong, or that the signature does not hold.
Result<Introduction> decode_introduction(std::string_view text);

// For people to compare, of the whole file: eight groups of four hexadecimal digits.
std::string fingerprint(std::string_view text);
// What somebody typed: the same in capitals, with other gaps or none.
bool is_fingerprint(std::string_view typed, std::string_view text);

}  // namespace tkdc::setup
