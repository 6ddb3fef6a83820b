// SPDX-License-Identifier: Apache-2.0
// The server's audit log: JSON lines, each carrying the BLAKE2b-256 of the line
// before it, so that a line cannot be changed or taken out unnoticed while the
// newest one is known.
//
//   {"n":7,"time":"2025-01-31T12:00:00.123Z","prev":"<64 hex>","event":{...}}
//
// The hash covers the line without its newline; `prev` of the first is zero.
// Appended with one write() each; sync() makes what was written durable.
// Thread-safe. Contains metadata only, never shares, keys or plaintexts.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "link/socket.h"
#include "service/server/audit_check.h"
#include "session/audit_head.h"

namespace tkdc {

class AuditLog {
 public:
  using Hash = std::array<std::uint8_t, 32>;

  // Goes on from the last line. A last line that a crash cut short is ended
  // and followed by an event that says so.
  static Result<std::unique_ptr<AuditLog>> open(const std::string& path);

  // `event` is one JSON object. Error: disk full, I/O.
  Result<void> append(const std::string& event);
  Result<void> sync();

  AuditHead head() const;  // lines and hash belong together
  // The highest nonce epoch of the sessions in it, of the latest era; 0 without.
  SessionEpoch last_epoch() const { return last_epoch_; }

 private:
  explicit AuditLog(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  Result<void> resume();
  Result<void> write_line(const std::string& event);

  std::string path_;
  UniqueFd fd_;
  mutable std::mutex mutex_;
  AuditHead head_;
  SessionEpoch last_epoch_;
  bool torn_ = false;  // the file does not end in a newline
};

}  // namespace tkdc
