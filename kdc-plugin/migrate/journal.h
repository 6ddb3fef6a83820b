// SPDX-License-Identifier: Apache-2.0
// The import's journal: which keys it was about to make at the servers.
//
// A line is on disk before the servers are asked to keep its key, so that after a crash
// no key is left at the servers that nobody names: each of these keys either stands in
// the database or is removed. A text file of mode 0600 without secrets:
//
//   tkdc-import 1 INSTALLATION
//   key ID KVNO ENCTYPE PRINCIPAL
//
// A last line without its end was being written when the program died; its key was not
// made. The file is locked while it is open: two imports at once are refused.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "wire.h"

namespace tkdc::migrate {

struct JournalKey {
  tkdc_wire_key key{};  // without the principal's digest
  std::string principal;
};

class Journal {
 public:
  // Makes the file if there is none. Error: another import has it, it belongs to another
  // installation or user, it is no regular file, or it is damaged.
  static Result<std::unique_ptr<Journal>> open(const std::string& path,
                                               const std::uint8_t* installation);

  const std::string& path() const { return path_; }
  // Of earlier runs and of this one.
  const std::vector<JournalKey>& keys() const { return keys_; }

  bool is_of(const std::uint8_t* installation) const;
  // Error: the name has control characters.
  Result<void> add(JournalKey key);
  // After this all added keys are on disk.
  Result<void> sync();
  // Every key is settled: the file goes.
  Result<void> remove();

 private:
  Journal() = default;
  Result<void> read(const std::uint8_t* installation);
  Result<void> parse(const std::string& line, const std::uint8_t* installation);

  std::string path_, unwritten_;
  std::uint8_t installation_[TKDC_WIRE_INSTALLATION_BYTES]{};
  UniqueFd fd_;
  std::vector<JournalKey> keys_;
};

}  // namespace tkdc::migrate
