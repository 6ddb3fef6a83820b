// SPDX-License-Identifier: Apache-2.0
// At the leader: quotas of what stands ready in a session of two servers, for one key and one agent
// (garbled/instance_quotas.h). Whoever has had its quota is served the other way: what it takes is
// made while it waits, and others find theirs. Nobody is refused. Used by the lane's thread.
// Public.
#pragma once

#include "service/garbled/instance_quotas.h"
#include "service/pair/pair_checks.h"

namespace tkdc {

class PairQuotas {
 public:
  using Answer = InstanceQuotas::Answer;

  // A job that is about to be named. Krbtgt's key is every login's, so it counts for its agent.
  Answer ask(const PairJob& of, const InstanceSupply& supply) {
    const KeyRecord& record = *of.job->found.record;
    std::optional<PrincipalDigest> key;
    if (record.key_class != KeyClass::kKrbtgt) key = record.ref.principal;
    return quotas_.ask(of.job->request.name, key, supply);
  }
  // Of the oldest that the job was granted and that is not settled.
  void settle(const JobName& name, bool has) { quotas_.settle(name, has); }

 private:
  InstanceQuotas quotas_;
};

}  // namespace tkdc
