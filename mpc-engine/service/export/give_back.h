// SPDX-License-Identifier: Apache-2.0
// The request to have dropped keys in use again: docs/protocols/28-dropped-keys.md.
//
// A text file without secrets, so that whoever approves it can read it:
//
//   tkdc-give-back-request 1
//   installation HEX
//   realm EXAMPLE.TEST
//   expires SECONDS              Unix time
//   keys N
//   key ID KVNO ENCTYPE DROPPED PRINCIPAL        N lines, ids ascending; DROPPED: Unix time
//
// There is one way to write each request; anything else is refused. Approvals sign
// give_back_digest(), which no approval of an export is good for. A key that is dropped anew has
// another time, so no request is good for it twice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "service/export/request.h"

namespace tkdc {

struct WantedKey {
  ExportKey key;
  std::uint64_t dropped_at_s = 0;
};

struct GiveBackRequest {
  InstallationId installation{};
  std::string realm;
  std::uint64_t expires_at_s = 0;
  std::vector<WantedKey> keys;  // ids ascending
};

bool is_give_back_request(std::string_view text);

std::string encode(const GiveBackRequest& request);
// Error: says in which line what is wrong.
Result<GiveBackRequest> decode_give_back_request(std::string_view text);

Digest give_back_digest(std::string_view text);

}  // namespace tkdc
