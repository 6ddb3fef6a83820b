// SPDX-License-Identifier: Apache-2.0
// What the log that opens a file (audit_log.h) learns of it: its last lines, whether an audit head
// that is known stands in it, whether it was full. In one pass, since a log may be long. Metadata
// only.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "service/job/audit_head.h"
#include "service/server/audit_check.h"

namespace tkdc {

// Whether a log has a head, line after line. One without lines is in each.
class SoughtHead {
 public:
  explicit SoughtHead(const AuditHead& head)
      : head_(head), begin_("{\"n\":" + std::to_string(head.lines) + ","), found_(head.lines == 0) {
  }

  void line(const std::string& text);
  bool found() const { return found_; }
  const AuditHead& head() const { return head_; }

 private:
  AuditHead head_;
  std::string begin_;  // of its line
  bool near_ = false;  // from that line on to the next whole one
  bool found_;
};

struct AuditEnd {
  std::deque<std::string> candidates;  // for the last whole line
  std::string last;                    // whole or not
  bool ended = true;                   // by a newline
  bool foreign = false;                // none of our lines, whole or cut
  bool gap = false;                    // it was full, and no line says that it is not any more
  SessionEpoch epoch;
  std::string first;
  std::uint64_t bytes = 0;

  void line(std::string text, bool newline);
};

// Of the file that is written. False: errno says why it cannot be read.
bool read_audit_end(const std::string& path, AuditEnd& out, SoughtHead& sought);

// In the file before it that ought to have it. One that cannot be read has it not.
void seek_in_closed(const std::string& path, SoughtHead& sought);

}  // namespace tkdc
