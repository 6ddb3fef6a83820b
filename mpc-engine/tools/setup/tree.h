// SPDX-License-Identifier: Apache-2.0
// A folder of files that appears as a whole or not at all.
//
// Everything is written beside the target, synced, and moved into place by one
// rename. What is not published is removed again, secrets included. Files have
// mode 0600, folders 0700; what is to be handed on is readable by all, 0644.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace tkdc::setup {

class Tree {
 public:
  // Error: the target exists and is not an empty folder, or its parent is not
  // writable.
  static Result<Tree> begin(const std::string& target);
  Tree(Tree&& other) noexcept;
  Tree& operator=(Tree&&) = delete;
  ~Tree();

  Result<void> folder(const std::string& name);
  Result<void> file(const std::string& name, ByteSpan contents);
  Result<void> file(const std::string& name, std::string_view text) {
    return file(name, ByteSpan(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  }
  Result<void> public_file(const std::string& name, std::string_view text);
  Result<void> publish();

 private:
  Result<void> write(const std::string& name, unsigned mode, ByteSpan contents);
  Tree(std::string target, std::string draft)
      : target_(std::move(target)), draft_(std::move(draft)) {}

  std::string target_;
  std::string draft_;  // empty once published
};

}  // namespace tkdc::setup
