// SPDX-License-Identifier: Apache-2.0
#include "service/server/share_watch.h"

#include "base/utc_time.h"

namespace tkdc {
namespace {

// What a timer does each night was missed more than once.
constexpr std::int64_t kAuditDueS = 3 * 24 * 3600;
constexpr const char* kOfTwo =
    "shares: a realm on two servers has no MACs on shares to audit or deal: each stored bit has "
    "its own MAC, which is checked with each use";

nlohmann::json shares_json(const JobServiceStatus& jobs) {
  const ShareUpkeepStatus& s = jobs.shares;
  nlohmann::json json = {{"macs", s.possible && !jobs.pair},
                         {"running", s.running},
                         {"wanted", s.wanted},
                         {"keys", s.keys},
                         {"looked_at", s.looked_at},
                         {"dealt", s.dealt},
                         {"audited", s.audited},
                         {"without", s.without},
                         {"stale", s.stale},
                         {"failed", s.failed},
                         {"finished", s.finished},
                         {"seconds", s.seconds},
                         {"alarms", jobs.share_alarms},
                         {"refresh_epoch", jobs.refresh_epoch},
                         {"refreshed_at", jobs.refreshed_at_s}};
  if (s.task) json["task"] = share_task_name(*s.task);
  if (s.ended_at_s != 0) json["ended_at"] = s.ended_at_s;
  if (!s.trouble.empty()) json["trouble"] = s.trouble;
  if (jobs.refreshing_since_s != 0) json["refreshing_since"] = jobs.refreshing_since_s;
  if (!jobs.share_alarms_named.empty()) json["alarms_named"] = jobs.share_alarms_named;
  return json;
}

std::string under_way(const JobServiceStatus& jobs) {
  const std::string text = "this is under way already: `tkdc shares status` says how far it is";
  if (jobs.refreshing_since_s == 0) return text;
  return text + ". It is of use against what was stolen before " +
         format_utc_spaced(static_cast<std::int64_t>(jobs.refreshing_since_s)) +
         ": for a later theft ask again when it has ended";
}

}  // namespace

ShareWatch::ShareWatch(std::string store_path, JobService& jobs, Tell log, Tell audit)
    : store_path_(std::move(store_path)), jobs_(jobs), log_(std::move(log)),
      audit_(std::move(audit)) {
  if (auto kept = read_last_audit(store_path_); kept.ok())
    last_audit_ = *kept;
  else
    log_(kept.error().message);
}

nlohmann::json ShareWatch::state(const JobServiceStatus& jobs) {
  nlohmann::json json = shares_json(jobs);
  std::optional<LastAudit> last;
  {
    std::lock_guard lock(last_audit_mutex_);
    last = last_audit_;
  }
  if (!last) return json;
  json["last_audit"] = {{"at", last->at_s},
                        {"audited", last->audited},
                        {"failed", last->failed},
                        {"without", last->without}};
  const std::string at = format_utc(last->at_s);
  std::string warning;
  if (last->failed > 0)
    warning = "the last audit of shares, " + at + ", found " + std::to_string(last->failed) +
              " keys whose shares differ; see the journal of then";
  else if (jobs.shares.possible && static_cast<std::int64_t>(wall_s()) - last->at_s > kAuditDueS)
    warning = "the last audit of shares was " + at +
              "; see tkdc-audit@NAME.timer on the servers, or run `tkdc shares audit`";
  if (!warning.empty()) json["audit_warning"] = warning;
  return json;
}

nlohmann::json ShareWatch::state() { return state(jobs_.status()); }

// Of those that came to their end, whoever asked. What is wanted or at work now says no more what
// was before it.
void ShareWatch::keep_audit(const ShareUpkeepStatus& shares) {
  if (shares.wanted || shares.running) return;
  if (shares.task != ShareTask::kAudit || !shares.trouble.empty()) return;
  const LastAudit last{shares.ended_at_s, shares.audited, shares.failed, shares.without};
  {
    std::lock_guard lock(last_audit_mutex_);
    last_audit_ = last;
  }
  if (auto kept = write_last_audit(store_path_, last); !kept.ok()) log_(kept.error().message);
}

Result<std::string> ShareWatch::ask(const std::string& word) {
  std::lock_guard lock(mutex_);
  const JobServiceStatus now = look_under_lock();
  const auto task = share_task_of(word);
  if (!task && word != "status") return fail("shares: no such request: " + word);
  if (task) {
    if (!now.session_up) return fail("there is no session between the servers; see `tkdc status`");
    if (now.pair && *task != ShareTask::kRefresh) return fail(kOfTwo);
    if (!now.shares.possible)
      return fail(
          "the session has no MACs on shares: set store.share_macs on all three servers, which "
          "run a release that has them, and restart them one by one");
    if (now.shares.repaired)
      return fail("a server is being repaired: `tkdc repair status` says how far it is");
    if (now.shares.running || now.shares.wanted) return fail(under_way(now));
    if (auto written = write_share_request(store_path_, *task); !written.ok())
      return written.error();
    jobs_.ask_shares(*task);
    asked_ = true;
    finished_ = now.shares.finished;
  }
  // One look for all that is told: what has ended since is not kept yet.
  return state(task ? jobs_.status() : now)
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void ShareWatch::look() {
  std::lock_guard lock(mutex_);
  look_under_lock();
}

JobServiceStatus ShareWatch::look_under_lock() {
  const JobServiceStatus now = jobs_.status();
  if (now.shares.finished != finished_) {
    finished_ = now.shares.finished;
    keep_audit(now.shares);
    nlohmann::json event = shares_json(now);
    event.erase("alarms_named");
    event["event"] = "shares";
    audit_(event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    // What another server's administrator wanted may end before it. One that ended for want of
    // something is asked again, at the next start or by the administrator.
    // Of two servers one that had begun before this was asked is not this one, which follows it.
    const bool has_ended = asked_ && !now.shares.wanted && now.shares.trouble.empty();
    if (has_ended && (!now.pair || now.refreshed_at_s >= share_request_at(store_path_)))
      if (auto removed = remove_share_request(store_path_); !removed.ok())
        log_(removed.error().message);
    asked_ = asked_ && !has_ended;
  }
  if (asked_ || !now.shares.possible || now.shares.repaired) return now;
  auto request = read_share_request(store_path_);
  const std::string trouble = request.ok() ? "" : request.error().message;
  if (!trouble.empty() && trouble != trouble_) log_(trouble);
  trouble_ = trouble;
  if (!request.ok() || !request->has_value()) return now;
  go_on_with(**request, now);
  return jobs_.status();  // what goes on is under way
}

// One that was asked for before this server's start. Of two servers, by its time: what has begun
// since covers it, and what had begun before does not.
void ShareWatch::go_on_with(ShareTask task, const JobServiceStatus& now) {
  const std::uint64_t at = now.pair ? share_request_at(store_path_) : 0;
  if (at != 0 && now.refreshed_at_s >= at) {
    if (auto removed = remove_share_request(store_path_); !removed.ok())
      log_(removed.error().message);
    return;
  }
  const bool covered = now.refreshing_since_s == 0 || now.refreshing_since_s >= at;
  if (covered)
    jobs_.go_on_with_shares(task);
  else
    jobs_.ask_shares(task);
  asked_ = true;
}

}  // namespace tkdc
