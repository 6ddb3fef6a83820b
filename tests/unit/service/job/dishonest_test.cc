// SPDX-License-Identifier: Apache-2.0
// Agents that send the servers different things about a job: it is dropped
// alone, in every operation, and the jobs beside it go on.
#include "three_services.h"

namespace tkdc {
namespace {

class DishonestAgent : public testing::TestWithParam<tkdc_wire_op> {
 protected:
  // An honest job of the operation, which would succeed.
  ThreeServices::Job honest_job();
  ThreeServices::Job management_job();

  ThreeServices e;
  KeyRef ref = e.make_key("krbtgt/R@R", 18, {});
  KeyRef other = e.make_key("krbtgt/R@R", 18, {});
};

ThreeServices::Job DishonestAgent::honest_job() {
  ThreeServices::Job job{GetParam(), ref, 2, {}, some_bytes(80), AgentRole::kKdc};
  switch (job.op) {
    case TKDC_OP_SEAL: break;
    case TKDC_OP_OPEN:
      job.input = e.run({TKDC_OP_SEAL, ref, 2, {}, some_bytes(80)}).output();
      break;
    case TKDC_OP_MAC: job.usage = 17; break;
    case TKDC_OP_VERIFY: {
      job.usage = 17;
      Bytes sum = e.run({TKDC_OP_MAC, ref, 17, {}, job.input}).output();
      job.input.insert(job.input.end(), sum.begin(), sum.end());
      break;
    }
    default: return management_job();
  }
  return job;
}

ThreeServices::Job DishonestAgent::management_job() {
  ThreeServices::Job job{GetParam(), ref, 0, {}, {}, AgentRole::kAdmin};
  if (job.op == TKDC_OP_DESTROY) return job;
  job.key.id[0] ^= 0x55;
  if (job.op == TKDC_OP_STAGE) {
    job.opened = {TKDC_ORIGIN_IMPORTED};
    job.input = some_bytes(32);
    return job;
  }
  ThreeServices::Job stage = job;
  stage.op = TKDC_OP_STAGE;
  stage.opened = {TKDC_ORIGIN_DRAWN};
  EXPECT_EQ(e.run(stage).status(), TKDC_STATUS_OK);
  if (job.op == TKDC_OP_EQUAL) {
    stage.key.id[1] ^= 0x55;
    stage.opened = {TKDC_ORIGIN_IMPORTED};
    stage.input = some_bytes(32);
    EXPECT_EQ(e.run(stage).status(), TKDC_STATUS_OK);
    job.key = e.make_key("host/a@R", 18, {});
    job.opened.assign(stage.key.id.begin(), stage.key.id.end());
  }
  if (job.op == TKDC_OP_BIND) {
    job = ThreeServices::bind_job(job.key, "host/a@R");
    job.key.principal = digest_of("host/a@R");
  }
  return job;
}

struct Trick {
  const char* what;
  bool needs_input;
  ThreeServices::Edit edit;
};

// Each changes one server's view of the job.
std::vector<Trick> tricks(const KeyRef& other) {
  return {
      {"component 0 differs", true,
       [](int p, JobRequest& r) {
         if (p == 1) r.component[0][3] ^= 1;
       }},
      {"component 1 differs", true,
       [](int p, JobRequest& r) {
         if (p == 2) r.component[1][3] ^= 1;
       }},
      {"usage differs", false,
       [](int p, JobRequest& r) {
         if (p == 0) r.usage ^= 1;
       }},
      {"handle differs", false,
       [other](int p, JobRequest& r) {
         if (p == 1) r.key = other;
       }},
      {"public data differ", false,
       [](int p, JobRequest& r) {
         if (p == 2) r.public_data.push_back(1);
       }},
      {"operation differs", false,
       [](int p, JobRequest& r) {
         if (p == 1) r.op = r.op == TKDC_OP_SEAL ? TKDC_OP_OPEN : TKDC_OP_SEAL;
       }},
      {"length differs", false,
       [](int p, JobRequest& r) {
         if (p != 0) return;
         for (auto& c : r.component) c.resize(c.size() + 4);
       }},
  };
}

TEST_P(DishonestAgent, IsRefusedInEveryOperationAndTheCohortGoesOn) {
  const ThreeServices::Job job = honest_job();
  for (const Trick& trick : tricks(other)) {
    if (trick.needs_input && job.input.empty()) continue;
    JobName honest = e.send({TKDC_OP_SEAL, other, 2, {}, some_bytes(100)});
    JobName dishonest = e.send(job, trick.edit);
    JobName honest_too = e.send({TKDC_OP_SEAL, other, 2, {}, some_bytes(100)});
    EXPECT_NE(e.wait(dishonest).status(), TKDC_STATUS_OK) << trick.what;
    EXPECT_EQ(e.wait(honest).status(), TKDC_STATUS_OK) << trick.what;
    EXPECT_EQ(e.wait(honest_too).status(), TKDC_STATUS_OK) << trick.what;
  }
  EXPECT_EQ(e.run(job).status(), TKDC_STATUS_OK) << "the honest form of the same job";
}

INSTANTIATE_TEST_SUITE_P(Operations, DishonestAgent,
                         testing::Values(TKDC_OP_SEAL, TKDC_OP_OPEN, TKDC_OP_MAC, TKDC_OP_VERIFY,
                                         TKDC_OP_STAGE, TKDC_OP_EXPORT, TKDC_OP_BIND,
                                         TKDC_OP_DESTROY, TKDC_OP_EQUAL));

}  // namespace
}  // namespace tkdc
