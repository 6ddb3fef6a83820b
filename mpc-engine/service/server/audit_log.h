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
//
// Where it cannot be written no job is answered (docs/adr/0038). The reserve behind its end
// (file_room.h) still takes the line "audit full" and what the server itself has to say; when there
// is room again a line "gap" counts the events that were not written.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "link/socket.h"
#include "service/server/audit_check.h"
#include "service/server/file_room.h"
#include "session/audit_head.h"

namespace tkdc {

class AuditLog {
 public:
  using Hash = std::array<std::uint8_t, 32>;

  // Goes on from the last line. A last line that a crash cut short is ended
  // and followed by an event that says so. A full disk is no error here.
  static Result<std::unique_ptr<AuditLog>> open(const std::string& path);

  // `event` is one JSON object. The server's own: also out of the reserve. Error: disk full, I/O.
  Result<void> append(const std::string& event);
  // A job's. Error: nothing of the job may be answered.
  Result<void> append_job(const std::string& event);
  // Also looks whether there is room again; call it once a second.
  Result<void> sync();

  AuditHead head() const;  // lines and hash belong together
  // Whether jobs' events are taken; why not, or empty; how many events were not written.
  bool takes_jobs() const { return !closed_; }
  std::string trouble() const;
  std::uint64_t lost() const { return lost_; }
  // The highest nonce epoch of the sessions in it, of the latest era; 0 without.
  SessionEpoch last_epoch() const { return last_epoch_; }

 private:
  explicit AuditLog(std::string path, UniqueFd fd)
      : path_(std::move(path)), fd_(std::move(fd)), room_(fd_.get()) {}
  Result<void> resume();
  Result<void> put(const std::string& event, bool of_job);
  Result<void> write_line(const std::string& event);
  void close(const std::string& why);
  void reopen();

  std::string path_;
  UniqueFd fd_;
  mutable std::mutex mutex_;
  FileRoom room_;
  std::uint64_t end_ = 0;  // the file's length
  AuditHead head_;
  SessionEpoch last_epoch_;
  bool torn_ = false;  // the file does not end in a newline

  std::atomic<bool> closed_{false};
  std::string trouble_, closed_since_;
  bool since_before_ = false;  // the gap began before this process did
  std::atomic<std::uint64_t> lost_{0};
  std::uint64_t counted_ = 0;  // of them, in gaps that have ended
};

}  // namespace tkdc
