// SPDX-License-Identifier: Apache-2.0
// Which sessions were given up while messages were being verified, on disk until the operator's
// `tkdc release`: another server came back without the session's state, or sent what it could
// not. A changed server that sees a challenge can tell whether it would be found, and break off
// before it is: each such attempt succeeds with at most 164/2^64 (docs/protocols/12). Machines
// that fail meet a check too. So the first is an alarm, and two numbers within a day, kept far
// below what would help anybody, close the latch: one for checks that had opened something, one
// for all.
//
// The file: a line for each, "unix-time party after-opening\n", the party "-" where no neighbour
// was to blame. A line that is torn or strange counts as one of each, now.
// Threads: one at a time; the operator's command may remove the file meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace tkdc {

struct BrokenCheck {
  std::uint64_t at_s = 0;    // Unix time
  std::optional<int> party;  // who no longer had the session
  bool opened = false;       // after this server's part of the factors X and Y had left
};

class BrokenChecks {
 public:
  explicit BrokenChecks(std::string file) : file_(std::move(file)) {}

  // On disk when it returns. Error: it is remembered by this process only.
  Result<void> add(const BrokenCheck& check);
  // Since the last release, the oldest first; a file that cannot be read is one, now.
  std::vector<BrokenCheck> all() const;

 private:
  const std::string file_;
  std::vector<BrokenCheck> unwritten_;
};

// Of them, those within a day before `now_s` or after it: a clock may have been set back.
struct BrokenCount {
  std::size_t all = 0, opened = 0;
};
BrokenCount in_the_last_day(const std::vector<BrokenCheck>& checks, std::uint64_t now_s);

// For people: how many, with which servers, since when.
std::string describe(const std::vector<BrokenCheck>& checks);

// Forgets them all; true if there were any.
Result<bool> forget_broken_checks(const std::string& file);

inline std::string broken_checks_file(const std::string& store_path) {
  return store_path + "/broken-checks";
}

}  // namespace tkdc
