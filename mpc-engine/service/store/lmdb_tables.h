// SPDX-License-Identifier: Apache-2.0
// Tables in LMDB: a folder, which one process has for itself.
#pragma once

#include <string>

#include "service/store/tables.h"

namespace tkdc {

// The folder is made when absent. Error: it cannot be opened, or another process has it.
Result<std::unique_ptr<Tables>> open_lmdb_tables(const std::string& path, std::size_t map_bytes);

// Of a store's message about a code of Tables.
std::string tables_failed(const std::string& step, const std::string& path, int rc);

}  // namespace tkdc
