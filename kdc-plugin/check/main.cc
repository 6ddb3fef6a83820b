// SPDX-License-Identifier: Apache-2.0
// tkdc-check-krb5: says whether tkdc's preload library fits the krb5 that is installed.
//
//   tkdc-check-krb5 FILE...          krb5's programs, libraries and plugins
//
// Exit status: 0 when it fits, 1 when it does not, with a line for each reason, or nothing was
// given.
#include <cstdio>

#include "check/entry_points.h"

int main(int argc, char** argv) {
  tkdc::check::Files files;
  for (int i = 1; i < argc; ++i) {
    auto names = tkdc::check::read_elf_names(argv[i]);
    if (!names) {
      std::fprintf(stderr, "tkdc-check-krb5: %s\n", names.error().message.c_str());
      return 1;
    }
    files[argv[i]] = *names;
  }
  const auto found = tkdc::check::differences(files);
  for (const std::string& line : found) std::fprintf(stderr, "tkdc-check-krb5: %s\n", line.c_str());
  return found.empty() && !files.empty() ? 0 : 1;
}
