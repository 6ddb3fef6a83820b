// SPDX-License-Identifier: Apache-2.0
// Introductions on disk: those that others sent, and those that an administrator has confirmed,
// which `tkdc join` keeps in the member's folder below introductions/.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "tools/setup/introduction.h"

namespace tkdc::setup {

struct IntroductionFile {
  std::string path;  // for messages
  std::string text;
  Introduction introduction;
};

std::string introduction_file_name(const Introduction& introduction);
inline constexpr std::string_view kIntroductionEnding = ".introduction";

// Error: names the file.
Result<IntroductionFile> read_introduction(const std::string& path);

// None yet: no files.
Result<std::vector<IntroductionFile>> read_confirmed(const std::string& folder);
// Those that were confirmed before them, of members that change their keys.
Result<std::vector<IntroductionFile>> read_former(const std::string& folder);
Result<void> forget_former(const std::string& folder);
// In place of an earlier one of the same member. That becomes the former one, if the same identity
// has signed both: else the member was made anew, and what it was is good for nothing.
Result<void> keep_confirmed(const std::string& folder, const IntroductionFile& file);

}  // namespace tkdc::setup
