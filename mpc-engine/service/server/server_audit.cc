// SPDX-License-Identifier: Apache-2.0
// What a server writes into its audit log, and what it says in its journal where it cannot.
#include "base/log_events.h"
#include "base/machine.h"
#include "service/server/server.h"

namespace tkdc {

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
