// SPDX-License-Identifier: Apache-2.0
// What `tkdc revoke` asks of the server of the same host: a file beside the store, which
// the server takes within a second, or when it starts, before any session. It is gone
// when what it asks for is in force and on disk. A server does not start beside one
// that it cannot read. Who may write into the store's folder
// is that server's administrator.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "service/sealing/seal_windows.h"

namespace tkdc {

struct RevokeRequest {
  bool lift = false;
  SealWindow window;  // unless lift
};

inline std::string revoke_request_file(const std::string& store_path) {
  return store_path + "/revoke.request";
}

// Whole or not at all, on disk; for the owner of the folder alone, whoever calls it.
// Error: one is waiting already, or it cannot be written.
Result<void> write_revoke_request(const std::string& store_path, const RevokeRequest& request);

// Nothing when there is none. Error: it cannot be read, or is not one.
Result<std::optional<RevokeRequest>> read_revoke_request(const std::string& store_path);
Result<void> remove_revoke_request(const std::string& store_path);

}  // namespace tkdc
