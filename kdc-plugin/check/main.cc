// SPDX-License-Identifier: Apache-2.0
// tkdc-check-krb5: says whether tkdc's preload library fits the krb5 that is installed.
//
//   tkdc-check-krb5 FILE...          krb5's programs, libraries and plugins
//
// Exit status: 0 when it fits, 1 when it does not, with a line for each reason, and for every wrong
// usage.
#include <CLI/CLI.hpp>
#include <iostream>

#include "base/version.h"
#include "check/entry_points.h"

namespace tkdc::check {
namespace {

constexpr const char* kName = "tkdc-check-krb5";

int complain(const std::string& message) {
  std::cerr << kName << ": " << message << "\n";
  return 1;
}

int check(const std::vector<std::string>& paths) {
  Files files;
  for (const std::string& path : paths) {
    auto names = read_elf_names(path);
    if (!names) return complain(names.error().message);
    files[path] = *names;
  }
  const auto found = differences(files);
  for (const std::string& line : found) complain(line);
  return found.empty() ? 0 : 1;
}

}  // namespace
}  // namespace tkdc::check

int main(int argc, char** argv) {
  using namespace tkdc::check;
  std::vector<std::string> paths;
  CLI::App app("says whether tkdc's preload library fits the krb5 that is installed", kName);
  app.set_version_flag("--version", std::string(kName) + " " + tkdc::kVersionAndCommit);
  app.add_option("files", paths, "krb5's programs, libraries and plugins")->required();
  app.footer(std::string("Example: the library that the KDC will load\n  ") + kName +
             " /usr/sbin/krb5kdc /usr/lib/x86_64-linux-gnu/libk5crypto.so.3");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 1;
  }
  return check(paths);
}
