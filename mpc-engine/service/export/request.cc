// SPDX-License-Identifier: Apache-2.0
#include "service/export/request.h"

#include <algorithm>
#include <charconv>

#include "base/hex.h"
#include "enctype.h"

namespace tkdc {
namespace {

constexpr std::string_view kRequestTitle = "tkdc-export-request 1";
constexpr std::string_view kDigestLabel = "tkdc export request 1";
constexpr std::size_t kMaxNameBytes = 4096;

bool fits_a_line(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes &&
         std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// Lines with their words, one after the other; the first that is not as it should be ends it.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  // The next line, which starts with `word` and a blank; what follows it.
  std::string_view after(std::string_view word) {
    const std::string_view text = line();
    if (text.size() <= word.size() || !text.starts_with(word) || text[word.size()] != ' ')
      return wrong("does not start with \"" + std::string(word) + "\"");
    return text.substr(word.size() + 1);
  }
  std::string_view line() {
    ++number_;
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return wrong("is cut short");
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::string_view wrong(const std::string& what) {
    if (error_.empty()) error_ = "line " + std::to_string(number_) + " " + what;
    rest_ = {};
    return {};
  }
  template <class Number>
  Number number(std::string_view text, std::uint64_t most) {
    Number out{};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (code != std::errc() || end != text.data() + text.size() || out > most)
      wrong("has no number up to " + std::to_string(most));
    return out;
  }
  // Up to the next blank, which goes too.
  std::string_view word(std::string_view& text) {
    const std::size_t end = text.find(' ');
    if (end == std::string_view::npos) return wrong("lacks a word");
    const std::string_view out = text.substr(0, end);
    text.remove_prefix(end + 1);
    return out;
  }
  template <std::size_t N>
  void octets(std::string_view text, std::array<std::uint8_t, N>& out) {
    if (!from_hex(text, out)) wrong("has no " + std::to_string(2 * N) + " hexadecimal digits");
  }
  bool over() const { return rest_.empty(); }
  const std::string& error() const { return error_; }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
  std::string error_;
};

ExportKey read_key(Lines& lines) {
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

void read_head(Lines& lines, ExportRequest& request) {
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
  Lines lines(text);
  read_head(lines, request);
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

KeyRef key_ref(const ExportRequest& request, const ExportKey& key) {
  KeyRef ref;
  ref.id = key.id;
  ref.installation = request.installation;
  crypto_hash_sha256(ref.principal.data(),
                     reinterpret_cast<const unsigned char*>(key.principal.data()),
                     key.principal.size());
  ref.kvno = key.kvno;
  ref.enctype = key.enctype;
  return ref;
}

}  // namespace tkdc
