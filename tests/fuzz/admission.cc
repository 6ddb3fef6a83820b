// SPDX-License-Identifier: Apache-2.0
// A lane's control octets for admission: the leader's manifest, and what neighbours state and
// judge. What reads must write to the same octets; what was read together is as many as asked for.
#include "service/admit/admission.h"

#include "fuzz.h"
#include "service/job/limits.h"

namespace {

using namespace tkdc;
using tkdc::fuzz::require;

// The octets that were read, written again, are those.
void same(ByteSpan control, const Reader& in, ByteSpan again) {
  require(tkdc::fuzz::equal(control.first(control.size() - in.remaining()), again));
}

void manifest(ByteSpan control, Reader& in) {
  const ByteSpan rest = control.last(in.remaining());
  constexpr std::size_t kProtocols = 256;  // any octet is one
  const auto read = get_manifest(in, kMaxCohortJobs, kProtocols);
  const std::size_t named = rest.size() < 6 ? 0 : std::size_t{rest[4]} << 8 | rest[5];
  require(read.ok() ==
          (rest.size() >= 6 + 25 * named && rest.size() >= 6 && named <= kMaxCohortJobs));
  if (!read) return;
  require(!in.failed() && read->jobs.size() <= kMaxCohortJobs);
  Bytes again;
  put_manifest(again, *read);
  same(rest, in, again);
}

void statements(ByteSpan control, Reader& in, std::size_t jobs) {
  const ByteSpan rest = control.last(in.remaining());
  const auto read = get_statements(in, jobs);
  // Else one of them has no verdict.
  require(!read.ok() || (!in.failed() && rest.size() >= jobs * AdmissionStatement::kBytes));
  if (!read) return;
  require(read->size() == jobs);
  Bytes again;
  for (const AdmissionStatement& one : *read) {
    JobDigests said;
    said.opened = one.opened;
    said.component[0] = said.component[1] = one.component;
    put_statement(again, one.verdict, said, 0);
    require(judge(kAdmit, said, one, one) == one.verdict);
    require(one.verdict <= TKDC_STATUS_INTERNAL || one.verdict == kMissing);
    require(judge(kMissing, said, one, one) == kMissing);
  }
  same(rest, in, again);
}

void verdicts(ByteSpan control, Reader& in, std::size_t jobs) {
  const ByteSpan rest = control.last(in.remaining());
  const auto read = get_verdicts(in, jobs);
  require(!read.ok() || (!in.failed() && rest.size() >= jobs));
  if (!read) return;
  require(read->size() == jobs);
  for (std::size_t k = 0; k < jobs; ++k) {
    require((*read)[k] == rest[k]);
    require((joint_verdict(kAdmit, (*read)[k], kAdmit) == kAdmit) == ((*read)[k] == kAdmit));
  }
}

}  // namespace

// Jobs under statements and under verdicts, u8 each; then a full tick's octets, as a follower
// reads them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const ByteSpan control(data + 2, size - 2);
  Reader in(control);
  manifest(control, in);
  if (!in.failed()) statements(control, in, data[0]);
  if (!in.failed()) verdicts(control, in, data[1]);
  Reader leader(control);  // who hears no manifest
  statements(control, leader, data[0]);
  return 0;
}
