// SPDX-License-Identifier: Apache-2.0
#include "service/server/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "base/system_error.h"
#include "base/utc_time.h"
#include "service/server/audit_check.h"

namespace tkdc {
namespace {

constexpr std::size_t kLineOverhead = 256;  // around an event

}  // namespace

Result<std::unique_ptr<AuditLog>> AuditLog::open(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640));
  if (!fd) return system_error("audit: cannot open " + path);
  std::unique_ptr<AuditLog> log(new AuditLog(path, std::move(fd)));
  auto resumed = log->resume();
  if (!resumed.ok()) return resumed.error();
  return log;
}

Result<void> AuditLog::resume() {
  std::ifstream in(path_, std::ios::binary);
  std::string line, last, cut;
  while (std::getline(in, line)) {
    end_ += line.size() + (in.eof() ? 0 : 1);
    if (in.eof()) {
      cut = line;
      break;
    }
    last = line;
    if (auto epoch = session_epoch(line)) last_epoch_ = std::max(last_epoch_, *epoch);
    if (begins_gap(line)) since_before_ = true;
    if (ends_gap(line)) since_before_ = false;
  }
  torn_ = !cut.empty();
  if (!last.empty()) {
    auto parsed = parse_audit_line(last);
    if (!parsed)
      return fail("audit: the last line of " + path_ +
                  " is not an audit line; move the file away and keep it");
    head_ = {parsed->n, hash_audit_line(last)};
  }
  // The torn line stays, as evidence, and is part of the chain like any other.
  if (torn_) head_.hash = hash_audit_line(cut);
  room_.adopt();
  if (torn_) (void)put(R"({"event":"resumed after a line that was cut short"})", false);
  if (auto room = room_.make(end_, kLineOverhead); !room) close(room.error().message);
  if (since_before_ && !closed_) reopen();
  return {};
}

Result<void> AuditLog::append(const std::string& event) {
  std::lock_guard lock(mutex_);
  return put(event, false);
}

Result<void> AuditLog::append_job(const std::string& event) {
  std::lock_guard lock(mutex_);
  return put(event, true);
}

Result<void> AuditLog::put(const std::string& event, bool of_job) {
  const std::uint64_t bytes = event.size() + kLineOverhead;
  if (!closed_)
    if (auto room = room_.make(end_, bytes); !room) close(room.error().message);
  if (closed_ && (of_job || !room_.holds(end_, bytes))) {
    lost_++;
    return fail(trouble_);
  }
  auto written = write_line(event);
  if (written.ok()) return {};
  lost_++;
  close(written.error().message);
  return fail(trouble_);
}

// From here on no job is answered.
void AuditLog::close(const std::string& why) {
  if (closed_) return;
  trouble_ = "audit: " + path_ + ": " + why +
             "; no job is answered until there is: make room, or mend that disk";
  closed_since_ = utc_now_ms();
  closed_ = true;
  const nlohmann::json event = {{"event", kAuditFull}, {"reason", why}};
  const std::string text = event.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (!since_before_ && room_.holds(end_, text.size() + kLineOverhead)) (void)write_line(text);
}

// Jobs are taken when the line that counts what is lacking stands in the chain.
void AuditLog::reopen() {
  nlohmann::json event = {{"event", kAuditGap}, {"lost", lost_ - counted_}};
  if (!closed_since_.empty()) event["since"] = closed_since_;
  if (since_before_) event["began"] = "before a restart, which does not know how many it were then";
  if (!write_line(event.dump()).ok()) return;
  counted_ = lost_;
  since_before_ = false;
  trouble_.clear();
  closed_since_.clear();
  closed_ = false;
}

Result<void> AuditLog::write_line(const std::string& event) {
  std::string line = std::string("{\"n\":") + std::to_string(head_.lines + 1) + ",\"time\":\"" +
                     utc_now_ms() + "\",\"prev\":\"" + to_hex(head_.hash) +
                     "\",\"event\":" + event + "}";
  if (line.find('\n') != std::string::npos) return fail("an event with a line break");
  std::string out = (torn_ ? "\n" : "") + line + "\n";
  ssize_t n = write(fd_.get(), out.data(), out.size());
  if (n > 0) end_ += static_cast<std::uint64_t>(n);
  if (n != static_cast<ssize_t>(out.size())) {
    if (n > 0) {
      std::string rest = out.substr(0, static_cast<std::size_t>(n));
      if (rest.front() == '\n') rest.erase(0, 1);
      torn_ = !rest.empty();
      if (torn_) head_.hash = hash_audit_line(rest);
    }
    if (n < 0) return system_error("cannot be written");
    return fail("cannot be written: the disk is full");
  }
  torn_ = false;
  head_ = {head_.lines + 1, hash_audit_line(line)};
  return {};
}

Result<void> AuditLog::sync() {
  {
    std::lock_guard lock(mutex_);
    if (closed_ && room_.make(end_, kLineOverhead).ok()) reopen();
  }
  if (fdatasync(fd_.get()) != 0) return system_error("audit: cannot sync " + path_);
  return {};
}

AuditHead AuditLog::head() const {
  std::lock_guard lock(mutex_);
  return head_;
}

std::string AuditLog::trouble() const {
  std::lock_guard lock(mutex_);
  return trouble_;
}

}  // namespace tkdc
