// SPDX-License-Identifier: Apache-2.0
// The subcommands of `tkdc`. Each adds its options to the application and a
// callback that does the work and sets the exit status. A new one is a file of
// its own, a declaration here and a line in commands.cc. What measures the engine or looks at
// circuits is a subcommand of tkdc-workbench (tools/workbench/commands.h).
#pragma once

#include <CLI/CLI.hpp>

namespace tkdc::cli {

// What a security mode means, in the words of docs/security.md; of how many servers.
std::string security_meaning(const std::string& security, std::size_t parties = 3);

void add_approve(CLI::App& app, int& exit_status);
void add_approver(CLI::App& app, int& exit_status);
void add_audit(CLI::App& app, int& exit_status);
void add_backup(CLI::App& app, int& exit_status);
void add_circuit(CLI::App& app, int& exit_status);
void add_doctor(CLI::App& app, int& exit_status);
void add_epochs(CLI::App& app, int& exit_status);
void add_export(CLI::App& app, int& exit_status);
void add_garbling(CLI::App& app, int& exit_status);
void add_give_back(CLI::App& app, int& exit_status);
void add_hand_over(CLI::App& app, int& exit_status);
void add_import(CLI::App& app, int& exit_status);
void add_init(CLI::App& app, int& exit_status);
void add_join(CLI::App& app, int& exit_status);
void add_keys(CLI::App& app, int& exit_status);
void add_reconcile(CLI::App& app, int& exit_status);
void add_refresh(CLI::App& app, int& exit_status);
void add_release(CLI::App& app, int& exit_status);
void add_renew(CLI::App& app, int& exit_status);
void add_repair(CLI::App& app, int& exit_status);
void add_restore(CLI::App& app, int& exit_status);
void add_revoke(CLI::App& app, int& exit_status);
void add_rotate(CLI::App& app, int& exit_status);
void add_shares(CLI::App& app, int& exit_status);
void add_status(CLI::App& app, int& exit_status);
void add_store(CLI::App& app, int& exit_status);
void add_tables(CLI::App& app, int& exit_status);
void add_top(CLI::App& app, int& exit_status);
void add_unit(CLI::App& app, int& exit_status);
void add_bench(CLI::App& app, int& exit_status);

// All of them.
void add_commands(CLI::App& app, int& exit_status);
// What `--help` of those that are there ends with.
void add_examples(CLI::App& app);

}  // namespace tkdc::cli
