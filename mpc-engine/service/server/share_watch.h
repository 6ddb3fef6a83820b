// SPDX-License-Identifier: Apache-2.0
// A server's side of `tkdc shares`: takes what is asked, keeps it over restarts until it has come
// to its end, and says how far it is. The main thread looks once a second; the administrator's
// socket has its own.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include <nlohmann/json.hpp>

#include "service/job/job_service.h"
#include "service/server/share_request.h"

namespace tkdc {

class ShareWatch {
 public:
  using Tell = std::function<void(const std::string&)>;

  // `audit`: a line of the audit log.
  ShareWatch(std::string store_path, JobService& jobs, Tell log, Tell audit);

  // "audit", "deal", "refresh" or "status": the state as JSON. Error: not understood, or not
  // possible now.
  Result<std::string> ask(const std::string& word);
  // Once a second.
  void look();
  // For `tkdc status` and `tkdc shares status`. Waits for no disk. Any thread.
  nlohmann::json state();

 private:
  nlohmann::json state(const JobServiceStatus& jobs);
  JobServiceStatus look_under_lock();
  void go_on_with(ShareTask task, const JobServiceStatus& now);
  void keep_audit(const ShareUpkeepStatus& shares);

  const std::string store_path_;
  JobService& jobs_;
  const Tell log_, audit_;
  std::mutex mutex_;            // one at a time, its files too
  bool asked_ = false;          // of jobs_, what the file says
  std::uint64_t finished_ = 0;  // as it was last seen
  std::string trouble_;
  std::mutex last_audit_mutex_;  // taken last
  std::optional<LastAudit> last_audit_;
};

}  // namespace tkdc
