// SPDX-License-Identifier: Apache-2.0
#include "service/server/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <system_error>

#include "base/durable_file.h"
#include "base/hex.h"
#include "base/system_error.h"
#include "base/utc_time.h"
#include "service/server/audit_check.h"

namespace tkdc {
namespace {

constexpr mode_t kMode = 0640;
constexpr std::int64_t kSecondsOfDay = 86'400;
constexpr std::int64_t kTidyEveryS = 3'600;

UniqueFd open_log(const std::string& path, int flags) {
  return UniqueFd(
      ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, kMode));
}

std::string as_line(const AuditHead& head, const std::string& event) {
  return std::string("{\"n\":") + std::to_string(head.lines + 1) + ",\"time\":\"" + utc_now_ms() +
         "\",\"prev\":\"" + to_hex(head.hash) + "\",\"event\":" + event + "}";
}

// 0 where it does not say.
std::int64_t time_of(const std::string& line) {
  constexpr std::string_view kTime = "\"time\":\"";
  constexpr std::size_t kToSecond = 19;
  const std::size_t at = line.find(kTime);
  if (at == std::string::npos) return 0;
  auto s = parse_utc(line.substr(at + kTime.size(), kToSecond), 0);
  return s.ok() ? *s : 0;
}

std::string continued(const std::string& closed, const SessionEpoch& epoch) {
  const std::string name = closed.substr(closed.rfind('/') + 1);
  return R"({"event":"continued","of":")" + name + R"(","era":)" + std::to_string(epoch.era) +
         ",\"epoch\":" + std::to_string(epoch.epoch) + "}";
}

}  // namespace

Result<std::unique_ptr<AuditLog>> AuditLog::open(const std::string& path,
                                                 const AuditRotation& rotation) {
  std::unique_ptr<AuditLog> log(new AuditLog(path, rotation));
  auto resumed = log->resume();
  if (!resumed.ok()) return resumed.error();
  return log;
}

AuditLog::~AuditLog() { (void)tidied(true).ok(); }

Result<void> AuditLog::read_lines(const std::string& path, std::string& last, std::string& cut) {
  AuditLines lines(path);
  std::string line;
  while (lines.next(line)) {
    if (lines.cut()) {
      cut = line;
      break;
    }
    if (begun_s_ == 0) begun_s_ = time_of(line);
    if (auto epoch = session_epoch(line)) last_epoch_ = std::max(last_epoch_, *epoch);
    last = line;
  }
  return lines.fault();
}

// What the log has before the file that is written: that one has no line yet.
Result<void> AuditLog::resume_closed() {
  auto closed = closed_audit_files(path_);
  if (!closed.ok()) return closed.error();
  if (closed->empty()) return {};
  const std::string& newest = closed->back().path;
  std::string last, cut;
  if (auto read = read_lines(newest, last, cut); !read.ok()) return read;
  auto parsed = parse_audit_line(last);
  if (!parsed || !cut.empty())
    return fail("audit: the last line of " + newest +
                " is not an audit line; put the file back from a backup");
  head_ = {parsed->n, hash_audit_line(last)};
  begun_s_ = 0;
  return write_line(continued(closed_audit_name(path_, parsed->n), last_epoch_));
}

Result<void> AuditLog::resume() {
  const std::string draft = path_ + ".new";
  if (::access(draft.c_str(), F_OK) == 0 && !remove_durably(draft))
    return system_error("audit: cannot remove " + draft);
  if (auto second = second_audit_name(path_); !second.empty() && !remove_durably(second))
    return system_error("audit: cannot remove " + second);
  fd_ = std::make_shared<UniqueFd>(open_log(path_, 0));
  struct stat st {};
  if (!*fd_ || ::fstat(fd_->get(), &st) != 0) return system_error("audit: cannot open " + path_);
  bytes_ = static_cast<std::uint64_t>(st.st_size);
  if (bytes_ == 0) return resume_closed();
  std::string last, cut;
  if (auto read = read_lines(path_, last, cut); !read.ok()) return read;
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
  if (write(fd_->get(), "\n", 1) != 1) return system_error("audit: cannot write " + path_);
  head_.hash = hash_audit_line(cut);
  torn_ = false;
  return write_line(R"({"event":"resumed after a line that was cut short"})");
}

Result<void> AuditLog::append(const std::string& event) {
  std::lock_guard lock(mutex_);
  return write_line(event);
}

Result<void> AuditLog::write_line(const std::string& event) {
  const std::string line = as_line(head_, event);
  if (line.find('\n') != std::string::npos) return fail("audit: an event with a line break");
  std::string out = (torn_ ? "\n" : "") + line + "\n";
  ssize_t n = write(fd_->get(), out.data(), out.size());
  if (n > 0) bytes_ += static_cast<std::uint64_t>(n);
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
  if (begun_s_ == 0) begun_s_ = time_of(line);
  if (auto epoch = session_epoch(line)) last_epoch_ = std::max(last_epoch_, *epoch);
  return {};
}

Result<void> AuditLog::sync() {
  std::shared_ptr<UniqueFd> file;
  {
    std::lock_guard lock(mutex_);
    file = fd_;
  }
  if (fdatasync(file->get()) != 0) return system_error("audit: cannot sync " + path_);
  return {};
}

void AuditLog::keep_as(const AuditRotation& rotation) {
  std::lock_guard lock(mutex_);
  rotation_ = rotation;
}

Result<void> AuditLog::keep(std::int64_t now_s) {
  Result<void> done = tidied(false);
  bool due = false;
  AuditKeeping keeping;
  {
    std::lock_guard lock(mutex_);
    const bool is_long = rotation_.most_bytes > 0 && bytes_ >= rotation_.most_bytes;
    const bool is_old =
        rotation_.days > 0 && begun_s_ > 0 && now_s - begun_s_ >= rotation_.days * kSecondsOfDay;
    due = (is_long || is_old) && !torn_ && head_.lines > 0;
    keeping = rotation_.keeping;
  }
  if (due) {
    if (auto rotated = rotate(now_s); !rotated.ok()) done = rotated;
  }
  if (!tidying_.valid() && now_s >= tidy_at_s_) {
    tidy_at_s_ = now_s + kTidyEveryS;
    if (auto begun = begin_to_tidy(keeping, now_s); !begun.ok()) done = begun;
  }
  return done;
}

Result<void> AuditLog::begin_to_tidy(const AuditKeeping& keeping, std::int64_t now_s) {
  try {
    tidying_ = std::async(std::launch::async, [path = path_, keeping, now_s] {
      return tidy_audit_files(path, keeping, now_s);
    });
  } catch (const std::system_error& error) {
    return fail(std::string("audit: no thread to look after closed files: ") + error.what());
  }
  return {};
}

// What the thread that looks after closed files had to say, once it has ended.
Result<void> AuditLog::tidied(bool wait) {
  if (!tidying_.valid()) return {};
  if (!wait && tidying_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return {};
  return tidying_.get();
}

Result<void> AuditLog::rotate(std::int64_t now_s) {
  // Most of it before others have to wait.
  if (auto synced = sync(); !synced.ok()) return synced;
  std::lock_guard lock(mutex_);
  if (torn_) return {};
  if (fdatasync(fd_->get()) != 0) return system_error("audit: cannot sync " + path_);
  if (auto begun = begin_file(); !begun.ok()) return begun;
  begun_s_ = now_s;
  tidy_at_s_ = 0;
  return {};
}

// Under mutex_; the file that is written is on disk. Nothing has changed where it fails.
Result<void> AuditLog::begin_file() {
  const std::string draft = path_ + ".new", closed = closed_audit_name(path_, head_.lines);
  const std::string line = as_line(head_, continued(closed, last_epoch_));
  ::unlink(draft.c_str());
  auto fresh = std::make_shared<UniqueFd>(open_log(draft, O_EXCL));
  if (!*fresh) return system_error("audit: cannot create " + draft);
  Result<void> done;
  if (!write_synced(fresh->get(), line + "\n")) {
    done = system_error("audit: cannot write " + draft);
  } else if (::link(path_.c_str(), closed.c_str()) != 0) {
    done = system_error("audit: cannot make " + closed);
  } else if (!sync_folder_of(path_) || ::rename(draft.c_str(), path_.c_str()) != 0) {
    done = system_error("audit: cannot put " + draft + " in place");
    ::unlink(closed.c_str());
  }
  if (!done.ok()) {
    ::unlink(draft.c_str());
    return done;
  }
  fd_ = std::move(fresh);
  head_ = {head_.lines + 1, hash_audit_line(line)};
  bytes_ = line.size() + 1;
  if (!sync_folder_of(path_)) return system_error("audit: cannot sync the folder of " + path_);
  return {};
}

AuditHead AuditLog::head() const {
  std::lock_guard lock(mutex_);
  return head_;
}

SessionEpoch AuditLog::last_epoch() const {
  std::lock_guard lock(mutex_);
  return last_epoch_;
}

}  // namespace tkdc
