// SPDX-License-Identifier: Apache-2.0
#include "cases.h"

namespace tkdc::agent {
namespace {

void add_component_tricks(std::vector<Trick>& tricks) {
  for (std::size_t c = 0; c < 3; ++c) {
    std::string suffix = std::to_string(c);
    // Component c lies with server c (as its first) and with server c-1.
    tricks.push_back(
        {"copy-first-" + suffix, [c](Jobs3& jobs) { jobs[c].component[0].front() ^= 1; }, {}});
    tricks.push_back({"copy-second-" + suffix,
                      [c](Jobs3& jobs) { jobs[(c + 2) % 3].component[1].back() ^= 0x80; },
                      {}});
    tricks.push_back({"shorter-at-" + suffix,
                      [c](Jobs3& jobs) {
                        for (SecretVector& component : jobs[c].component) component.pop_back();
                      },
                      {}});
    tricks.push_back({"longer-at-" + suffix,
                      [c](Jobs3& jobs) {
                        for (SecretVector& component : jobs[c].component) component.push_back(0);
                      },
                      {}});
  }
}

tkdc_wire_op other_operation(tkdc_wire_op op) {
  switch (op) {
    case TKDC_OP_SEAL: return TKDC_OP_MAC;
    case TKDC_OP_OPEN: return TKDC_OP_VERIFY;
    case TKDC_OP_BIND: return TKDC_OP_DESTROY;
    default: return TKDC_OP_SEAL;
  }
}

}  // namespace

std::vector<Trick> tricks_for(const JobRequest& job, bool has_input) {
  std::vector<Trick> tricks;
  if (has_input) add_component_tricks(tricks);
  for (std::size_t party = 0; party < 3; ++party) {
    std::string suffix = "-at-" + std::to_string(party);
    tricks.push_back({"operation" + suffix,
                      [party](Jobs3& jobs) { jobs[party].op = other_operation(jobs[party].op); },
                      {}});
    tricks.push_back({"key" + suffix, [party](Jobs3& jobs) { jobs[party].key.id[0] ^= 1; }, {}});
    tricks.push_back(
        {"principal" + suffix, [party](Jobs3& jobs) { jobs[party].key.principal[0] ^= 1; }, {}});
    tricks.push_back({"kvno" + suffix, [party](Jobs3& jobs) { jobs[party].key.kvno += 1; }, {}});
    tricks.push_back(
        {"enctype" + suffix, [party](Jobs3& jobs) { jobs[party].key.enctype ^= 18 ^ 17; }, {}});
    tricks.push_back({"usage" + suffix, [party](Jobs3& jobs) { jobs[party].usage += 1; }, {}});
    if (!job.public_data.empty())
      tricks.push_back(
          {"public" + suffix, [party](Jobs3& jobs) { jobs[party].public_data.back() ^= 3; }, {}});
    tricks.push_back({"left-out" + suffix, [](Jobs3&) {}, party});
  }
  return tricks;
}

}  // namespace tkdc::agent
