// SPDX-License-Identifier: Apache-2.0
#include "service/export/give_back.h"

#include "base/hex.h"
#include "base/text_lines.h"
#include "enctype.h"

namespace tkdc {
namespace {

constexpr std::string_view kGiveBackTitle = "tkdc-give-back-request 1";
constexpr std::string_view kGiveBackLabel = "tkdc give-back request 1";

WantedKey read_wanted(TextLines& lines) {
  WantedKey out;
  std::string_view text = lines.after("key");
  lines.octets(lines.word(text), out.key.id);
  out.key.kvno = lines.number<std::uint32_t>(lines.word(text), UINT32_MAX);
  out.key.enctype = lines.number<std::uint32_t>(lines.word(text), UINT32_MAX);
  out.dropped_at_s = lines.number<std::uint64_t>(lines.word(text), INT64_MAX);
  if (tkdc_enctype_of(out.key.enctype) == nullptr) lines.wrong("has an enctype that no share has");
  if (!fits_a_line(text)) lines.wrong("names no principal");
  out.key.principal = text;
  return out;
}

}  // namespace

bool is_give_back_request(std::string_view text) { return text.starts_with(kGiveBackTitle); }

std::string encode(const GiveBackRequest& request) {
  std::string out(kGiveBackTitle);
  out += "\ninstallation " + to_hex(request.installation);
  out += "\nrealm " + request.realm;
  out += "\nexpires " + std::to_string(request.expires_at_s);
  out += "\nkeys " + std::to_string(request.keys.size()) + "\n";
  for (const WantedKey& one : request.keys)
    out += "key " + to_hex(one.key.id) + " " + std::to_string(one.key.kvno) + " " +
           std::to_string(one.key.enctype) + " " + std::to_string(one.dropped_at_s) + " " +
           one.key.principal + "\n";
  return out;
}

Result<GiveBackRequest> decode_give_back_request(std::string_view text) {
  if (text.size() > kMaxExportRequestBytes) return fail("the request is too long");
  GiveBackRequest request;
  TextLines lines(text);
  if (lines.line() != kGiveBackTitle) lines.wrong("is not \"" + std::string(kGiveBackTitle) + "\"");
  lines.octets(lines.after("installation"), request.installation);
  request.realm = lines.after("realm");
  if (!fits_a_line(request.realm)) lines.wrong("names no realm");
  request.expires_at_s = lines.number<std::uint64_t>(lines.after("expires"), INT64_MAX);
  const auto count = lines.number<std::size_t>(lines.after("keys"), kMaxExportKeys);
  for (std::size_t i = 0; i < count && lines.error().empty(); ++i) {
    request.keys.push_back(read_wanted(lines));
    if (i > 0 && request.keys[i - 1].key.id >= request.keys[i].key.id)
      lines.wrong("has an id that is not above the one before");
  }
  if (!lines.error().empty()) return fail("the request's " + lines.error());
  if (!lines.over()) return fail("the request goes on behind its last key");
  if (request.keys.empty()) return fail("the request names no key");
  if (encode(request) != text)
    return fail("the request is not written as `tkdc reconcile request` writes it");
  return request;
}

Digest give_back_digest(std::string_view text) {
  Digest digest;
  crypto_generichash(digest.data(), digest.size(),
                     reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                     reinterpret_cast<const unsigned char*>(kGiveBackLabel.data()),
                     kGiveBackLabel.size());
  return digest;
}

}  // namespace tkdc
