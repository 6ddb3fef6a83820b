// SPDX-License-Identifier: Apache-2.0
// The request to give a realm's keys back: which keys, to whose public key, until when.
// docs/protocols/11-keys.md, "Giving a realm back".
//
// A text file without secrets, so that whoever approves it can read it:
//
//   tkdc-export-request 1
//   installation HEX
//   realm EXAMPLE.TEST
//   recipient HEX                an X25519 public key
//   expires SECONDS              Unix time
//   nonce HEX                    32 octets: a request is good once
//   keys N
//   key ID KVNO ENCTYPE PRINCIPAL        N lines, ids ascending
//
// There is one way to write each request; anything else is refused. Approvals sign
// request_digest(), which covers every octet of the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "service/wire/message.h"

namespace tkdc {

struct ExportKey {
  KeyId id{};
  std::uint32_t kvno = 0;
  std::uint32_t enctype = 0;
  std::string principal;
};

struct ExportRequest {
  InstallationId installation{};
  std::string realm;
  std::array<std::uint8_t, 32> recipient{};
  std::uint64_t expires_at_s = 0;
  std::array<std::uint8_t, 32> nonce{};
  std::vector<ExportKey> keys;  // ids ascending
};

inline constexpr std::size_t kMaxExportRequestBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxExportKeys = 1'000'000;
inline constexpr std::uint64_t kMaxExportLife_s = 24 * 3600;

std::string encode(const ExportRequest& request);
// Error: says in which line what is wrong.
Result<ExportRequest> decode_export_request(std::string_view text);

Digest request_digest(std::string_view text);

// A fingerprint for people to compare: 16 octets of a digest, in groups.
std::string short_digest(ByteSpan digest);

// A request is good until it expires, which is a day at most.
Result<void> check_life(std::uint64_t expires_at_s, std::uint64_t now_s);

// The key as a record names it.
KeyRef key_ref(const InstallationId& installation, const ExportKey& key);

}  // namespace tkdc
