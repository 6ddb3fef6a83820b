// SPDX-License-Identifier: Apache-2.0
#include "service/server/audit_log.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "base/copy_access.h"
#include "base/durable_file.h"
#include "base/hex.h"
#include "base/system_error.h"
#include "base/utc_time.h"
#include "service/server/audit_check.h"
#include "service/server/audit_end.h"

namespace tkdc {

namespace {

constexpr mode_t kMode = 0640;
constexpr std::int64_t kSecondsOfDay = 86'400;
constexpr std::int64_t kTidyEveryS = 3'600;
constexpr std::size_t kLineOverhead = 512;  // around an event

ByteSpan octets_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string as_line(const AuditHead& head, const std::string& event) {
  return std::string("{\"n\":") + std::to_string(head.lines + 1) + ",\"time\":\"" + utc_now_ms() +
         "\",\"prev\":\"" + to_hex(head.hash) + "\",\"event\":" + event + "}";
}

bool sync_file(const std::string& path) {
  const auto file = disk().open(path, Disk::How::kAppend, kMode);
  return file && file->sync();
}

std::string continued(const std::string& closed, const SessionEpoch& epoch) {
  const std::string name = closed.substr(closed.rfind('/') + 1);
  return R"({"event":"continued","of":")" + name + R"(","era":)" + std::to_string(epoch.era) +
         ",\"epoch\":" + std::to_string(epoch.epoch) + "}";
}

}  // namespace

Result<std::unique_ptr<AuditLog>> AuditLog::open(const std::string& path,
                                                 const AuditRotation& rotation,
                                                 const AuditHead& known) {
  std::unique_ptr<AuditLog> log(new AuditLog(path, rotation));
  auto resumed = log->mend_names();
  log->file_ = disk().open(path, Disk::How::kAppend, kMode);
  if (resumed.ok() && !log->file_) resumed = system_error("audit: cannot open " + path);
  if (resumed.ok()) resumed = log->resume(known);
  // Its name, too, if it is new.
  if (resumed.ok()) resumed = log->sync();
  if (resumed.ok() && !sync_folder_of(path)) resumed = system_error("audit: cannot sync " + path);
  if (!resumed.ok()) return resumed.error();
  return log;
}

AuditLog::~AuditLog() { (void)tidied(true).ok(); }

// What a crash left while a file was being closed.
Result<void> AuditLog::mend_names() {
  const std::string draft = path_ + ".new";
  auto taken = take_up_draft();
  if (!taken.ok()) return taken.error();
  if (*taken) return {};
  if (::access(draft.c_str(), F_OK) == 0 && !remove_durably(draft))
    return system_error("audit: cannot remove " + draft);
  if (auto second = second_audit_name(path_); !second.empty() && !remove_durably(second))
    return system_error("audit: cannot remove " + second);
  return {};
}

// True: lines were appended to NAME.new already, and it is NAME now.
Result<bool> AuditLog::take_up_draft() {
  const std::string draft = path_ + ".new";
  if (::access(draft.c_str(), F_OK) != 0) return false;
  AuditLines old(path_), fresh(draft);
  std::string line, last, first;
  bool cut = false;
  while (old.next(line)) {
    last = std::exchange(line, {});
    cut = old.cut();
  }
  const bool has_first = fresh.next(first) && !fresh.cut();
  const auto before = parse_audit_line(last), behind = parse_audit_line(first);
  if (!old.fault().ok() || !has_first || cut || !before || !behind || behind->n != before->n + 1 ||
      behind->prev != hash_audit_line(last))
    return false;
  const std::string closed = closed_audit_name(path_, before->n);
  const bool named = ::link(path_.c_str(), closed.c_str()) == 0;  // house-rule: synced below
  if (!named && second_audit_name(path_) != closed)
    return system_error("audit: cannot make " + closed);
  if (!sync_file(path_) || !sync_file(draft) || !sync_folder_of(path_) ||
      !put_in_place(draft, path_, OldFile::kLeft))
    return system_error("audit: cannot put " + draft + " in place");
  return true;
}

// What the log has before the file that is written: that one has no line yet.
Result<void> AuditLog::resume_closed() {
  auto closed = closed_audit_files(path_);
  if (!closed.ok()) return closed.error();
  if (closed->empty()) return {};
  const std::string& newest = closed->back().path;
  AuditLines lines(newest);
  std::string line, last;
  while (lines.next(line)) {
    if (auto epoch = session_epoch(line)) last_epoch_ = std::max(last_epoch_, *epoch);
    last = line;
  }
  if (auto read = lines.fault(); !read.ok()) return read;
  auto parsed = parse_audit_line(last);
  if (!parsed || lines.cut())
    return fail("audit: the last line of " + newest +
                " is not an audit line; put the file back from a backup");
  head_ = {parsed->n, hash_audit_line(last)};
  had_ = head_.lines;
  return write_line(continued(closed_audit_name(path_, parsed->n), last_epoch_));
}

// A crash may come at any octet of what is written here, so whatever stands at the end is gone on
// from: lines that are cut, several in a row, a newline without what follows it.
Result<void> AuditLog::read_end(SoughtHead& known) {
  AuditEnd log;
  if (!read_audit_end(path_, log, known)) return system_error("audit: cannot read " + path_);
  if (log.last.empty() && log.ended) return resume_closed();
  bytes_ = log.bytes;
  begun_s_ = audit_line_time(log.first);
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
  since_before_ = log.gap;
  last_epoch_ = log.epoch;
  head_ = {whole ? whole->n : 0, hash_audit_line(log.last)};
  had_ = head_.lines;
  torn_ = !log.ended;
  if (whole && whole_line == log.last) {
    if (auto epoch = session_epoch(whole_line)) last_epoch_ = std::max(last_epoch_, *epoch);
    return {};
  }
  (void)put(R"({"event":"resumed after a line that was cut short"})", false).ok();
  return {};
}

// A full disk is no error: the server starts, and says so.
Result<void> AuditLog::resume(const AuditHead& known) {
  SoughtHead sought(known);
  if (auto read = read_end(sought); !read.ok()) return read;
  seek_in_closed(path_, sought);
  if (!sought.found()) missed_ = MissedHead{known, had_};
  if (auto room = room_.make(*file_, bytes_, kLineOverhead, rotation_.room_bytes); !room.ok())
    close(room.error().message);
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

Result<void> AuditLog::append_on_disk(const std::vector<std::string>& events) {
  const std::uint64_t failed = failed_syncs_;
  for (const std::string& event : events)
    if (auto written = append(event); !written) return written;
  return sync_unless_failed_since(failed);
}

Result<void> AuditLog::put(const std::string& event, bool of_job) {
  const std::uint64_t bytes = event.size() + kLineOverhead;
  if (!closed_)
    if (auto room = room_.make(*file_, bytes_, bytes, rotation_.room_bytes); !room.ok())
      close(room.error().message);
  if (closed_ && (of_job || !room_.takes(*file_, bytes_, bytes))) {
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
             "; no job is answered until it can: make room, or mend that disk";
  closed_since_ = utc_now_ms();
  closed_ = true;
  const nlohmann::json event = {{"event", kAuditFull}, {"reason", why}};
  const std::string text = event.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (!since_before_ && room_.takes(*file_, bytes_, text.size() + kLineOverhead))
    (void)write_line(text).ok();
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
  const std::string line = as_line(head_, event);
  if (line.find('\n') != std::string::npos) return fail("audit: an event with a line break");
  std::string out = (torn_ ? "\n" : "") + line + "\n";
  bool newline = true;
  ssize_t n = file_->write(octets_of(out));
  // Whole but for its newline, it is a line.
  if (n == static_cast<ssize_t>(out.size()) - 1) ++n, newline = false;
  if (n > 0) bytes_ += static_cast<std::uint64_t>(n);
  if (n != static_cast<ssize_t>(out.size())) {
    if (n > 0) {
      torn_ = out[static_cast<std::size_t>(n) - 1] != '\n';
      std::string rest = out.substr(0, static_cast<std::size_t>(n));
      if (rest.front() == '\n') rest.erase(0, 1);
      if (torn_) head_.hash = hash_audit_line(rest);
    }
    if (n < 0) return system_error("cannot be written");
    return fail("cannot be written: the disk is full");
  }
  torn_ = !newline;
  head_ = {head_.lines + 1, hash_audit_line(line)};
  if (begun_s_ == 0) begun_s_ = audit_line_time(line);
  if (auto epoch = session_epoch(line)) last_epoch_ = std::max(last_epoch_, *epoch);
  return {};
}

// Also closes the log: what a disk did not take cannot be shown. It is open again behind a sync
// that begins later and succeeds.
Result<void> AuditLog::sync() { return sync_unless_failed_since(failed_syncs_); }

Result<void> AuditLog::sync_unless_failed_since(std::uint64_t failed) {
  AuditHead written;
  std::shared_ptr<Disk::File> file, closing;
  {
    std::lock_guard lock(mutex_);
    written = head_;
    file = file_;
    closing = closing_;
  }
  if ((closing && !closing->sync()) || !file->sync()) {
    const int number = errno;
    std::lock_guard lock(mutex_);
    ++failed_syncs_;
    close(system_error("cannot be synced", {}, number).message);
    return fail(trouble_);
  }
  std::lock_guard lock(mutex_);
  if (failed_syncs_ != failed)
    return fail("audit: " + path_ + ": a sync failed meanwhile; ask again");
  if (written.lines >= durable_.lines) durable_ = written;
  if (closed_ && room_.make(*file_, bytes_, kLineOverhead).ok()) reopen();
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
    due = closing_ || ((is_long || is_old) && !torn_ && !closed_ && head_.lines > 0);
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

// Also goes on with what could not be ended before.
Result<void> AuditLog::rotate(std::int64_t now_s) {
  bool begun = false;
  std::uint64_t kept_bytes = 0;
  Result<void> kept;
  {
    std::lock_guard lock(mutex_);
    begun = closing_ != nullptr;
    kept_bytes = rotation_.room_bytes;
  }
  if (!begun) {
    const std::string draft = path_ + ".new";
    ::unlink(draft.c_str());
    std::shared_ptr<Disk::File> fresh = disk().open(draft, Disk::How::kAppend, kMode);
    if (!fresh) return system_error("audit: cannot create " + draft);
    // A log that never ends for the sake of a reader would fill the disk.
    kept = copy_access(path_, draft);
    FileRoom room;
    Result<void> made = room.make(*fresh, 0, kLineOverhead, kept_bytes);
    if (made.ok() && !sync_folder_of(path_))
      made = system_error("audit: cannot sync the folder of " + path_);
    if (made.ok()) made = begin_file(std::move(fresh), room, now_s);
    if (!made.ok()) {
      ::unlink(draft.c_str());
      return made;
    }
  }
  auto ended = end_file();
  return ended.ok() ? kept : ended;
}

// What others wait for: nothing here waits for the disk. Nothing has changed where it fails.
Result<void> AuditLog::begin_file(std::shared_ptr<Disk::File> fresh, const FileRoom& room,
                                  std::int64_t now_s) {
  std::lock_guard lock(mutex_);
  if (torn_ || closed_)
    return fail("audit: " + path_ + " ends in a line that is cut; it is closed later");
  const std::string closed = closed_audit_name(path_, head_.lines);
  const std::string line = as_line(head_, continued(closed, last_epoch_));
  const std::string whole = line + "\n";
  if (fresh->write(octets_of(whole)) != static_cast<ssize_t>(whole.size()))
    return system_error("audit: cannot write " + path_ + ".new");
  if (::link(path_.c_str(), closed.c_str()) != 0)  // house-rule: end_file() syncs it
    return system_error("audit: cannot make " + closed);
  closing_ = std::exchange(file_, std::move(fresh));
  room_ = room;
  head_ = {head_.lines + 1, hash_audit_line(line)};
  bytes_ = whole.size();
  begun_s_ = now_s;
  tidy_at_s_ = 0;
  return {};
}

// Where it fails, lines go on to NAME.new, and it is tried again.
Result<void> AuditLog::end_file() {
  if (auto synced = sync(); !synced.ok()) return synced;
  const std::string draft = path_ + ".new";
  const bool placed = sync_folder_of(path_) && put_in_place(draft, path_, OldFile::kLeft);
  const Error why = system_error("audit: cannot put " + draft + " in place");
  // Also where the folder could not be synced behind it: there is nothing left to put in place.
  if (placed || ::access(draft.c_str(), F_OK) != 0) {
    std::lock_guard lock(mutex_);
    if (closing_) closing_->give_back();
    closing_ = nullptr;
  }
  if (!placed) return why;
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

std::string AuditLog::trouble() const {
  std::lock_guard lock(mutex_);
  return trouble_;
}

std::uint64_t AuditLog::room() const {
  std::lock_guard lock(mutex_);
  return room_.left(bytes_);
}

SessionEpoch AuditLog::last_epoch() const {
  std::lock_guard lock(mutex_);
  return last_epoch_;
}

}  // namespace tkdc
