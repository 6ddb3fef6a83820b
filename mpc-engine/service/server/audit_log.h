// SPDX-License-Identifier: Apache-2.0
// The server's audit log: JSON lines, each carrying the BLAKE2b-256 of the line
// before it, so that a line cannot be changed or taken out unnoticed while the
// newest one is known.
//
//   {"n":7,"time":"2025-01-31T12:00:00.123Z","prev":"<64 hex>","event":{...}}
//
// The hash covers the line without its newline; `prev` of the first is zero.
// Appended with one write() each; sync() makes what was written durable. A line that a crash cut
// short stays, as evidence, and is part of the chain like any other: the next whole one carries
// its hash. Where only its newline is lacking it is whole.
//
// keep() closes the file and goes on in a new one when it is long or old (audit_files.h). The first
// line of that one names the file before it and the last nonce epoch:
//
//   1. NAME.new is made, for those who may read NAME; the folder is synced
//   2. NAME.new gets its first line, NAME gets NAME.NUMBER as a second name; from here on lines are
//      appended to NAME.new
//   3. NAME is synced, then NAME.new, then the folder
//   4. NAME.new takes the place of NAME; the folder is synced
//
// Only 2 makes others wait, and not for the disk. sync() meanwhile makes all of it durable: NAME
// before NAME.new, whose name is on disk since 1.
//
// After a crash NAME is the old file or the new one. In the former case NAME.new takes its place
// where it goes on from NAME's last line: it holds lines. Else the crash took NAME's end with it or
// came before 2: then a second name is taken away again, and NAME.new is removed.
//
// Where it cannot be written or synced no job is answered (docs/adr/0038). The reserve behind its
// end (file_room.h) still takes the line "audit full" and what the server itself has to say; when
// there is room again, and a sync has succeeded, a line "gap" counts the events that were not
// written. Meanwhile no file is closed. More than that reserve is kept where AuditRotation says so:
// what else fills the disk then stops no job before the log has used its own room up.
//
// Thread-safe. Contains metadata only, never shares, keys or plaintexts.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "service/job/audit_head.h"
#include "service/server/audit_check.h"
#include "service/server/audit_files.h"
#include "service/server/file_room.h"

namespace tkdc {

// When a file of the log is closed, and what becomes of it. As in [audit] of tkdc.toml.
struct AuditRotation {
  std::uint64_t most_bytes = std::uint64_t{64} << 20;  // 0: however long
  int days = 7;                                        // 0: however old
  std::uint64_t room_bytes = 0;                        // kept on the disk for the next lines
  AuditKeeping keeping;
};

class SoughtHead;  // service/server/audit_end.h

// A head that a log was known to have, and has not.
struct MissedHead {
  AuditHead known;
  std::uint64_t had = 0;  // how many lines it had instead
};

class AuditLog {
 public:
  using Hash = std::array<std::uint8_t, 32>;

  // Goes on from the last line. A last line that a crash cut short is ended
  // and followed by an event that says so. What it goes on from is on disk. A full disk is no error
  // here, nor is it where the log lacks the head that is known of it: see missed().
  static Result<std::unique_ptr<AuditLog>> open(const std::string& path,
                                                const AuditRotation& rotation = {},
                                                const AuditHead& known = {});
  ~AuditLog();

  // `event` is one JSON object. The server's own: also out of the reserve. Error: disk full, I/O.
  Result<void> append(const std::string& event);
  // A job's. Error: nothing of the job may be answered.
  Result<void> append_job(const std::string& event);
  // The server's own events, and they are on disk when it returns. Error too if a sync by anybody
  // has failed meanwhile: the disk tells one of those who sync, and the next one nothing.
  Result<void> append_on_disk(const std::vector<std::string>& events);
  // Also looks whether there is room again: it is called once a second.
  Result<void> sync();
  // Each second or so, on one thread: goes on in a new file when that is due, and has closed files
  // compressed and deleted on a thread of their own. Error: of either; the log goes on all the
  // same.
  Result<void> keep(std::int64_t now_s = std::time(nullptr));

  void keep_as(const AuditRotation& rotation);
  const std::string& path() const { return path_; }

  AuditHead head() const;  // lines and hash belong together
  // The latest that sync() has put on disk: others may be told of it, since no loss of power makes
  // this log disagree with them.
  AuditHead durable_head() const;
  // Whether jobs' events are taken; why not, or empty; how many events were not written.
  bool takes_jobs() const { return !closed_; }
  std::string trouble() const;
  std::uint64_t lost() const { return lost_; }
  const std::optional<MissedHead>& missed() const { return missed_; }
  // How much of the disk is the log's alone, behind its end.
  std::uint64_t room() const;
  // The highest nonce epoch of the sessions in it, of the latest era; 0 without.
  SessionEpoch last_epoch() const;

 private:
  AuditLog(std::string path, const AuditRotation& rotation)
      : path_(std::move(path)), rotation_(rotation) {}
  Result<void> mend_names();
  Result<bool> take_up_draft();
  Result<void> resume(const AuditHead& known);
  Result<void> read_end(SoughtHead& known);
  Result<void> resume_closed();
  Result<void> rotate(std::int64_t now_s);
  Result<void> begin_file(std::shared_ptr<Disk::File> fresh, const FileRoom& room,
                          std::int64_t now_s);
  Result<void> end_file();
  Result<void> begin_to_tidy(const AuditKeeping& keeping, std::int64_t now_s);
  Result<void> tidied(bool wait);
  Result<void> put(const std::string& event, bool of_job);
  // `failed`: how many syncs had failed when what is to be on disk was written.
  Result<void> sync_unless_failed_since(std::uint64_t failed);
  Result<void> write_line(const std::string& event);
  void close(const std::string& why);
  void reopen();

  std::string path_;
  AuditRotation rotation_;               // under mutex_
  std::shared_ptr<Disk::File> file_;     // what is synced may be closed meanwhile
  std::shared_ptr<Disk::File> closing_;  // NAME, while lines are appended to NAME.new
  mutable std::mutex mutex_;
  AuditHead head_, durable_;
  std::uint64_t had_ = 0;  // lines when it was opened
  std::optional<MissedHead> missed_;
  SessionEpoch last_epoch_;
  bool torn_ = false;           // the file does not end in a newline
  std::uint64_t bytes_ = 0;     // of the file that is written
  std::int64_t begun_s_ = 0;    // its first line; 0: none yet
  std::int64_t tidy_at_s_ = 0;  // when closed files are looked at again
  std::future<Result<void>> tidying_;

  FileRoom room_;  // of file_
  std::atomic<bool> closed_{false};
  std::string trouble_, closed_since_;
  bool since_before_ = false;  // the gap began before this process did
  std::atomic<std::uint64_t> lost_{0}, failed_syncs_{0};
  std::uint64_t counted_ = 0;  // of them, in gaps that have ended
};

}  // namespace tkdc
