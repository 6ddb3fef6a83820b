// SPDX-License-Identifier: Apache-2.0
#include "service/server/share_request.h"

#include <sys/stat.h>

#include <cerrno>
#include <sstream>

#include "base/disk.h"
#include "base/durable_file.h"
#include "base/system_error.h"

namespace tkdc {
namespace {

constexpr std::size_t kMaxTaskBytes = 128;

// Without its end; what is longer is cut, and so no line that is understood. None: no file.
Result<std::optional<std::string>> line_in(const std::string& file) {
  auto line = disk().read(file, 0, kMaxTaskBytes);
  if (!line && errno == ENOENT) return std::optional<std::string>();
  if (!line) return system_error("shares: " + file + " cannot be read");
  if (!line->empty() && line->back() == '\n') line->pop_back();
  return line;
}

std::string line_of(const LastAudit& audit) {
  return std::to_string(audit.at_s) + " " + std::to_string(audit.audited) + " " +
         std::to_string(audit.failed) + " " + std::to_string(audit.without);
}

}  // namespace

const char* share_task_name(ShareTask task) {
  if (task == ShareTask::kRefresh) return "refresh";
  if (task == ShareTask::kRepair) return "repair";
  return task == ShareTask::kAudit ? "audit" : "deal";
}

std::optional<ShareTask> share_task_of(const std::string& word) {
  for (ShareTask task : {ShareTask::kAudit, ShareTask::kDeal, ShareTask::kRefresh})
    if (word == share_task_name(task)) return task;
  return std::nullopt;
}

Result<void> write_share_request(const std::string& store_path, ShareTask task) {
  const std::string file = share_request_file(store_path);
  if (replace_kept(file, std::string(share_task_name(task)) + "\n")) return {};
  return system_error("shares: " + file + " cannot be written", "make room there, then ask again");
}

Result<std::optional<ShareTask>> read_share_request(const std::string& store_path) {
  const std::string file = share_request_file(store_path);
  auto word = line_in(file);
  if (!word.ok()) return word.error();
  if (!*word) return std::optional<ShareTask>();
  auto task = share_task_of(**word);
  if (!task)
    return fail("shares: " + file + " is no request of `tkdc shares`; remove it, then ask again");
  return task;
}

std::uint64_t share_request_at(const std::string& store_path) {
  struct stat st {};
  return ::lstat(share_request_file(store_path).c_str(), &st) == 0
             ? static_cast<std::uint64_t>(st.st_mtim.tv_sec)
             : 0;
}

Result<void> remove_share_request(const std::string& store_path) {
  const std::string file = share_request_file(store_path);
  if (!remove_durably(file) && errno != ENOENT)
    return system_error("shares: " + file + " cannot be removed");
  return {};
}

Result<void> write_last_audit(const std::string& store_path, const LastAudit& audit) {
  const std::string file = last_audit_file(store_path);
  if (replace_kept(file, line_of(audit) + "\n")) return {};
  return system_error("shares: " + file + " cannot be written", "make room there");
}

Result<std::optional<LastAudit>> read_last_audit(const std::string& store_path) {
  const std::string file = last_audit_file(store_path);
  auto line = line_in(file);
  if (!line.ok()) return line.error();
  if (!*line) return std::optional<LastAudit>();
  LastAudit audit;
  std::istringstream in(**line);
  in >> audit.at_s >> audit.audited >> audit.failed >> audit.without;
  // Exactly as it is written.
  if (in.fail() || audit.at_s < 0 || line_of(audit) != **line)
    return fail("shares: " + file + " does not say when the last audit was; remove it");
  return std::optional<LastAudit>(audit);
}

}  // namespace tkdc
