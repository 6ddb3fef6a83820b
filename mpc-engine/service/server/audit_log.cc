// SPDX-License-Identifier: Apache-2.0
#include "service/server/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/hex.h"
#include "base/system_error.h"
#include "base/utc_time.h"
#include "service/server/audit_check.h"

namespace tkdc {

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
    if (in.eof()) {
      cut = line;
      break;
    }
    last = line;
    if (auto epoch = session_epoch(line)) last_epoch_ = std::max(last_epoch_, *epoch);
  }
  torn_ = !cut.empty();
  if (!last.empty()) {
    auto parsed = parse_audit_line(last);
    if (!parsed)
      return fail("audit: the last line of " + path_ +
                  " is not an audit line; move the file away and keep it");
    head_ = {parsed->n, hash_audit_line(last)};
  }
  if (!torn_) return {};
  // The torn line stays, as evidence, and is part of the chain like any other.
  if (write(fd_.get(), "\n", 1) != 1) return system_error("audit: cannot write " + path_);
  head_.hash = hash_audit_line(cut);
  torn_ = false;
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
  ssize_t n = write(fd_.get(), out.data(), out.size());
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
  torn_ = false;
  head_ = {head_.lines + 1, hash_audit_line(line)};
  return {};
}

Result<void> AuditLog::sync() {
  if (fdatasync(fd_.get()) != 0) return system_error("audit: cannot sync " + path_);
  return {};
}

AuditHead AuditLog::head() const {
  std::lock_guard lock(mutex_);
  return head_;
}

}  // namespace tkdc
