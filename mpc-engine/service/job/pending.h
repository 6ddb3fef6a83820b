// SPDX-License-Identifier: Apache-2.0
// Jobs that a server has received and not yet admitted to a lane. Thread-safe.
#pragma once

#include <map>
#include <mutex>

#include "service/job/job.h"

namespace tkdc {

class PendingJobs {
 public:
  explicit PendingJobs(std::size_t max) : max_(max) {}

  // Takes the job and returns null; gives it back when the limit is reached or
  // the name is taken.
  std::unique_ptr<Job> put(std::unique_ptr<Job> job) {
    std::lock_guard lock(mutex_);
    const JobName name = job->request.name;
    if (jobs_.size() >= max_ || jobs_.contains(name)) return job;
    jobs_.emplace(name, std::move(job));
    return nullptr;
  }

  // Null when this server has not (or no longer) got the job.
  std::unique_ptr<Job> take(const JobName& name) {
    std::lock_guard lock(mutex_);
    auto it = jobs_.find(name);
    if (it == jobs_.end()) return nullptr;
    auto job = std::move(it->second);
    jobs_.erase(it);
    return job;
  }

  // Of its input; none once its deadline was over before it was taken.
  std::optional<std::size_t> input_octets(const JobName& name) const {
    std::lock_guard lock(mutex_);
    const auto it = jobs_.find(name);
    if (it == jobs_.end()) return std::nullopt;
    return it->second->request.input_bytes();
  }

  // Which protocol it asks for; none where any will do, or the job is gone.
  std::string protocol(const JobName& name) const {
    std::lock_guard lock(mutex_);
    const auto it = jobs_.find(name);
    return it == jobs_.end() ? std::string() : it->second->request.protocol;
  }

  // What it asks for; nothing of a job on keys themselves.
  struct Asked {
    KeyId key;
    tkdc_wire_op op;
    std::uint32_t usage;
    std::size_t input_bytes;
  };
  std::optional<Asked> asked(const JobName& name) const {
    std::lock_guard lock(mutex_);
    const auto it = jobs_.find(name);
    if (it == jobs_.end()) return std::nullopt;
    const JobRequest& request = it->second->request;
    if (tkdc::is_management(request.op)) return std::nullopt;
    return Asked{request.key.id, request.op, request.usage, request.input_bytes()};
  }

  // Takes out those of which `take` is true.
  template <class Take>
  std::vector<std::unique_ptr<Job>> take_if(const Take& take) {
    std::lock_guard lock(mutex_);
    std::vector<std::unique_ptr<Job>> taken;
    for (auto it = jobs_.begin(); it != jobs_.end();) {
      const bool now = take(*it->second);
      if (now) taken.push_back(std::move(it->second));
      it = now ? jobs_.erase(it) : std::next(it);
    }
    return taken;
  }

  // Every job whose deadline is over.
  std::vector<std::unique_ptr<Job>> take_expired() {
    const auto now = Job::Clock::now();
    return take_if([&](const Job& job) { return job.deadline <= now; });
  }

  std::vector<JobName> names() const {
    std::lock_guard lock(mutex_);
    std::vector<JobName> out;
    for (const auto& [name, job] : jobs_) out.push_back(name);
    return out;
  }
  bool is_management(const JobName& name) const {
    std::lock_guard lock(mutex_);
    auto it = jobs_.find(name);
    return it != jobs_.end() && tkdc::is_management(it->second->request.op);
  }
  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return jobs_.size();
  }

 private:
  const std::size_t max_;
  mutable std::mutex mutex_;
  std::map<JobName, std::unique_ptr<Job>> jobs_;
};

}  // namespace tkdc
