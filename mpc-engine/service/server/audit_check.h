// SPDX-License-Identifier: Apache-2.0
// Reading audit logs (audit_log.h): the chain within one, and what the other
// servers wrote down about it. A log alone cannot show that its end was cut
// off, or that all of it was written anew; the other two servers' logs can,
// since they hold its heads. Called by the log itself when it is opened, and
// by `tkdc audit verify`.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/stop.h"
#include "service/job/audit_head.h"

namespace tkdc {

// What the first line of a file says behind its hash, if there is a file before it.
inline constexpr std::string_view kContinued = R"("event":{"event":"continued","of":)";

struct AuditLine {
  std::uint64_t n = 0;
  std::array<std::uint8_t, 32> prev{};
};

// Nothing when the line is not one of an audit log.
std::optional<AuditLine> parse_audit_line(const std::string& line);
std::array<std::uint8_t, 32> hash_audit_line(std::string_view line);
// Of a line that says a session began.
struct SessionEpoch {
  std::uint32_t era = 0, epoch = 0;
  auto operator<=>(const SessionEpoch&) const = default;
};
std::optional<SessionEpoch> session_epoch(const std::string& line);
// When it was written, by its server's clock; 0 where it does not say.
std::int64_t audit_line_time(const std::string& line);

// The events around a time in which the log could not be written (audit_log.h).
inline constexpr const char* kAuditFull = "audit full";
inline constexpr const char* kAuditGap = "gap";
// The log was not the one that this server's store knew (audit_mark.h).
inline constexpr const char* kAuditBehind = "log behind";
bool begins_gap(const std::string& line);
bool ends_gap(const std::string& line);

// What a log says about another party's.
struct RecordedHead {
  int party = 0;
  AuditHead head;
  std::string where;      // file and line, for the message
  std::int64_t at_s = 0;  // when, by the clock of who recorded it
};

// Recorded audit heads that are not among `peers`: that server's log went with its disk, as the
// line `where` says, and it has a new one.
struct LeftOutHeads {
  int party = 0;
  std::size_t heads = 0;
  std::string where;
};

struct AuditSummary {
  AuditHead head;
  AuditHead before;  // of lines whose files are not there any more
  std::size_t files = 0;
  std::optional<int> party;         // whose log it is, as its session lines say
  std::vector<RecordedHead> peers;  // what it has recorded
  std::vector<LeftOutHeads> left_out;
  std::vector<std::string> gaps;  // where events are lacking: line, how many, since when; or lines
};

// Follows the chain through the closed files of this log and the one that is written (or through
// one closed file, if `path` is that), notes where it says itself that events are lacking, and
// looks for each of `recorded` in it, by line number and hash. Old files may have been deleted:
// then the chain begins in the middle, and what was recorded of before may be missing if that was
// before `deleted_before_s`. The error names the first line that breaks the chain, or the head that
// is not there, and what that means. `watch` counts the files' octets.
Result<AuditSummary> check_audit_log(const std::string& path,
                                     const std::vector<RecordedHead>& recorded = {},
                                     std::int64_t deleted_before_s = 0, const Watch& watch = {});
// The same of what `in` has; `path` is for messages.
Result<AuditSummary> check_audit_lines(std::istream& in, const std::string& path,
                                       const std::vector<RecordedHead>& recorded);

}  // namespace tkdc
