// SPDX-License-Identifier: Apache-2.0
// Subcommands that are programs of their own: tkdc-import, tkdc-export and tkdc-reconcile know
// libkrb5, as nothing here does; tkdc-workbench holds what no realm needs.
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "base/system_error.h"
#include "tools/cli/commands.h"

namespace tkdc::cli {
namespace {

using Words = std::vector<std::string>;

// This process becomes the first program of `places` that is there; a place is relative to this
// program's folder. Returns where there is none, or it cannot be run: `remedy` says what to do.
int become(const Words& places, const std::string& name, const Words& arguments,
           const std::string& remedy) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    std::cerr << name << ": /proc/self/exe: " << error.message() << "\n";
    return 1;
  }
  std::string program = self.parent_path() / places.front();
  for (const std::string& place : places) {
    const auto there = (self.parent_path() / place).lexically_normal();
    if (!std::filesystem::exists(there, error)) continue;
    program = there;
    break;
  }
  std::vector<const char*> argv = {name.c_str()};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  ::execv(program.c_str(), const_cast<char* const*>(argv.data()));
  std::cerr << system_error(name + ": " + program, remedy).message << "\n";
  return 1;
}

// All that follows the word is the other program's to understand, --help too.
CLI::App* add_word(CLI::App& app, const std::string& word, const char* what) {
  CLI::App* command = app.add_subcommand(word, what);
  command->set_help_flag();
  command->prefix_command();
  return command;
}

void add_migration(CLI::App& app, int& exit_status, const std::string& word, const char* what) {
  CLI::App* command = add_word(app, word, what);
  command->callback([command, word, &exit_status] {
    exit_status = become({"tkdc-" + word}, "tkdc " + word, command->remaining(),
                         "it belongs beside tkdc, on the KDC's host");
  });
}

void add_workbench(CLI::App& app, int& exit_status, const std::string& word, const char* what) {
  CLI::App* command = add_word(app, word, what);
  command->callback([command, word, &exit_status] {
    Words arguments = {word};
    for (const std::string& one : command->remaining()) arguments.push_back(one);
    // Beside tkdc in a build, in a folder of its own where it is installed.
    exit_status = become({"tkdc-workbench", "../lib/tkdc/tkdc-workbench"}, "tkdc", arguments,
                         "it is installed with tkdc; `make build` makes it in a source tree");
  });
}

}  // namespace

void add_import(CLI::App& app, int& exit_status) {
  add_migration(app, exit_status, "import",
                "turn the keys of an existing realm's database into handles");
}

void add_export(CLI::App& app, int& exit_status) {
  add_migration(app, exit_status, "export", "give a realm's keys back to its database");
}

void add_reconcile(CLI::App& app, int& exit_status) {
  add_migration(app, exit_status, "reconcile",
                "compare a realm's database with the keys that the servers hold");
}

void add_bench(CLI::App& app, int& exit_status) {
  add_workbench(app, exit_status, "bench", "measure the engine on this machine");
}

void add_circuit(CLI::App& app, int& exit_status) {
  add_workbench(app, exit_status, "circuit", "look at circuits and run them in the clear");
}

}  // namespace tkdc::cli
