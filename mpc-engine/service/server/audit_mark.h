// SPDX-License-Identifier: Apache-2.0
// Whether this server's audit log is the one that it had. Its store keeps a head of the log: the
// number and the hash of a line that is on disk. A log that was deleted, cut at its end, put back
// from a copy or written anew has no such line. The server goes on (docs/adr/0038), and says so:
//
//   1. the line "log behind" goes into the chain, and is on disk: `tkdc audit verify` finds it
//   2. the file `audit-behind` beside the store has what was found: the status, the doctor and the
//      journal say it until `tkdc release` removes that file
//   3. the store takes the log's head of now
//
// A crash between them, or a full disk, does all of it again. The head is kept at the start, at an
// orderly stop, and each minute in which lines were written, always behind a sync of the log: a
// loss of power leaves a log that is ahead of its store, never one that is behind. What the last
// minute wrote before a crash only the other servers' logs can show (audit_check.h).
//
// A store of before this was kept has none, nor has one that was restored. Main thread, but for
// alarm(). Nothing is secret.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "service/server/audit_log.h"
#include "service/store/store.h"

namespace tkdc {

// None: the store has none. Error: it cannot be read.
Result<std::optional<AuditHead>> kept_audit_head(Store& store);

class AuditMark {
 public:
  static constexpr long long kKeepEveryMs = 60'000;

  // `file`: audit-behind, beside the store. `log` was opened with what the store knew.
  AuditMark(Store& store, AuditLog& log, std::string file);

  // Each second or so. Error: of the store, the log or the file; it is tried again.
  Result<void> look(long long now_ms);
  // Behind the last line, which is on disk.
  Result<void> leave();
  // What was found, and is not released; empty: nothing. With what is to be done. Any thread.
  std::string alarm() const;

 private:
  Result<void> note(const MissedHead& missed);
  Result<void> keep(const AuditHead& head);
  void see_release();
  std::string trouble() const;

  Store& store_;
  AuditLog& log_;
  const std::string file_;
  std::optional<MissedHead> missed_;  // and not noted yet
  std::string trouble_now_;           // what is said of it
  std::uint64_t line_ = 0;            // its line in the log; 0: none yet
  std::optional<AuditHead> kept_;
  long long next_ms_ = 0;
  mutable std::mutex mutex_;
  std::string trouble_;
};

inline std::string audit_behind_file(const std::string& store_path) {
  return store_path + "/audit-behind";
}
// What that file says; empty: there is none.
std::string read_audit_behind(const std::string& file);
// True if there was one.
Result<bool> forget_audit_behind(const std::string& file);

}  // namespace tkdc
