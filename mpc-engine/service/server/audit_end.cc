// SPDX-License-Identifier: Apache-2.0
#include "service/server/audit_end.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/disk.h"
#include "service/server/audit_files.h"

namespace tkdc {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
// Of lines that end as whole ones do; the last of them may still be cut.
constexpr std::size_t kCandidates = 8;
constexpr std::string_view kBegin = "{\"n\":";

bool begins_as_ours(std::string_view line) {
  const std::size_t n = std::min(line.size(), kBegin.size());
  return line.substr(0, n) == kBegin.substr(0, n);
}

}  // namespace

// Its line, or one behind it that was cut short: the number stays, and the hash is that one's.
void SoughtHead::line(const std::string& text) {
  if (found_) return;
  if (text.starts_with(begin_)) near_ = true;
  if (!near_) return;
  found_ = hash_audit_line(text) == head_.hash;
  if (const auto whole = parse_audit_line(text); whole && whole->n != head_.lines) near_ = false;
}

void AuditEnd::line(std::string text, bool newline) {
  if (first.empty()) first = text;
  foreign = foreign || !begins_as_ours(text);
  ended = newline;
  if (text.ends_with("}}")) {
    candidates.push_back(text);
    if (candidates.size() > kCandidates) candidates.pop_front();
  }
  if (newline) {
    if (auto found = session_epoch(text)) epoch = std::max(epoch, *found);
    if (begins_gap(text)) gap = true;
    if (ends_gap(text)) gap = false;
  }
  last = std::move(text);
}

bool read_audit_end(const std::string& path, AuditEnd& out, SoughtHead& sought) {
  std::string begun;
  const auto take = [&](std::string text, bool newline) {
    sought.line(text);
    out.line(std::move(text), newline);
  };
  for (std::uint64_t at = 0;;) {
    const auto piece = disk().read(path, at, kPieceBytes);
    if (!piece) return false;
    at += piece->size();
    out.bytes = at;
    std::size_t from = 0;
    for (std::size_t end; (end = piece->find('\n', from)) != std::string::npos; from = end + 1)
      take(std::exchange(begun, {}) + piece->substr(from, end - from), true);
    begun += piece->substr(from);
    if (piece->size() == kPieceBytes) continue;
    if (!begun.empty()) take(begun, false);
    return true;
  }
}

void seek_in_closed(const std::string& path, SoughtHead& sought) {
  auto closed = closed_audit_files(path);
  if (!closed.ok() || sought.found()) return;
  const auto file = std::ranges::find_if(
      *closed, [&](const ClosedAuditFile& one) { return one.last >= sought.head().lines; });
  if (file == closed->end()) return;
  AuditLines lines(file->path);
  for (std::string line; lines.next(line);) sought.line(line);
}

}  // namespace tkdc
