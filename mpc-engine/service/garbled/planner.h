// SPDX-License-Identifier: Apache-2.0
// Which protocol computes a job: replicated sharing, in hundreds of rounds of few octets, or a
// garbled circuit, in a few messages of many. A function of public figures, of which each server
// tells both others its own: so all three choose alike, whoever's figures stand first.
//
// Figures are what a server says: one that lies changes which protocol runs, and nothing else. Both
// give the same result, and either is secure by itself.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace tkdc {

enum class Wanted : std::uint8_t { kAuto = 0, kSharing = 1, kGarbling = 2 };  // by configuration
enum class Choice : std::uint8_t { kSharing = 0, kGarbling = 1 };

// One server's, when a job is named.
struct ServerFigures {
  std::uint32_t jobs = 0;       // at work in all its lanes
  std::uint32_t instances = 0;  // that stand ready for this kind of operation
  std::uint32_t delay_us = 0;   // the longer of its two one-way delays, as it measures them
};

// What the job is, from its public shape.
struct JobFigures {
  std::uint32_t rounds = 0;   // by sharing
  std::uint32_t ands = 0;     // of its circuit
  std::uint32_t message = 0;  // octets of m1, the longer of two
};

struct PlannerSettings {
  Wanted wanted = Wanted::kSharing;
  std::uint32_t most_jobs = 16;  // above it CPUs have no time to spare for garbling
  // Picoseconds, of the slower of three CPUs: an AND, which is evaluated with the job; an octet of
  // m1 on its way; a round's own work.
  std::uint32_t and_ps = 10'000, octet_ps = 20'000;
  std::uint32_t round_us = 20;
};

// Ticks of a garbled job: statements, verdicts, m1, m2, m3, and what opens whether a check held.
inline constexpr std::uint64_t kGarbledTicks = 6;

// In microseconds.
constexpr std::uint64_t sharing_us(const PlannerSettings& settings, const JobFigures& job,
                                   std::uint64_t delay_us) {
  return job.rounds * (delay_us + settings.round_us);
}
constexpr std::uint64_t garbled_us(const PlannerSettings& settings, const JobFigures& job,
                                   std::uint64_t delay_us) {
  constexpr std::uint64_t kPsInUs = 1'000'000;
  const std::uint64_t work_ps =
      std::uint64_t{job.ands} * settings.and_ps + std::uint64_t{job.message} * settings.octet_ps;
  return kGarbledTicks * (delay_us + settings.round_us) + work_ps / kPsInUs;
}

// Never garbling where a server has no instance ready: a job does not wait for one to be made.
constexpr Choice choose(const PlannerSettings& settings, const JobFigures& job,
                        const std::array<ServerFigures, 3>& servers) {
  ServerFigures worst = servers[0];
  for (const ServerFigures& one : servers) {
    worst.jobs = std::max(worst.jobs, one.jobs);
    worst.instances = std::min(worst.instances, one.instances);
    worst.delay_us = std::max(worst.delay_us, one.delay_us);
  }
  if (settings.wanted == Wanted::kSharing || worst.instances == 0) return Choice::kSharing;
  if (settings.wanted == Wanted::kGarbling) return Choice::kGarbling;
  if (worst.jobs > settings.most_jobs) return Choice::kSharing;
  return garbled_us(settings, job, worst.delay_us) < sharing_us(settings, job, worst.delay_us)
             ? Choice::kGarbling
             : Choice::kSharing;
}

}  // namespace tkdc
