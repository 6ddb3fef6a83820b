// SPDX-License-Identifier: Apache-2.0
#include "service/export/request.h"

#include "base/hex.h"
#include "base/text_lines.h"
#include "enctype.h"

namespace tkdc {
namespace {

constexpr std::string_view kRequestTitle = "tkdc-export-request 1";
constexpr std::string_view kDigestLabel = "tkdc export request 1";

ExportKey read_key(TextLines& lines) {
  ExportKey key;
  std::string_view text = lines.after("key");
  lines.octets(lines.word(text), key.id);
  key.kvno = lines.number<std::uint32_t>(lines.word(text), UINT32_MAX);
  key.enctype = lines.number<std::uint32_t>(lines.word(text), UINT32_MAX);
  if (tkdc_enctype_of(key.enctype) == nullptr) lines.wrong("has an enctype that no share has");
  if (!fits_a_line(text)) lines.wrong("names no principal");
  key.principal = text;
  return key;
}

void read_header(TextLines& lines, ExportRequest& request) {
  if (lines.line() != kRequestTitle) lines.wrong("is not \"" + std::string(kRequestTitle) + "\"");
  lines.octets(lines.after("installation"), request.installation);
  request.realm = lines.after("realm");
  if (!fits_a_line(request.realm)) lines.wrong("names no realm");
  lines.octets(lines.after("recipient"), request.recipient);
  request.expires_at_s = lines.number<std::uint64_t>(lines.after("expires"), INT64_MAX);
  lines.octets(lines.after("nonce"), request.nonce);
}

}  // namespace

std::string encode(const ExportRequest& request) {
  std::string out(kRequestTitle);
  out += "\ninstallation " + to_hex(request.installation);
  out += "\nrealm " + request.realm;
  out += "\nrecipient " + to_hex(request.recipient);
  out += "\nexpires " + std::to_string(request.expires_at_s);
  out += "\nnonce " + to_hex(request.nonce);
  out += "\nkeys " + std::to_string(request.keys.size()) + "\n";
  for (const ExportKey& key : request.keys)
    out += "key " + to_hex(key.id) + " " + std::to_string(key.kvno) + " " +
           std::to_string(key.enctype) + " " + key.principal + "\n";
  return out;
}

Result<ExportRequest> decode_export_request(std::string_view text) {
  if (text.size() > kMaxExportRequestBytes) return fail("the request is too long");
  ExportRequest request;
  TextLines lines(text);
  read_header(lines, request);
  const auto count = lines.number<std::size_t>(lines.after("keys"), kMaxExportKeys);
  for (std::size_t i = 0; i < count && lines.error().empty(); ++i) {
    request.keys.push_back(read_key(lines));
    if (i > 0 && request.keys[i - 1].id >= request.keys[i].id)
      lines.wrong("has an id that is not above the one before");
  }
  if (!lines.error().empty()) return fail("the request's " + lines.error());
  if (!lines.over()) return fail("the request goes on behind its last key");
  if (request.keys.empty()) return fail("the request names no key");
  // Numbers with leading zeros, digits in capitals: one request is one file.
  if (encode(request) != text) return fail("the request is not written as `tkdc export` writes it");
  return request;
}

Digest request_digest(std::string_view text) {
  Digest digest;
  crypto_generichash(digest.data(), digest.size(),
                     reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                     reinterpret_cast<const unsigned char*>(kDigestLabel.data()),
                     kDigestLabel.size());
  return digest;
}

std::string short_digest(ByteSpan digest) {
  const std::string hex = to_hex(digest.first(16));
  std::string out;
  for (std::size_t at = 0; at < hex.size(); at += 4) out += (at > 0 ? "-" : "") + hex.substr(at, 4);
  return out;
}

Result<void> check_life(std::uint64_t expires_at_s, std::uint64_t now_s) {
  if (expires_at_s <= now_s)
    return fail("the request has expired: make a new one, or set this host's clock");
  if (expires_at_s - now_s > kMaxExportLife_s)
    return fail(
        "the request expires in more than 24 hours: make a new one, or set this host's clock");
  return {};
}

KeyRef key_ref(const InstallationId& installation, const ExportKey& key) {
  KeyRef ref;
  ref.id = key.id;
  ref.installation = installation;
  crypto_hash_sha256(ref.principal.data(),
                     reinterpret_cast<const unsigned char*>(key.principal.data()),
                     key.principal.size());
  ref.kvno = key.kvno;
  ref.enctype = key.enctype;
  return ref;
}

}  // namespace tkdc
