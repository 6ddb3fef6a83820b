// SPDX-License-Identifier: Apache-2.0
#include "tools/setup/introduction_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/durable_file.h"
#include "base/secret_file.h"
#include "base/system_error.h"

namespace tkdc::setup {
namespace {

namespace fs = std::filesystem;

std::string confirmed_folder(const std::string& folder) { return folder + "/introductions"; }

}  // namespace

std::string introduction_file_name(const Introduction& introduction) {
  return introduction.name() + std::string(kIntroductionEnding);
}

Result<IntroductionFile> read_introduction(const std::string& path) {
  auto text = read_text_file(path, kMaxIntroductionBytes);
  if (!text) return text.error();
  auto introduction = decode_introduction(*text);
  if (!introduction) return fail(path + ": " + introduction.error().message);
  return IntroductionFile{path, std::move(*text), std::move(*introduction)};
}

Result<std::vector<IntroductionFile>> read_confirmed(const std::string& folder) {
  const std::string confirmed = confirmed_folder(folder);
  std::vector<IntroductionFile> out;
  std::error_code error;
  if (!fs::exists(confirmed, error)) return out;
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(confirmed, error))
    if (entry.path().extension() == kIntroductionEnding) paths.push_back(entry.path().string());
  if (error) return fail(confirmed + ": " + error.message());
  std::ranges::sort(paths);
  for (const std::string& path : paths) {
    auto file = read_introduction(path);
    if (!file) return file.error();
    out.push_back(std::move(*file));
  }
  return out;
}

Result<void> keep_confirmed(const std::string& folder, const IntroductionFile& file) {
  const std::string confirmed = confirmed_folder(folder);
  if (::mkdir(confirmed.c_str(), 0700) != 0 && errno != EEXIST)
    return system_error("cannot make the folder " + confirmed);
  const std::string path = confirmed + "/" + introduction_file_name(file.introduction);
  if (!replace_durably(path, file.text, 0644)) return system_error("cannot keep " + path);
  return {};
}

}  // namespace tkdc::setup
