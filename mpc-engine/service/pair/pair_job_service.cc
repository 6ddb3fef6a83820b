// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_job_service.h"

namespace tkdc {

Result<std::unique_ptr<JobService>> make_pair_job_service(const JobServiceOptions&, Store&,
                                                          JobService::Reply, JobService::Audit) {
  return fail("this release computes with three servers only: set parties = 3");
}

}  // namespace tkdc
