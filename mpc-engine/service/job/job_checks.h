// SPDX-License-Identifier: Apache-2.0
// Whether this server would run a job, before it hears what the others say. Used by the
// lane's thread.
#pragma once

#include <set>

#include "service/garbled/lane_garbling.h"
#include "service/job/job.h"
#include "service/job/lane_shared.h"

namespace tkdc {

// How much of the operation a job is in a session that has two parts or has not.
inline Part part_in(const Job& job, bool two_parts) {
  const Part asked = part_of(job.request).value_or(Part());
  const bool whole = !two_parts || job.found.garbled != Garbled::kNo;
  return asked.kind == Part::Kind::kHead && whole ? Part() : asked;
}

// Against a job, at two servers and at three.
inline constexpr const char* kAgentTooOften =
    "this agent asks more often than limits.agent_per_s of this server allows";
inline constexpr const char* kKeyTooOften =
    "this key is asked for more often than limits.user_key_per_s or limits.service_key_per_s of "
    "this server allows";
inline constexpr const char* kComparedTooOften =
    "this principal's keys were compared too often (password history): wait";
inline constexpr const char* kTooManyStaged =
    "too many keys are staged at this server: bind them, or wait a minute";
inline constexpr const char* kUnaudited =
    "this server's audit log cannot be written, so it takes no job: its disk is full, say; its "
    "journal names the file";

// The manifest's time, as this server sees it.
struct ManifestTime {
  bool clock_ok = false;  // its clock takes it
  bool revoked = false;   // a ticket that carries it would be refused at once
};

class JobChecks {
 public:
  JobChecks(const LaneShared& shared, std::uint32_t lane, bool two_parts,
            const SessionProtocols& protocols, const std::unique_ptr<LaneGarbling>& garbling)
      : shared_(shared), lane_index_(lane), two_parts_(two_parts), protocols_(protocols),
        garbling_(garbling) {}

  // Fills in what is found (Job::Found). `protocol`: as the manifest says (protocol_named()).
  Verdict check(Job& job, std::uint8_t protocol, const ManifestTime& time);
  // A management job has ended, or was refused.
  void let_go(const JobRequest& request);
  // One is admitted or half admitted: its disks are waited for.
  bool manages() const { return !managed_.empty(); }

 private:
  Verdict failed(const Error& why) const;
  static Verdict limited(Job& job, const char* why);
  bool asks_for_another(const Job& job, const ProtocolInfo& chosen) const;
  bool is_shared_otherwise(const Job& job, const ProtocolInfo& chosen) const;
  Verdict check_key_use(Job& job, const ManifestTime& time);
  Verdict check_key_management(Job& job, const ManifestTime& time);
  Verdict check_part(Job& job);
  Verdict check_rate(Job& job, Verdict others);

  const LaneShared shared_;
  const std::uint32_t lane_index_;
  const bool two_parts_;
  const SessionProtocols& protocols_;
  const std::unique_ptr<LaneGarbling>& garbling_;  // null in a lane that does not garble
  // Keys that an admitted or half admitted management job works on: what was checked for one such
  // job must still hold when it runs.
  std::set<KeyId> managed_;
};

}  // namespace tkdc
