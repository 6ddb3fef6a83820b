// SPDX-License-Identifier: Apache-2.0
// Every committed record of one server's store, read from a copy, so that the
// server may go on meanwhile. Secret: one party's shares.
#pragma once

#include <string>
#include <vector>

#include "service/store/record.h"

namespace tkdc::rebuild {

struct OneStore {
  int party = 0;
  std::vector<KeyRecord> records;
};

// `config`: the server's tkdc.toml. Error: what could not be read.
Result<OneStore> read_store(const std::string& config);

}  // namespace tkdc::rebuild
