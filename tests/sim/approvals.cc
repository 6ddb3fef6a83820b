// SPDX-License-Identifier: Apache-2.0
#include "sim/approvals.h"

#include <set>

#include "service/export/approval.h"
#include "service/export/approver_key.h"
#include "sim/hosts.h"

namespace tkdc::sim {
namespace {

std::string approval_by(std::size_t party, const Digest& request) {
  Approval one = approve(request, approver_seed(static_cast<int>(party)));
  if (world().random.percent(5)) one.signature[world().random.below(64)] ^= 1;
  return encode(one);
}

// By hand: two whole signatures of two administrators.
bool is_good(const Digest& request, const std::vector<std::string>& texts) {
  std::set<ApproverKey> who;
  for (const std::string& text : texts) {
    auto one = decode_approval(text);
    if (!one.ok()) continue;
    for (int party = 0; party < kServers; ++party) {
      const Approval right = approve(request, approver_seed(party));
      if (one->approver == right.approver && one->signature == right.signature)
        who.insert(one->approver);
    }
  }
  return who.size() >= 2;
}

}  // namespace

Approvals some_approvals(const Digest& request) {
  Approvals out;
  const std::size_t first = world().random.below(kServers);
  const bool one_alone = world().random.percent(15), twice = world().random.percent(15);
  out.texts.push_back(approval_by(first, request));
  if (!one_alone) out.texts.push_back(approval_by(twice ? first : (first + 1) % kServers, request));
  out.good = is_good(request, out.texts);
  return out;
}

}  // namespace tkdc::sim
