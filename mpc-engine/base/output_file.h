// SPDX-License-Identifier: Apache-2.0
// A new file of mode 0600 that is there whole or not at all.
#pragma once

#include <string>

#include "base/result.h"
#include "base/secret.h"
#include "base/unique_fd.h"

namespace tkdc {

class OutputFile {
 public:
  // Error: the file exists, or the folder cannot be written.
  static Result<OutputFile> create(const std::string& path);
  OutputFile(OutputFile&& other) = default;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  // removes what was not finished

  Result<void> finish(ByteSpan contents);

 private:
  OutputFile(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  std::string path_;
  UniqueFd fd_;  // none: finished
};

}  // namespace tkdc
