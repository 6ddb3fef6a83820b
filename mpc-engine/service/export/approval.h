// SPDX-License-Identifier: Apache-2.0
// An administrator's approval of a request, to export keys or to give dropped ones back, and the
// rule that two are needed.
//
// Ed25519 over a label and the request's digest. A text file without secrets:
//
//   tkdc-export-approval 1
//   request HEX
//   approver HEX           the public key
//   signature HEX
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "service/wire/message.h"

namespace tkdc {

using ApproverKey = std::array<std::uint8_t, 32>;

// Who may approve: one administrator of each server, by its tkdc.toml.
struct Approver {
  std::string name;
  int party = 0;
  ApproverKey public_key{};
};

struct Approval {
  Digest request{};
  ApproverKey approver{};
  std::array<std::uint8_t, 64> signature{};
};

inline constexpr std::size_t kMaxApprovalBytes = 512;

std::string encode(const Approval& approval);
Result<Approval> decode_approval(std::string_view text);

// `seed`: 32 octets.
Approval approve(const Digest& request, const SecretBuffer& seed);

// The approver of a good approval of this request. Error: what is wrong with it.
Result<const Approver*> check_approval(const Digest& request, const Approval& approval,
                                       std::span<const Approver> approvers);

// What the administrator of server `party` approves at his own server, from the approval's text.
Result<const Approver*> check_own_approval(const Digest& request, std::string_view approval,
                                           std::span<const Approver> approvers, int party);

// From the texts of approvals, too.
Result<std::vector<const Approver*>> check_approvals(const Digest& request,
                                                     std::span<const std::string> approvals,
                                                     std::span<const Approver> approvers);

// Two good approvals of different servers' administrators.
Result<std::vector<const Approver*>> check_approvals(const Digest& request,
                                                     std::span<const Approval> approvals,
                                                     std::span<const Approver> approvers);

}  // namespace tkdc
