// SPDX-License-Identifier: Apache-2.0
#include "service/server/latch.h"

#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "base/durable_file.h"
#include "base/system_error.h"

namespace tkdc {
namespace {

constexpr std::size_t kMaxReasonBytes = 4096;

std::string read_reason(std::ifstream& in) {
  std::string text(kMaxReasonBytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? "the latch's file is empty" : text;
}

}  // namespace

Result<void> Latch::close(const std::string& reason) {
  unwritten_ = reason;
  if (!overwrite_durably(file_, reason + "\n"))
    return system_error("the latch " + file_ + " cannot be written",
                        "this server stays latched only until it is restarted: do not restart it "
                        "before docs/operations.md, section Deviations, is done");
  unwritten_.clear();
  return {};
}

// A file that is there but cannot be read counts as closed.
std::string Latch::reason() {
  if (!unwritten_.empty()) return unwritten_;
  if (::access(file_.c_str(), F_OK) != 0 && errno == ENOENT) return {};
  std::ifstream in(file_, std::ios::binary);
  return read_reason(in);
}

Result<bool> release_latch(const std::string& file) {
  if (remove_durably(file)) return true;
  if (errno == ENOENT) return false;
  return system_error("the latch " + file + " cannot be removed");
}

}  // namespace tkdc
