// SPDX-License-Identifier: Apache-2.0
// What a server writes into its audit log, and what it says in its journal where it cannot.
#include "base/log_events.h"
#include "base/machine.h"
#include "service/server/disk_watch.h"
#include "service/server/server.h"

namespace tkdc {

Result<void> Server::open_audit_log() {
  auto known = kept_audit_head(*store_);
  if (!known.ok()) return known.error();
  AuditRotation rotation = config_.audit_rotation;
  rotation.room_bytes = audit_room(config_.audit_file, rotation.room_bytes);
  auto audit = AuditLog::open(config_.audit_file, rotation, known->value_or(AuditHead{}));
  if (!audit.ok()) return audit.error();
  audit_ = std::move(*audit);
  audit_mark_.emplace(*store_, *audit_, audit_behind_file(config_.store_path));
  return {};
}

void Server::look_at_audit_mark() {
  if (auto looked = audit_mark_->look(monotonic_ms()); !looked.ok())
    say_trouble(looked.error().message);
  alarms_->look_at_audit_log(audit_mark_->alarm());
}

void Server::leave_audit_mark() {
  if (auto left = audit_mark_->leave(); !left.ok())
    log_line(LogLevel::kWarning, left.error().message);
}

void Server::audit(const std::string& event) {
  if (auto written = audit_->append(event); !written.ok()) say_trouble(written.error().message);
}

bool Server::audit_job(const std::string& event) {
  auto written = audit_->append_job(event);
  if (!written.ok()) say_trouble(written.error().message);
  return written.ok();
}

// Once a minute for each, however many jobs meet it.
void Server::say_trouble(const std::string& text) {
  {
    std::lock_guard lock(mutex_);
    if (!work_troubles_.is_news(text, monotonic_ms())) return;
  }
  log_line(LogLevel::kError, text);
}

// That it is full is logged by whoever meets it, or here while there is no job.
void Server::sync_audit_log() {
  const bool was_closed = !audit_->takes_jobs();
  if (auto synced = audit_->sync(); !synced.ok()) say_trouble(synced.error().message);
  if (const std::string trouble = audit_->trouble(); !trouble.empty()) say_trouble(trouble);
  if (was_closed && audit_->takes_jobs())
    log_line(LogLevel::kNotice,
             "the audit log is written again; `tkdc audit verify` shows the gap");
}

void Server::keep_audit_log() {
  auto kept = audit_->keep();
  const std::string trouble = kept.ok() ? "" : kept.error().message;
  if (!trouble.empty() && trouble != keep_trouble_) log_line(LogLevel::kError, trouble);
  keep_trouble_ = trouble;
}

}  // namespace tkdc
