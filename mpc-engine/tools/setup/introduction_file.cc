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

std::string former_folder(const std::string& folder) {
  return confirmed_folder(folder) + "/former";
}

Result<void> make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return system_error("cannot make the folder " + path);
  return {};
}

Result<void> keep_former(const std::string& folder, const std::string& path,
                         const IntroductionFile& next) {
  if (!fs::exists(path)) return {};
  auto before = read_introduction(path);
  if (!before) return before.error();
  const std::string former =
      former_folder(folder) + "/" + introduction_file_name(next.introduction);
  std::error_code error;
  if (before->introduction.identity != next.introduction.identity) {
    fs::remove(former, error);
    return error ? fail(former + ": " + error.message()) : Result<void>();
  }
  if (before->text == next.text) return {};
  if (Result<void> made = make_folder(former_folder(folder)); !made) return made;
  if (!replace_durably(former, before->text, 0644)) return system_error("cannot keep " + former);
  return {};
}

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

namespace {

Result<std::vector<IntroductionFile>> read_folder(const std::string& confirmed) {
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

}  // namespace

Result<std::vector<IntroductionFile>> read_confirmed(const std::string& folder) {
  return read_folder(confirmed_folder(folder));
}

Result<std::vector<IntroductionFile>> read_former(const std::string& folder) {
  return read_folder(former_folder(folder));
}

Result<void> forget_former(const std::string& folder) {
  auto former = read_former(folder);
  if (!former) return former.error();
  for (const IntroductionFile& one : *former)
    if (!remove_durably(one.path)) return system_error("cannot remove " + one.path);
  return {};
}

Result<void> keep_confirmed(const std::string& folder, const IntroductionFile& file) {
  const std::string confirmed = confirmed_folder(folder);
  if (Result<void> made = make_folder(confirmed); !made) return made;
  const std::string path = confirmed + "/" + introduction_file_name(file.introduction);
  if (Result<void> kept = keep_former(folder, path, file); !kept) return kept;
  if (!replace_durably(path, file.text, 0644)) return system_error("cannot keep " + path);
  return {};
}

}  // namespace tkdc::setup
