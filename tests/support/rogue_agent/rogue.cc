// SPDX-License-Identifier: Apache-2.0
#include "rogue.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>

namespace tkdc::agent {

Rogue::Rogue(const AgentConfig& config, int timeout_ms)
    : config_(config), timeout_ms_(timeout_ms), epoll_fd_(::epoll_create1(EPOLL_CLOEXEC)) {
  randombytes_buf(&session_, sizeof session_);
}

Rogue::~Rogue() {
  for (auto& link : links_) link.reset();
  ::close(epoll_fd_);
}

Result<std::unique_ptr<Rogue>> Rogue::connect(const AgentConfig& config, int timeout_ms) {
  std::unique_ptr<Rogue> rogue(new Rogue(config, timeout_ms));
  for (int party = 0; party < 3; ++party) {
    auto link = open_zmq_link(rogue->context_, config, party, rogue->epoll_fd_, 0);
    if (!link) return link.error();
    rogue->links_[std::size_t(party)] = std::move(link).value();
  }
  auto end = Clock::now() + std::chrono::milliseconds(timeout_ms);
  auto ready = [](auto& link) { return link->ready(); };
  while (!std::all_of(rogue->links_.begin(), rogue->links_.end(), ready)) {
    for (auto& link : rogue->links_) {
      if (Clock::now() > end) return fail(link->title() + ": no connection; " + link->trouble());
      link->update(Clock::now());
    }
    rogue->wait();
  }
  return rogue;
}

void Rogue::wait() {
  epoll_event event;
  ::epoll_wait(epoll_fd_, &event, 1, 5);
}

Jobs3 Rogue::honest(const JobRequest& job, SecretVector secret) {
  std::array<SecretVector, 3> x = split(shares_, std::move(secret));
  Jobs3 jobs{job, job, job};
  for (std::size_t party = 0; party < 3; ++party) {
    jobs[party].component[0] = x[party];
    jobs[party].component[1] = x[(party + 1) % 3];
  }
  return jobs;
}

Replies3 Rogue::ask(Jobs3 jobs, std::optional<std::size_t> left_out) {
  std::uint64_t number = ++number_;
  Replies3 replies;
  for (std::size_t party = 0; party < 3; ++party) {
    jobs[party].name = JobName{0, session_, number};
    jobs[party].deadline_ms = static_cast<std::uint32_t>(timeout_ms_);
    if (party != left_out) links_[party]->send(encode(jobs[party]));
  }
  // A little longer than the servers' own deadline, to hear what they say then.
  auto end = Clock::now() + std::chrono::milliseconds(timeout_ms_ + 500);
  auto complete = [&] {
    for (std::size_t party = 0; party < 3; ++party)
      if (party != left_out && !replies[party]) return false;
    return true;
  };
  while (!complete() && Clock::now() < end) {
    for (std::size_t party = 0; party < 3; ++party) {
      links_[party]->update(Clock::now());
      auto take = [&](ByteSpan frame) {
        Result<JobReply> reply = decode_reply(frame);
        if (reply && reply->run == session_ && reply->number == number)
          replies[party] = std::move(reply).value();
      };
      links_[party]->receive(take, 100);
    }
    wait();
  }
  return replies;
}

Outcome Rogue::settle(Replies3 replies) {
  std::array<JobReply, 3> all;
  for (std::size_t party = 0; party < 3; ++party) {
    if (!replies[party]) return failure(TKDC_STATUS_UNAVAILABLE, "no answer");
    all[party] = std::move(*replies[party]);
  }
  return joint_outcome(all, 0, kMaxInputBytes);
}

}  // namespace tkdc::agent
