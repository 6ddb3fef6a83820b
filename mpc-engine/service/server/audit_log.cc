// SPDX-License-Identifier: Apache-2.0
#include "service/server/audit_log.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "base/durable_file.h"
#include "base/hex.h"
#include "base/system_error.h"
#include "base/utc_time.h"
#include "service/server/audit_check.h"

namespace tkdc {

namespace {

constexpr mode_t kMode = 0640;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
// Of lines that end as whole ones do; the last of them may still be cut.
constexpr std::size_t kCandidates = 8;
constexpr std::string_view kBegin = "{\"n\":";

bool begins_as_ours(std::string_view line) {
  const std::size_t n = std::min(line.size(), kBegin.size());
  return line.substr(0, n) == kBegin.substr(0, n);
}

// A log as it is read from its beginning: in pieces, since it may be long.
struct Read {
  std::deque<std::string> candidates;  // for the last whole line
  std::string last;                    // whole or not
  bool ended = true;                   // by a newline
  bool foreign = false;                // none of our lines, whole or cut
  SessionEpoch epoch;

  void line(std::string text, bool newline) {
    foreign = foreign || !begins_as_ours(text);
    ended = newline;
    if (text.ends_with("}}")) {
      candidates.push_back(text);
      if (candidates.size() > kCandidates) candidates.pop_front();
    }
    if (newline)
      if (auto found = session_epoch(text)) epoch = std::max(epoch, *found);
    last = std::move(text);
  }
};

bool read_log(const std::string& path, Read& out) {
  std::string begun;
  for (std::uint64_t at = 0;;) {
    const auto piece = disk().read(path, at, kPieceBytes);
    if (!piece) return false;
    at += piece->size();
    std::size_t from = 0;
    for (std::size_t end; (end = piece->find('\n', from)) != std::string::npos; from = end + 1)
      out.line(std::exchange(begun, {}) + piece->substr(from, end - from), true);
    begun += piece->substr(from);
    if (piece->size() == kPieceBytes) continue;
    if (!begun.empty()) out.line(begun, false);
    return true;
  }
}

ByteSpan octets_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

Result<std::unique_ptr<AuditLog>> AuditLog::open(const std::string& path) {
  auto file = disk().open(path, Disk::How::kAppend, kMode);
  if (!file) return system_error("audit: cannot open " + path);
  std::unique_ptr<AuditLog> log(new AuditLog(path, std::move(file)));
  auto resumed = log->resume();
  // Its name, too, if it is new.
  if (resumed.ok()) resumed = log->sync();
  if (resumed.ok() && !sync_folder_of(path)) resumed = system_error("audit: cannot sync " + path);
  if (!resumed.ok()) return resumed.error();
  return log;
}

// A crash may come at any octet of what is written here, so whatever stands at the end is gone on
// from: lines that are cut, several in a row, a newline without what follows it.
Result<void> AuditLog::resume() {
  Read log;
  if (!read_log(path_, log)) return system_error("audit: cannot read " + path_);
  if (log.last.empty() && log.ended) return {};
  std::optional<AuditLine> whole;
  std::string whole_line;
  while (!whole && !log.candidates.empty()) {
    whole_line = std::move(log.candidates.back());
    log.candidates.pop_back();
    whole = parse_audit_line(whole_line);
  }
  if (log.foreign || (!whole && log.ended && log.last.ends_with("}}")))
    return fail("audit: a line of " + path_ +
                " is not an audit line; move the file away and keep it");
  last_epoch_ = log.epoch;
  head_ = {whole ? whole->n : 0, hash_audit_line(log.last)};
  torn_ = !log.ended;
  if (whole && whole_line == log.last) {
    if (auto epoch = session_epoch(whole_line)) last_epoch_ = std::max(last_epoch_, *epoch);
    return {};
  }
  return write_line(R"({"event":"resumed after a line that was cut short"})");
}

Result<void> AuditLog::append(const std::string& event) {
  std::lock_guard lock(mutex_);
  return write_line(event);
}

Result<void> AuditLog::write_line(const std::string& event) {
  std::string line = std::string("{\"n\":") + std::to_string(head_.lines + 1) + ",\"time\":\"" +
                     utc_now_ms() + "\",\"prev\":\"" + to_hex(head_.hash) +
                     "\",\"event\":" + event + "}";
  if (line.find('\n') != std::string::npos) return fail("audit: an event with a line break");
  std::string out = (torn_ ? "\n" : "") + line + "\n";
  bool newline = true;
  ssize_t n = file_->write(octets_of(out));
  // Whole but for its newline, it is a line.
  if (n == static_cast<ssize_t>(out.size()) - 1) ++n, newline = false;
  if (n != static_cast<ssize_t>(out.size())) {
    if (n > 0) {
      torn_ = out[static_cast<std::size_t>(n) - 1] != '\n';
      std::string rest = out.substr(0, static_cast<std::size_t>(n));
      if (rest.front() == '\n') rest.erase(0, 1);
      if (torn_) head_.hash = hash_audit_line(rest);
    }
    if (n < 0) return system_error("audit: cannot write " + path_);
    return fail("audit: cannot write " + path_ + ": the disk is full");
  }
  torn_ = !newline;
  head_ = {head_.lines + 1, hash_audit_line(line)};
  return {};
}

Result<void> AuditLog::sync() {
  const AuditHead written = head();
  if (!file_->sync()) return system_error("audit: cannot sync " + path_);
  std::lock_guard lock(mutex_);
  if (written.lines >= durable_.lines) durable_ = written;
  return {};
}

AuditHead AuditLog::durable_head() const {
  std::lock_guard lock(mutex_);
  return durable_;
}

AuditHead AuditLog::head() const {
  std::lock_guard lock(mutex_);
  return head_;
}

}  // namespace tkdc
