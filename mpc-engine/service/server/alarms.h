// SPDX-License-Identifier: Apache-2.0
// Lines in the journal about counters that ought to stand still: the first time at
// once, then at most every ten minutes, with what came since. `tkdc status` shows the
// sums. And about clocks that differ, nonce epochs that are used up too fast and disks with little
// room, each hour while it lasts, and each day about a certificate that ends, backups that are not
// made and an audit log that is not the one that was there. Used by the main thread.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/machine.h"
#include "service/job/job_service.h"
#include "service/server/clock_watch.h"
#include "service/server/disk_watch.h"
#include "service/server/epoch_watch.h"

namespace tkdc {

class Alarms {
 public:
  using Clock = SteadyClock;
  static constexpr auto kEvery = std::chrono::minutes(10);
  static constexpr auto kRemindEvery = std::chrono::hours(1);
  static constexpr auto kDaily = std::chrono::hours(24);

  explicit Alarms(std::function<void(const std::string&)> log) : log_(std::move(log)) {}

  void look(const JobServiceStatus& status, Clock::time_point now = Clock::now()) {
    say(unheralded_, status.logins_unheralded,
        " login replies were sealed for users whose preauthentication was not opened before; "
        "right only for principals that do not require it: the audit log has them by the SHA-256 "
        "of their names (tkdc audit show --principal)",
        now);
    say(keys_, status.keys_limited,
        " operations were refused because one key was asked for too often (limits.user_key_per_s, "
        "limits.service_key_per_s): a client in a loop, or somebody who collects replies",
        now);
    say(agents_, status.agents_limited,
        " operations were refused because an agent asked too often (limits.agent_per_s)", now);
  }
  void look(WhichParty party, const ClocksAhead& clocks, Clock::time_point now = Clock::now()) {
    const ClockAlarm alarm = clock_alarm(party, clocks);
    // The seconds change; what is worse is said at once, and that it is over.
    const int level = alarm.text.empty() ? 0 : alarm.error ? 2 : 1;
    if (level == 0 && clock_level_ > 0) log_("the servers' clocks agree again");
    if (level > clock_level_ || level == 0) clock_ = Reminder();
    clock_level_ = level;
    remind(clock_, alarm.text, now);
  }
  void look(const EpochReport& report, Clock::time_point now = Clock::now()) {
    const EpochAlarms alarms = epoch_alarms(report);
    remind(spent_, alarms.spent, now);
    remind(left_, alarms.left, now);
  }
  void look(const std::vector<DiskRoom>& rooms, Clock::time_point now = Clock::now()) {
    const std::string alarm = disk_alarm(rooms);
    if (alarm.empty()) disks_ = Reminder();
    remind(disks_, alarm, now);
  }
  void look_at_certificate(const std::string& alarm, Clock::time_point now = Clock::now()) {
    remind(certificate_, alarm, now, kDaily);
  }
  void look_at_backups(const std::string& alarm, Clock::time_point now = Clock::now()) {
    remind_daily(backups_, alarm, now);
  }
  void look_at_audit_log(const std::string& alarm, Clock::time_point now = Clock::now()) {
    remind_daily(audit_log_, alarm, now);
  }
  void look_at_dropped(const std::string& alarm, Clock::time_point now = Clock::now()) {
    remind_daily(dropped_, alarm, now);
  }

 private:
  // As long as it holds, not for what has come since.
  struct Reminder {
    bool said = false;
    Clock::time_point when{};
  };
  void remind(Reminder& reminder, const std::string& text, Clock::time_point now,
              Clock::duration every = kRemindEvery) {
    if (text.empty() || (reminder.said && now - reminder.when < every)) return;
    log_(text);
    reminder = {true, now};
  }
  // What comes again is said at once.
  void remind_daily(Reminder& reminder, const std::string& alarm, Clock::time_point now) {
    if (alarm.empty()) reminder = Reminder();
    remind(reminder, alarm, now, kDaily);
  }
  struct Watched {
    std::uint64_t said = 0;
    Clock::time_point when{};
  };
  void say(Watched& watched, std::uint64_t sum, const char* what, Clock::time_point now) {
    if (sum == watched.said || (watched.said != 0 && now - watched.when < kEvery)) return;
    log_(std::to_string(sum - watched.said) + what);
    watched = {sum, now};
  }

  std::function<void(const std::string&)> log_;
  Watched unheralded_, keys_, agents_;
  Reminder spent_, left_, clock_, certificate_, disks_, backups_, dropped_, audit_log_;
  int clock_level_ = 0;
};

}  // namespace tkdc
