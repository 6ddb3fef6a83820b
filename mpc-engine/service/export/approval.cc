// SPDX-License-Identifier: Apache-2.0
#include "service/export/approval.h"

#include <algorithm>

#include "base/hex.h"

namespace tkdc {
namespace {

constexpr std::string_view kApprovalTitle = "tkdc-export-approval 1\n";
constexpr std::string_view kSignedLabel = "tkdc export approval 1";
constexpr std::size_t kNeeded = 2;

Bytes signed_octets(const Digest& request) {
  Bytes out;
  Writer w(out);
  w.text(kSignedLabel);
  w.raw(request);
  return out;
}

// "WORD HEX\n" leaves `text`.
template <std::size_t N>
bool take(std::string_view& text, std::string_view word, std::array<std::uint8_t, N>& out) {
  const std::size_t line = word.size() + 1 + 2 * N + 1;
  if (text.size() < line || !text.starts_with(word) || text[word.size()] != ' ' ||
      text[line - 1] != '\n' || !from_hex(text.substr(word.size() + 1, 2 * N), out))
    return false;
  text.remove_prefix(line);
  return true;
}

}  // namespace

std::string encode(const Approval& approval) {
  return std::string(kApprovalTitle) + "request " + to_hex(approval.request) + "\napprover " +
         to_hex(approval.approver) + "\nsignature " + to_hex(approval.signature) + "\n";
}

Result<Approval> decode_approval(std::string_view text) {
  Approval out;
  std::string_view rest = text;
  const bool titled = rest.starts_with(kApprovalTitle);
  if (titled) rest.remove_prefix(kApprovalTitle.size());
  if (!titled || !take(rest, "request", out.request) || !take(rest, "approver", out.approver) ||
      !take(rest, "signature", out.signature) || !rest.empty())
    return fail("not an approval as `tkdc approve` writes it");
  return out;
}

Approval approve(const Digest& request, const SecretBuffer& seed) {
  Approval out;
  out.request = request;
  SecretBuffer secret(crypto_sign_SECRETKEYBYTES);
  crypto_sign_seed_keypair(out.approver.data(), secret.data(), seed.data());
  const Bytes octets = signed_octets(request);
  crypto_sign_detached(out.signature.data(), nullptr, octets.data(), octets.size(), secret.data());
  return out;
}

Result<const Approver*> check_approval(const Digest& request, const Approval& approval,
                                       std::span<const Approver> approvers) {
  if (approvers.empty())
    return fail("this server's tkdc.toml lists no [[approvers]]: nobody can approve an export");
  const auto it = std::ranges::find(approvers, approval.approver, &Approver::public_key);
  if (it == approvers.end())
    return fail("the approval of " + to_hex(approval.approver) +
                " is by none of the [[approvers]] in this server's tkdc.toml");
  if (approval.request != request)
    return fail("the approval of " + it->name + " is for another request");
  const Bytes octets = signed_octets(request);
  if (crypto_sign_verify_detached(approval.signature.data(), octets.data(), octets.size(),
                                  approval.approver.data()) != 0)
    return fail("the signature of " + it->name + " does not hold");
  return &*it;
}

Result<std::vector<const Approver*>> check_approvals(const Digest& request,
                                                     std::span<const Approval> approvals,
                                                     std::span<const Approver> approvers) {
  std::vector<const Approver*> out;
  for (const Approval& approval : approvals) {
    auto approver = check_approval(request, approval, approvers);
    if (!approver) return approver.error();
    for (const Approver* other : out)
      if (other->party == (*approver)->party)
        return fail("both approvals are of " + other->name +
                    ": those of two servers' administrators are needed");
    out.push_back(*approver);
  }
  if (out.size() != kNeeded)
    return fail("approvals of two servers' administrators are needed; there is " +
                std::to_string(out.size()));
  return out;
}

Result<const Approver*> check_own_approval(const Digest& request, std::string_view approval,
                                           std::span<const Approver> approvers, int party) {
  auto decoded = decode_approval(approval);
  if (!decoded) return decoded.error();
  auto approver = check_approval(request, *decoded, approvers);
  if (!approver) return approver.error();
  if ((*approver)->party != party)
    return fail((*approver)->name + " is the administrator of server " +
                std::to_string((*approver)->party) + ", and this is server " +
                std::to_string(party) + ": each approves at his own");
  return approver;
}

Result<std::vector<const Approver*>> check_approvals(const Digest& request,
                                                     std::span<const std::string> approvals,
                                                     std::span<const Approver> approvers) {
  std::vector<Approval> decoded;
  for (const std::string& text : approvals) {
    auto approval = decode_approval(text);
    if (!approval) return approval.error();
    decoded.push_back(*approval);
  }
  return check_approvals(request, decoded, approvers);
}

}  // namespace tkdc
