// SPDX-License-Identifier: Apache-2.0
// What `tkdc shares` asked a server to do with all its shares, in a file beside the store: it is
// done, over restarts, until it has come to its end. And what the last audit came to, in another.
// Nothing secret. Any thread, one at a time.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "service/job/share_upkeep.h"

namespace tkdc {

inline std::string share_request_file(const std::string& store_path) {
  return store_path + "/shares.request";
}

// "audit", "deal" or "refresh"; none of any other word.
std::optional<ShareTask> share_task_of(const std::string& word);
const char* share_task_name(ShareTask task);

// In place of one that was there.
Result<void> write_share_request(const std::string& store_path, ShareTask task);
// None: no file. Error: it cannot be read, or says something else.
Result<std::optional<ShareTask>> read_share_request(const std::string& store_path);
// When it was written, Unix time; 0: there is none.
std::uint64_t share_request_at(const std::string& store_path);
Result<void> remove_share_request(const std::string& store_path);

struct LastAudit {
  std::int64_t at_s = 0;                               // Unix time of its end
  std::uint64_t audited = 0, failed = 0, without = 0;  // keys
  bool operator==(const LastAudit&) const = default;
};

inline std::string last_audit_file(const std::string& store_path) {
  return store_path + "/shares.audited";
}
Result<void> write_last_audit(const std::string& store_path, const LastAudit& audit);
// None: no file. Error: it cannot be read, or says something else.
Result<std::optional<LastAudit>> read_last_audit(const std::string& store_path);

}  // namespace tkdc
