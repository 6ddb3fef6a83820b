// SPDX-License-Identifier: Apache-2.0
// `tkdc backup list` and `tkdc backup prune`, added to `tkdc backup`; and how backups are shown,
// agreed to and destroyed, which a refresh does too.
#pragma once

#include <CLI/CLI.hpp>
#include <vector>

#include "service/backup/backup_shelf.h"

namespace tkdc::cli {

// A table.
void show_backups(const std::vector<ShelvedBackup>& shelf);
// On a terminal: whether "yes" was typed when these had been shown. Else nothing is asked.
bool may_ask();
bool typed_yes();
// Wiped, one after the other. Error: of the first that is left, with those behind it.
Result<void> destroy_backups(const std::vector<ShelvedBackup>& going);

void add_shelf_words(CLI::App& backup, int& exit_status);

}  // namespace tkdc::cli
