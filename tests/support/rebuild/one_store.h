// SPDX-License-Identifier: Apache-2.0
// Every committed record of one server's store, read from a copy, so that the
// server may go on meanwhile. Secret: one party's shares. And one change, in the store itself.
#pragma once

#include <cstdint>
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

// As if each key of this principal had sealed so often; how many there are. The server is stopped.
Result<std::size_t> set_seal_marks(const std::string& config, const std::string& principal,
                                   std::uint64_t mark);

}  // namespace tkdc::rebuild
