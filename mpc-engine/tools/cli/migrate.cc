// SPDX-License-Identifier: Apache-2.0
// `tkdc import` and `tkdc export`: run tkdc-import and tkdc-export, which lie beside this
// program and know libkrb5, as nothing here does.
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "base/system_error.h"
#include "tools/cli/commands.h"

namespace tkdc::cli {
namespace {

int run_beside(const std::string& word, const std::vector<std::string>& arguments) {
  const std::string name = "tkdc " + word;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    std::cerr << name << ": /proc/self/exe: " << error.message() << "\n";
    return 1;
  }
  const std::string program = self.parent_path() / ("tkdc-" + word);
  std::vector<const char*> argv = {name.c_str()};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  ::execv(program.c_str(), const_cast<char* const*>(argv.data()));
  const Error why =
      system_error(name + ": " + program, "it belongs beside tkdc, on the KDC's host");
  std::cerr << why.message << "\n";
  return 1;
}

void add_beside(CLI::App& app, int& exit_status, const std::string& word, const char* what) {
  CLI::App* command = app.add_subcommand(word, what);
  // All that follows is that program's to understand, --help too.
  command->set_help_flag();
  command->prefix_command();
  command->callback(
      [command, word, &exit_status] { exit_status = run_beside(word, command->remaining()); });
}

}  // namespace

void add_import(CLI::App& app, int& exit_status) {
  add_beside(app, exit_status, "import",
             "turn the keys of an existing realm's database into handles");
}

void add_export(CLI::App& app, int& exit_status) {
  add_beside(app, exit_status, "export", "give a realm's keys back to its database");
}

}  // namespace tkdc::cli
