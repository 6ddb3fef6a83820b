// SPDX-License-Identifier: Apache-2.0
// The files of one audit log: the one that is written, and those before it, which are closed.
//
//   audit.jsonl                        is written
//   audit.jsonl.00000000000000012345   closed; its last line has n = 12345
//   audit.jsonl.(the same).gz          closed and compressed
//
// The chain of hashes goes on from file to file, so a file that is taken out from between two
// shows. Closed files are changed once, when they are compressed: the compressed form is read back
// and compared before the plain one goes. A crash leaves one of the two, or both with the same
// contents.
//
// Called by the log itself (audit_log.h) and by who checks one (audit_check.h). Metadata only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

struct gzFile_s;

namespace tkdc {

struct ClosedAuditFile {
  std::string path;
  std::uint64_t last = 0;  // n of its last line
  bool compressed = false;
};

// Of the log that is written to `path`, the oldest first. Where both forms exist, the plain one;
// not a second name of the file that is written.
Result<std::vector<ClosedAuditFile>> closed_audit_files(const std::string& path);
// That name: a crash came while the file was being closed. Empty: it has none.
std::string second_audit_name(const std::string& path);
std::string closed_audit_name(const std::string& path, std::uint64_t last);

struct AuditKeeping {
  bool compress = true;
  int days = 0;  // closed files that were written to before that are deleted; 0: none are
};

// Compresses and deletes as `keeping` says, and removes what a crash left half done.
Result<void> tidy_audit_files(const std::string& path, const AuditKeeping& keeping,
                              std::int64_t now_s);

// The lines of one file, compressed or not.
class AuditLines {
 public:
  explicit AuditLines(const std::string& path);
  ~AuditLines();
  AuditLines(const AuditLines&) = delete;
  AuditLines& operator=(const AuditLines&) = delete;

  // Without its line break. False at the end, and where reading fails: see fault().
  bool next(std::string& line);
  // Whether the line that next() gave had no line break behind it: it was cut short.
  bool cut() const { return cut_; }
  Result<void> fault() const;
  // Of the file as it lies there, read so far.
  std::uint64_t octets() const;

 private:
  bool fill();

  std::string path_;
  gzFile_s* file_ = nullptr;
  std::string buffer_;
  std::size_t at_ = 0;
  bool cut_ = false;
  std::string fault_;
};

}  // namespace tkdc
