// SPDX-License-Identifier: Apache-2.0
#include "agent/three_servers.h"

namespace tkdc::agent {

// Server i gets (x_i, x_{i+1}); the three components rotate through the request, so that each is
// copied only into the frames. No job is shared out twice: what is not needed for an answer goes.
std::vector<SecretVector> ThreeServers::share_out(JobRequest job, Operation& operation) {
  std::array<SecretVector, 3> x = split(shares_, std::exchange(operation.secret, {}));
  operation.job.public_data = {};
  job.component[0] = std::move(x[0]);
  job.component[1] = std::move(x[1]);
  SecretVector& third = x[2];
  std::vector<SecretVector> frames;
  for (std::size_t party = 0; party < x.size(); ++party) {
    frames.push_back(encode(job));
    std::swap(job.component[0], job.component[1]);
    std::swap(job.component[1], third);
  }
  return frames;
}

Outcome ThreeServers::put_together(std::span<JobReply> replies, const Operation& operation) {
  return joint_outcome(replies.first<3>(), operation.min_output, operation.max_output);
}

}  // namespace tkdc::agent
