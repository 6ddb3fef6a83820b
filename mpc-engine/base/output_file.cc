// SPDX-License-Identifier: Apache-2.0
#include "base/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/durable_file.h"
#include "base/system_error.h"

namespace tkdc {

Result<OutputFile> OutputFile::create(const std::string& path) {
  UniqueFd fd = create_file(path);
  if (!fd && errno == EEXIST)
    return fail(path + ": exists; remove it if a run was interrupted, or name another");
  if (!fd) return system_error(path);
  return OutputFile(path, std::move(fd));
}

OutputFile::~OutputFile() {
  if (fd_) ::unlink(path_.c_str());
}

Result<void> OutputFile::finish(ByteSpan contents) {
  if (!write_synced(fd_.get(), contents)) return system_error(path_);
  // The name too: what was handed over or locked once is not made again.
  const std::string folder = std::filesystem::absolute(path_).parent_path().string();
  if (!sync_folder(folder)) return system_error(folder);
  fd_ = UniqueFd();
  return {};
}

}  // namespace tkdc
