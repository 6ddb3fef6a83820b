// SPDX-License-Identifier: Apache-2.0
#include "tools/setup/introduction.h"

#include <algorithm>
#include <cctype>

#include "base/curve_key.h"
#include "base/hex.h"
#include "base/text_lines.h"
#include "service/export/request.h"
#include "session/session.h"
#include "tools/setup/host_name.h"

namespace tkdc::setup {
namespace {

constexpr std::string_view kTitle = "tkdc-introduction 1", kTitleOfTwo = "tkdc-introduction 2";
constexpr std::string_view kSignedLabel = "tkdc introduction 1";
constexpr std::string_view kDigestLabel = "tkdc introduction fingerprint 1";
constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMaxRealmBytes = 255;

bool made_of(std::string_view text, std::string_view marks) {
  return std::ranges::all_of(text, [marks](unsigned char c) {
    return std::isalnum(c) != 0 || marks.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

Bytes signed_octets(std::string_view lines) {
  Bytes out;
  Writer w(out);
  w.text(kSignedLabel);
  w.text(lines);
  return out;
}

std::string server_lines(const ServerPart& server) {
  return "server " + std::to_string(server.party) + "\nlanes " + std::to_string(server.lanes) +
         "\ncontrol " + std::to_string(server.control_port) + "\ndata " +
         std::to_string(server.data_port) + "\ncertificate " + to_hex(server.certificate_sha256) +
         "\napprover " +
         (server.approver ? to_hex(server.approver->public_key) + " " + server.approver->name
                          : "none") +
         "\n";
}

// All that is signed.
std::string lines_of(const Introduction& introduction) {
  std::string out(introduction.servers == 2 ? kTitleOfTwo : kTitle);
  out += "\ninstallation " + to_hex(introduction.installation);
  out += "\nrealm " + introduction.realm;
  out += "\nsecurity " + std::string(security_name(introduction.security));
  if (introduction.servers == 2) out += "\nservers 2";
  out += "\nmade " + std::to_string(introduction.made_s);
  out += "\nhost " + introduction.host;
  out += "\ncurve " + introduction.curve_public_key + "\n";
  if (const ServerPart* server = introduction.server()) out += server_lines(*server);
  if (const AgentPart* agent = introduction.agent())
    out += "agent " + agent->role + " " + agent->name + "\n";
  return out + "identity " + to_hex(introduction.identity) + "\n";
}

int read_port(TextLines& lines, std::string_view word) {
  const int port = lines.number<int>(lines.after(word), 65'535);
  if (port < 1) lines.wrong("has no port");
  return port;
}

ServerPart read_server(TextLines& lines, std::string_view party, int servers) {
  ServerPart out;
  out.party = lines.number<int>(party, static_cast<std::uint64_t>(servers - 1));
  out.lanes = lines.number<int>(lines.after("lanes"), kMaxLanes);
  if (out.lanes < 1) lines.wrong("has no lanes");
  out.control_port = read_port(lines, "control");
  out.data_port = read_port(lines, "data");
  lines.octets(lines.after("certificate"), out.certificate_sha256);
  std::string_view text = lines.after("approver");
  if (text == "none") return out;
  out.approver.emplace();
  out.approver->party = out.party;
  lines.octets(lines.word(text), out.approver->public_key);
  out.approver->name = text;
  if (!good_name(text)) lines.wrong("names no approver");
  return out;
}

AgentPart read_agent(TextLines& lines, std::string_view text) {
  AgentPart out;
  out.role = lines.word(text);
  out.name = text;
  if (out.role != "kdc" && out.role != "admin") lines.wrong("has a role other than kdc or admin");
  // Servers are called so already.
  if (!good_name(out.name) || out.name.starts_with("server")) lines.wrong("names no agent");
  return out;
}

void read_header(TextLines& lines, Introduction& out) {
  const std::string_view title = lines.line();
  if (title == kTitleOfTwo)
    out.servers = 2;
  else if (title != kTitle)
    lines.wrong("is not \"" + std::string(kTitle) + "\"");
  lines.octets(lines.after("installation"), out.installation);
  out.realm = lines.after("realm");
  if (!good_realm(out.realm)) lines.wrong("names no realm");
  const std::string_view security = lines.after("security");
  out.security = security == security_name(Security::kMalicious) ? Security::kMalicious
                                                                 : Security::kSemiHonest;
  if (security != security_name(out.security)) lines.wrong("names no security mode");
  if (out.servers == 2 && out.security != Security::kMalicious)
    lines.wrong("is not the mode of two servers");
  if (out.servers == 2 && lines.after("servers") != "2") lines.wrong("is not \"servers 2\"");
  out.made_s = lines.number<std::int64_t>(lines.after("made"), INT64_MAX);
  out.host = lines.after("host");
  if (auto host = canonical_host(out.host); !host)
    lines.wrong(host.error().message);
  else if (*host != out.host)
    lines.wrong("names a host that is to be written " + *host);
  out.curve_public_key = lines.after("curve");
  if (!is_curve_key(out.curve_public_key)) lines.wrong("has no CURVE public key");
}

}  // namespace

std::string Introduction::name() const {
  return server() != nullptr ? "server" + std::to_string(server()->party) : agent()->name;
}

bool good_realm(std::string_view realm) {
  return !realm.empty() && realm.size() <= kMaxRealmBytes && made_of(realm, ".-_");
}

bool good_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes && made_of(name, "-_.") &&
         std::isalnum(static_cast<unsigned char>(name.front())) != 0;
}

IdentityKey identity_of(const SecretBuffer& seed) {
  IdentityKey out;
  SecretBuffer secret(crypto_sign_SECRETKEYBYTES);
  crypto_sign_seed_keypair(out.data(), secret.data(), seed.data());
  return out;
}

std::string encode(const Introduction& introduction, const SecretBuffer& seed) {
  Introduction own = introduction;
  SecretBuffer secret(crypto_sign_SECRETKEYBYTES);
  crypto_sign_seed_keypair(own.identity.data(), secret.data(), seed.data());
  std::string out = lines_of(own);
  const Bytes octets = signed_octets(out);
  std::array<std::uint8_t, crypto_sign_BYTES> signature;
  crypto_sign_detached(signature.data(), nullptr, octets.data(), octets.size(), secret.data());
  return out + "signature " + to_hex(signature) + "\n";
}

Result<Introduction> decode_introduction(std::string_view text) {
  if (text.size() > kMaxIntroductionBytes) return fail("it is too long for an introduction");
  Introduction out;
  TextLines lines(text);
  read_header(lines, out);
  std::string_view line = lines.line();
  const std::string_view member = lines.word(line);
  if (member == "server")
    out.part = read_server(lines, line, out.servers);
  else if (member == "agent")
    out.part = read_agent(lines, line);
  else
    lines.wrong("is neither of a server nor of an agent");
  lines.octets(lines.after("identity"), out.identity);
  std::array<std::uint8_t, crypto_sign_BYTES> signature{};
  lines.octets(lines.after("signature"), signature);
  if (!lines.error().empty()) return fail("its " + lines.error());
  // Numbers with leading zeros, digits in capitals: one introduction is one file.
  const std::string lines_before = lines_of(out);
  if (lines_before + "signature " + to_hex(signature) + "\n" != text)
    return fail("it is not written as `tkdc init` writes it");
  const Bytes octets = signed_octets(lines_before);
  if (crypto_sign_verify_detached(signature.data(), octets.data(), octets.size(),
                                  out.identity.data()) != 0)
    return fail("its signature does not hold: it was changed; have it sent again");
  return out;
}

std::string fingerprint(std::string_view text) {
  Digest digest;
  crypto_generichash(digest.data(), digest.size(),
                     reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                     reinterpret_cast<const unsigned char*>(kDigestLabel.data()),
                     kDigestLabel.size());
  return short_digest(digest);
}

bool is_fingerprint(std::string_view typed, std::string_view text) {
  auto plain = [](std::string_view from) {
    std::string out;
    for (const char c : from)
      if (c != '-' && c != ' ')
        out.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    return out;
  };
  return plain(typed) == plain(fingerprint(text));
}

}  // namespace tkdc::setup
