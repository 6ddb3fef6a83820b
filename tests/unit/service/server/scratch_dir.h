// SPDX-License-Identifier: Apache-2.0
// A folder of its own for each test, gone afterwards.
#pragma once

#include <gtest/gtest.h>
#include <sodium.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/scratch.h"

namespace tkdc {

class ScratchDir : public testing::Test {
 protected:
  ScratchDir() {
    EXPECT_GE(sodium_init(), 0);
    directory_ = test::make_scratch("server-test");
  }
  ~ScratchDir() override { std::filesystem::remove_all(directory_); }

  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) {
    std::string path = directory_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    chmod(path.c_str(), mode);
    return path;
  }

  static std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  std::string directory_;
};

}  // namespace tkdc
