// SPDX-License-Identifier: Apache-2.0
#include "tools/setup/member.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/credential.h"
#include "base/hex.h"
#include "base/secret_file.h"
#include "link/certificate.h"

namespace tkdc::setup {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kStoreKeyBytes = 32;
constexpr std::size_t kMaxPemBytes = 64 * 1024;

// The one introduction in the folder itself: those of others lie below it.
Result<std::string> own_file(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == kIntroductionEnding) found.push_back(entry.path().string());
  if (error) return fail(folder + ": " + error.message());
  if (found.empty())
    return fail(folder + " has no .introduction file: make it with `tkdc init --party` or --agent");
  if (found.size() > 1)
    return fail(folder + " has " + std::to_string(found.size()) +
                " .introduction files; the others' belong elsewhere");
  return found.front();
}

Result<void> write_secret(Tree& tree, const std::string& prefix, const std::string& name,
                          ByteSpan secret, const SecretForm& form) {
  if (form.credential_key.empty()) return tree.file(prefix + name, secret);
  auto credential = encrypt_credential(name, secret, form.credential_key);
  if (!credential) return credential.error();
  return tree.file(prefix + name + std::string(kCredentialEnding), *credential);
}

// As it stands in its file, or in its credential.
Result<SecretVector> curve_secret(const std::string& folder) {
  const std::string file = folder + "/curve.key",
                    credential = file + std::string(kCredentialEnding);
  if (fs::exists(file) || !fs::exists(credential)) return read_curve_secret(file);
  auto text = decrypt_credential_file("curve.key", credential);
  while (text && !text->empty() && text->back() == '\n') text->pop_back();
  return text;
}

Result<void> check_curve(const std::string& folder, const Introduction& own) {
  // Only root opens a credential; when the service's account joins again, init and join have
  // looked.
  if (::geteuid() != 0 && !fs::exists(folder + "/curve.key") &&
      fs::exists(folder + "/curve.key" + std::string(kCredentialEnding)))
    return {};
  auto text = curve_secret(folder);
  if (!text) return text.error();
  SecretBuffer secret(kCurveKeyBytes);
  CurvePublicKey derived{};
  const bool good = decode_curve_secret(*text, std::span<std::uint8_t, kCurveKeyBytes>(
                                                   secret.data(), kCurveKeyBytes)) &&
                    crypto_scalarmult_base(derived.data(), secret.data()) == 0;
  if (!good || decode_curve_public(own.curve_public_key) != derived)
    return fail(folder + ": curve.key is not that of the introduction beside it");
  return {};
}

Result<void> check_certificate(const std::string& folder, const ServerPart& own) {
  auto pem = read_text_file(folder + "/tls.cert.pem", kMaxPemBytes);
  if (!pem) return pem.error();
  auto found = certificate_fingerprint(*pem);
  if (!found) return found.error();
  if (*found != own.certificate_sha256)
    return fail(folder + ": tls.cert.pem is not that of the introduction beside it");
  return {};
}

Result<void> check_identity(const std::string& folder, const Introduction& own) {
  auto text = read_secret_file(folder + "/identity.key", kSeedBytes);
  if (!text) return text.error();
  SecretBuffer seed(kSeedBytes);
  if (text->size() == kSeedBytes) std::ranges::copy(*text, seed.data());
  if (text->size() != kSeedBytes || identity_of(seed) != own.identity)
    return fail(folder + ": identity.key is not that of the introduction beside it");
  return {};
}

}  // namespace

InstallationId draw_installation() {
  InstallationId out;
  randombytes_buf(out.data(), out.size());
  return out;
}

Result<CurveKeys> draw_curve_keys() {
  auto keys = new_curve_keys();
  if (!keys) return fail("this libzmq has no CURVE; install one that was built with libsodium");
  keys->secret_text.push_back('\n');
  return std::move(*keys);
}

Result<void> write_server_keys(Tree& tree, const std::string& prefix, Introduction& introduction,
                               const SecretForm& form) {
  if (Result<void> made = write_agent_keys(tree, prefix, introduction, form); !made) return made;
  ServerPart& server = std::get<ServerPart>(introduction.part);
  auto certificate = make_certificate("tkdc server " + std::to_string(server.party));
  if (!certificate) return certificate.error();
  server.certificate_sha256 = certificate->sha256;
  SecretBuffer store_key(kStoreKeyBytes);
  randombytes_buf(store_key.data(), store_key.size());
  for (const auto& [name, contents] :
       {std::pair("tls.key.pem", ByteSpan(certificate->private_key_pem)),
        std::pair("store.key", ByteSpan(store_key.data(), store_key.size()))})
    if (Result<void> made = write_secret(tree, prefix, name, contents, form); !made) return made;
  return tree.file(prefix + "tls.cert.pem", certificate->certificate_pem);
}

Result<void> write_agent_keys(Tree& tree, const std::string& prefix, Introduction& introduction,
                              const SecretForm& form) {
  auto curve = draw_curve_keys();
  if (!curve) return curve.error();
  introduction.curve_public_key = curve->public_text;
  return write_secret(tree, prefix, "curve.key", ByteSpan(curve->secret_text), form);
}

Result<std::string> write_member(Tree& tree, Introduction introduction, const SecretForm& form) {
  Result<void> made = introduction.server() != nullptr
                          ? write_server_keys(tree, "", introduction, form)
                          : write_agent_keys(tree, "", introduction, form);
  if (!made) return made.error();
  SecretBuffer seed(kSeedBytes);
  randombytes_buf(seed.data(), seed.size());
  made = tree.file("identity.key", ByteSpan(seed.data(), seed.size()));
  if (!made) return made.error();
  std::string text = encode(introduction, seed);
  made = tree.public_file(introduction_file_name(introduction), text);
  if (!made) return made.error();
  return text;
}

Result<IntroductionFile> read_member_file(const std::string& folder) {
  auto path = own_file(folder);
  if (!path) return path.error();
  return read_introduction(*path);
}

Result<IntroductionFile> read_member(const std::string& folder) {
  auto file = read_member_file(folder);
  if (!file) return file;
  const Introduction& own = file->introduction;
  Result<void> checked = check_identity(folder, own);
  if (checked) checked = check_curve(folder, own);
  if (checked && own.server() != nullptr) checked = check_certificate(folder, *own.server());
  if (!checked) return checked.error();
  return file;
}

}  // namespace tkdc::setup
