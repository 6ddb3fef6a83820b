// SPDX-License-Identifier: Apache-2.0
// `tkdc backup copy`: this server's backups on another host, by OpenSSH's sftp. What is not there
// yet is sent; what is sent is under its name only when it is whole. Nothing in it is secret: a
// backup is encrypted. Whose SSH key that host takes, can write there.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace tkdc::cli {

struct CopyDestination {
  std::string host, folder;
};

// "HOST:FOLDER", of one line. Error: what is wrong with it; neither can be taken for an option or
// another command of sftp's.
Result<CopyDestination> parse_copy_destination(const std::string& text);
// Octets by name, of `ls -ln` as sftp prints it.
std::map<std::string, std::uint64_t> files_in_listing(const std::string& printed);

void add_copy_word(CLI::App& backup, int& exit_status);

}  // namespace tkdc::cli
