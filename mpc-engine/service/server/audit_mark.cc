// SPDX-License-Identifier: Apache-2.0
#include "service/server/audit_mark.h"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/codec.h"
#include "base/disk.h"
#include "base/durable_file.h"
#include "base/hex.h"
#include "base/log_events.h"
#include "base/machine.h"
#include "base/system_error.h"
#include "base/utc_time.h"

namespace tkdc {
namespace {

constexpr const char* kBehindNext =
    "; keep it as evidence, compare it with the other servers' (tkdc audit verify), and end this "
    "warning with `tkdc release`";
constexpr std::size_t kMostBehindBytes = 4096;  // of some such findings

std::string behind_text(const MissedHead& missed, const std::string& log_file) {
  const std::string known = std::to_string(missed.known.lines);
  if (missed.had < missed.known.lines)
    return log_file + " ended with line " + std::to_string(missed.had) +
           ", and this server's store knows line " + known +
           ": it was cut short, deleted or put back from a copy";
  return log_file + " has another line " + known +
         " than this server's store knows: it was written anew or put back from a copy";
}

std::string behind_event(const MissedHead& missed) {
  const nlohmann::json event = {{"event", kAuditBehind},
                                {"known", missed.known.lines},
                                {"head", to_hex(missed.known.hash)},
                                {"had", missed.had}};
  return event.dump();
}

}  // namespace

Result<std::optional<AuditHead>> kept_audit_head(Store& store) {
  auto kept = store.audit_head();
  if (!kept.ok()) return kept.error();
  if (kept->empty()) return std::optional<AuditHead>();
  Reader in(*kept);
  const AuditHead head = get_audit_head(in);
  if (!in.complete()) return fail("store: the audit log's head has another form than this release");
  return std::optional(head);
}

AuditMark::AuditMark(Store& store, AuditLog& log, std::string file)
    : store_(store), log_(log), file_(std::move(file)), missed_(log.missed()) {
  trouble_ = read_audit_behind(file_);
}

Result<void> AuditMark::look(long long now_ms) {
  if (missed_) return note(*missed_);
  see_release();
  const AuditHead head = log_.durable_head();
  if (head.lines == 0 || head == kept_ || now_ms < next_ms_) return {};
  next_ms_ = now_ms + kKeepEveryMs;
  return keep(head);
}

Result<void> AuditMark::leave() {
  if (missed_) return note(*missed_);
  const AuditHead head = log_.durable_head();
  if (head.lines == 0 || head == kept_) return {};
  return keep(head);
}

Result<void> AuditMark::note(const MissedHead& missed) {
  if (trouble_now_.empty()) {
    trouble_now_ = format_utc_spaced(static_cast<std::int64_t>(wall_s())) + ": " +
                   behind_text(missed, log_.path());
    std::lock_guard lock(mutex_);
    trouble_ += (trouble_.empty() ? "" : "; ") + trouble_now_;
  }
  if (line_ == 0) {
    if (auto written = log_.append(behind_event(missed)); !written.ok()) return written;
    line_ = log_.head().lines;
  }
  if (auto synced = log_.sync(); !synced.ok()) return synced;
  if (log_.durable_head().lines < line_) return {};
  if (!replace_kept(file_, trouble() + "\n"))
    return system_error("the file " + file_ + " cannot be written",
                        "what it is to say is said until this server stops, and found again then");
  if (auto kept = keep(log_.durable_head()); !kept.ok()) return kept;
  missed_.reset();
  return {};
}

Result<void> AuditMark::keep(const AuditHead& head) {
  Bytes octets;
  Writer out(octets);
  put_audit_head(out, head);
  if (auto put = store_.set_audit_head(octets); !put.ok()) return put;
  kept_ = head;
  return {};
}

void AuditMark::see_release() {
  if (trouble().empty() || !read_audit_behind(file_).empty()) return;
  {
    std::lock_guard lock(mutex_);
    trouble_.clear();
  }
  log_event(LogLevel::kNotice, event::kReleased, "what the audit log lacks was released");
  (void)log_.append(R"({"event":"log behind released"})").ok();
}

std::string AuditMark::alarm() const {
  const std::string found = trouble();
  return found.empty() ? "" : "the audit log is not the one that was here: " + found + kBehindNext;
}

std::string AuditMark::trouble() const {
  std::lock_guard lock(mutex_);
  return trouble_;
}

// One that cannot be read says something, too.
std::string read_audit_behind(const std::string& file) {
  auto text = disk().read(file, 0, kMostBehindBytes);
  if (!text && errno == ENOENT) return {};
  while (text && text->ends_with('\n')) text->pop_back();
  return !text || text->empty() ? file + " is empty" : *text;
}

Result<bool> forget_audit_behind(const std::string& file) {
  if (remove_durably(file)) return true;
  if (errno == ENOENT) return false;
  return system_error("the file " + file + " cannot be removed");
}

}  // namespace tkdc
