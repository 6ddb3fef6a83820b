// SPDX-License-Identifier: Apache-2.0
#include "agent/sharing.h"

#include "agent/share_stream.h"
#include "agent/two_servers.h"

namespace tkdc::agent {
namespace {

class ThreeServers final : public Sharing {
 public:
  std::optional<Outcome> fit(Operation&) override { return std::nullopt; }

  // Server i gets (x_i, x_{i+1}); the three components rotate through the request, so that each is
  // copied only into the frames. No job is shared out twice: what is not needed for an answer goes.
  std::vector<SecretVector> share_out(JobRequest job, Operation& operation) override {
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

  Outcome put_together(std::span<JobReply> replies, const Operation& operation) override {
    return combine(replies.first<3>(), operation.min_output, operation.max_output);
  }

 private:
  ShareStream shares_;
};

}  // namespace

std::unique_ptr<Sharing> make_sharing(std::size_t servers) {
  if (servers == 2) return std::make_unique<TwoServers>();
  return std::make_unique<ThreeServers>();
}

}  // namespace tkdc::agent
