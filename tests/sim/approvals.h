// SPDX-License-Identifier: Apache-2.0
// What two administrators sign: most of it well, some of it not.
#pragma once

#include <string>
#include <vector>

#include "service/export/request.h"

namespace tkdc::sim {

struct Approvals {
  std::vector<std::string> texts;
  bool good = false;  // two administrators' whole signatures of this request
};

// Of the request with that digest; the seed says by whom.
Approvals some_approvals(const Digest& request);

}  // namespace tkdc::sim
