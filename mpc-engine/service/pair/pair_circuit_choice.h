// SPDX-License-Identifier: Apache-2.0
// At the leader: which circuits a job takes out of the reserve, and which are made for it while it
// waits since its key or its agent has had its quota of their kind (pair_quotas.h). It changes what
// serves a job and nothing else, so the other server does as it is told. Used by the lane's thread.
// Public.
#pragma once

#include <functional>
#include <vector>

#include "service/pair/pair_quotas.h"

namespace tkdc {

class PairCircuitChoice {
 public:
  // Of a kind: how many stand ready, and how many do when all is made.
  struct Supply {
    std::size_t ready = 0, wanted = 0;
  };
  using SupplyOf = std::function<Supply(const std::string& kind)>;

  // Bit k: the k-th circuit of the job is made for it. Until settle().
  std::uint8_t made_for(const PairJob& of, PairHeld held, const SupplyOf& supply_of);
  // Of the same job, before it runs: whether it is computed by its circuits.
  void settle(const JobName& name, bool by_circuits);
  // Who had had its quota; kGranted: nobody.
  InstanceQuotas::Answer answer() const { return answer_; }

 private:
  PairQuotas quotas_;
  std::vector<bool> ready_;  // of each kind that was granted
  InstanceQuotas::Answer answer_ = InstanceQuotas::Answer::kGranted;
};

}  // namespace tkdc
