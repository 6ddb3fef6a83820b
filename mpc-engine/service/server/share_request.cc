// SPDX-License-Identifier: Apache-2.0
#include "service/server/share_request.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/durable_file.h"
#include "base/system_error.h"
#include "base/unique_fd.h"

namespace tkdc {
namespace {

constexpr std::size_t kMaxRequestBytes = 16;

}  // namespace

const char* share_task_name(ShareTask task) {
  if (task == ShareTask::kRefresh) return "refresh";
  return task == ShareTask::kAudit ? "audit" : "deal";
}

std::optional<ShareTask> share_task_of(const std::string& word) {
  for (ShareTask task : {ShareTask::kAudit, ShareTask::kDeal, ShareTask::kRefresh})
    if (word == share_task_name(task)) return task;
  return std::nullopt;
}

Result<void> write_share_request(const std::string& store_path, ShareTask task) {
  const std::string file = share_request_file(store_path);
  if (overwrite_durably(file, std::string(share_task_name(task)) + "\n")) return {};
  return system_error("shares: " + file + " cannot be written");
}

Result<std::optional<ShareTask>> read_share_request(const std::string& store_path) {
  const std::string file = share_request_file(store_path);
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd && errno == ENOENT) return std::optional<ShareTask>();
  std::array<char, kMaxRequestBytes> octets{};
  const ssize_t n = fd ? ::read(fd.get(), octets.data(), octets.size()) : -1;
  if (n < 0) return system_error("shares: " + file + " cannot be read");
  std::string word(octets.data(), static_cast<std::size_t>(n));
  if (!word.empty() && word.back() == '\n') word.pop_back();
  auto task = share_task_of(word);
  if (!task)
    return fail("shares: " + file + " is no request of `tkdc shares`; remove it, then ask again");
  return task;
}

Result<void> remove_share_request(const std::string& store_path) {
  const std::string file = share_request_file(store_path);
  if (!remove_durably(file) && errno != ENOENT)
    return system_error("shares: " + file + " cannot be removed");
  return {};
}

}  // namespace tkdc
