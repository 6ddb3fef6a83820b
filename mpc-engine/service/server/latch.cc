// SPDX-License-Identifier: Apache-2.0
#include "service/server/latch.h"

#include <cerrno>

#include "base/disk.h"
#include "base/durable_file.h"
#include "base/system_error.h"

namespace tkdc {
namespace {

constexpr std::size_t kMaxReasonBytes = 4096;

}  // namespace

Result<void> Latch::close(const std::string& reason) {
  unwritten_ = reason;
  if (!overwrite_durably(file_, reason + "\n"))
    return system_error("the latch " + file_ + " cannot be written",
                        "this server stays latched, and tries again to write it; do not restart "
                        "it before it has, or before docs/operations.md, section Deviations, is "
                        "done");
  unwritten_.clear();
  return {};
}

// A file that is there but cannot be read counts as closed.
std::string Latch::reason() {
  if (!unwritten_.empty()) {
    const std::string reason = unwritten_;
    if (!close(reason).ok()) return reason;
  }
  auto text = disk().read(file_, 0, kMaxReasonBytes);
  if (!text && errno == ENOENT) return {};
  while (text && text->ends_with('\n')) text->pop_back();
  return !text || text->empty() ? "the latch's file is empty" : *text;
}

Result<bool> release_latch(const std::string& file) {
  if (remove_durably(file)) return true;
  if (errno == ENOENT) return false;
  return system_error("the latch " + file + " cannot be removed");
}

}  // namespace tkdc
