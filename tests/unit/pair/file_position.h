// SPDX-License-Identifier: Apache-2.0
// The number of a pool's blocks in a file, and two servers that have one each.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "base/durable_file.h"
#include "pair/keys_parties.h"

namespace tkdc::pair {

// In a file, as a store would have it: eight octets, replaced whole, under a lock.
class FilePosition : public PoolPosition {
 public:
  FilePosition()
      : path_(testing::TempDir() + "position." + std::to_string(getpid()) + "." +
              std::to_string(++count_)) {
    EXPECT_TRUE(write(0).ok());
  }
  ~FilePosition() override { std::filesystem::remove(path_); }
  Result<std::uint64_t> next(const Label&) override {
    const std::lock_guard lock(mutex_);
    return read();
  }
  Result<bool> take(const Label&, std::uint64_t first, std::uint64_t blocks) override {
    const std::lock_guard lock(mutex_);
    auto number = read();
    if (!number) return number.error();
    if (first < *number) return false;
    if (auto written = write(first + blocks); !written) return written.error();
    return true;
  }
  Result<std::uint64_t> number() { return next(Label()); }
  std::function<void()> at_claim;
  bool full = false;

 private:
  Result<std::uint64_t> read() {
    std::uint64_t number = 0;
    std::ifstream in(path_, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(&number), sizeof number)) return fail("no position");
    return number;
  }
  Result<void> write(std::uint64_t to) {
    if (full) return fail("disk full");
    Bytes octets(sizeof to);
    std::memcpy(octets.data(), &to, sizeof to);
    if (at_claim) at_claim();
    return replace_durably(path_, octets) ? Result<void>() : fail("not written");
  }
  static inline std::atomic<int> count_ = 0;
  const std::string path_;
  std::mutex mutex_;
};

using PositionBody = std::function<Result<void>(Session&, std::size_t, FilePosition&)>;
inline void with_positions(const PositionBody& body) {
  FilePosition positions[2];
  const auto party = [&](std::size_t p) {
    return [&, p](Session& session) { return body(session, p, positions[p]); };
  };
  const Outcome outcome = with_sessions(party(0), party(1));
  EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
}

}  // namespace tkdc::pair
