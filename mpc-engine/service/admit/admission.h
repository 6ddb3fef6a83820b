// SPDX-License-Identifier: Apache-2.0
// Admission of jobs: a job runs only if the three servers received the same one.
//
// The attack: an agent that sends the two holders of one share component
// different copies (or different handles, nonces, ciphertexts to different
// servers) learns a key bit from a few gates. So for each job of a manifest
//   (a) a digest of everything public is compared among all three, and
//   (b) a digest of each component, of the input and of the key's record,
//       between its two holders;
// then verdicts are exchanged, so that all three take or drop a job alike. A
// job that fails is dropped alone. Digests reveal nothing that the receiver
// does not hold itself.
#pragma once

#include <memory>
#include <vector>

#include "service/store/record.h"
#include "service/wire/message.h"
#include "service/wire/role.h"

namespace tkdc {

// A job of a manifest, and which of the session's protocols computes it.
struct NamedJob {
  JobName name;
  std::uint8_t protocol = 0;
  bool operator==(const NamedJob&) const = default;
};

// The jobs that the leader names to the two others, and their common time of sealing.
struct Manifest {
  std::uint32_t sealed_at = 0;
  std::vector<NamedJob> jobs;
};

void put_manifest(Bytes& out, const Manifest& manifest);
// Error: more than `most` jobs, a protocol that is none of so many, or cut short.
Result<Manifest> get_manifest(Reader& in, std::size_t most, std::size_t protocols);

// What one server says of one job to a neighbour.
struct AdmissionStatement {
  std::uint8_t verdict = 0;  // this server's own checks: a Verdict
  Digest opened{};           // of everything public
  Digest component{};        // of the component that both hold
  static constexpr std::size_t kBytes = sizeof(verdict) + sizeof(opened) + sizeof(component);
};

// Outcomes that travel: a tkdc_status, or kMissing: not received (yet).
using Verdict = std::uint8_t;
inline constexpr Verdict kAdmit = TKDC_STATUS_OK;
inline constexpr Verdict kMissing = 0xff;

// The same at all three whatever the order of the arguments: the worst one. A refusal counts only
// from two servers, else it is INCONSISTENT: the KDC takes it for a fact, and one server may lie.
Verdict joint_verdict(Verdict a, Verdict b, Verdict c);

struct JobDigests {
  Digest opened{};
  Digest component[2]{};
};

// `record` may be null (STAGE). Its components' digests go in with the job's,
// so that stored shares are compared whenever they are used. `protocol`: of the session's, as the
// manifest said: two that computed a job in different ways would tell each other its inputs.
JobDigests digest_job(const JobRequest& request, AgentRole role, const KeyRecord* record,
                      std::uint8_t protocol);

// This server's verdict after it has both neighbours' statements.
Verdict judge(Verdict own, const JobDigests& mine, const AdmissionStatement& prev,
              const AdmissionStatement& next);

void put_statement(Bytes& out, Verdict own, const JobDigests& mine, int component);
// What a neighbour says of so many jobs, in the manifest's order. Error: cut short.
Result<std::vector<AdmissionStatement>> get_statements(Reader& in, std::size_t jobs);
Result<std::vector<Verdict>> get_verdicts(Reader& in, std::size_t jobs);

}  // namespace tkdc
