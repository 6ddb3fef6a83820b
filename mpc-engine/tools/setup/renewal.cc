// SPDX-License-Identifier: Apache-2.0
#include "tools/setup/renewal.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "base/credential.h"
#include "base/durable_file.h"
#include "base/secret_file.h"
#include "base/system_error.h"
#include "link/certificate.h"

namespace tkdc::setup {
namespace {

namespace fs = std::filesystem;

std::string next_folder(const std::string& folder) { return folder + std::string(kNextFolder); }

SecretVector copy_of(std::string_view text) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(text.data());
  return {first, first + text.size()};
}

Result<void> add_secret(Renewal& out, const std::string& name, ByteSpan secret,
                        const std::string& credential_key) {
  if (credential_key.empty()) {
    out.files.emplace_back(name, SecretVector(secret.begin(), secret.end()));
    return {};
  }
  auto credential = encrypt_credential(name, secret, credential_key);
  if (!credential) return credential.error();
  out.files.emplace_back(name + std::string(kCredentialEnding), copy_of(*credential));
  return {};
}

Result<void> draw_certificate(Renewal& out, ServerPart& server, const std::string& key) {
  auto drawn = make_certificate("tkdc server " + std::to_string(server.party));
  if (!drawn) return drawn.error();
  server.certificate_sha256 = drawn->sha256;
  auto added = add_secret(out, "tls.key.pem", ByteSpan(drawn->private_key_pem), key);
  if (added) out.files.emplace_back("tls.cert.pem", copy_of(drawn->certificate_pem));
  return added;
}

Result<SecretBuffer> read_identity(const std::string& folder) {
  auto text = read_secret_file(folder + "/identity.key", kSeedBytes);
  if (!text) return text.error();
  if (text->size() != kSeedBytes) return fail(folder + "/identity.key is not of 32 octets");
  SecretBuffer seed(kSeedBytes);
  std::ranges::copy(*text, seed.data());
  return seed;
}

bool is_secret(const std::string& name) { return name.find(".key") != std::string::npos; }

// Names that a renewal has, and no other: the folder is the service's own.
bool is_of_renewal(const std::string& name, const std::string& introduction) {
  const std::string ending(kCredentialEnding);
  for (const char* one : {"curve.key", "tls.key.pem"})
    if (name == one || name == one + ending) return true;
  return name == "tls.cert.pem" || name == introduction;
}

Error not_of_renewal(const std::string& path) {
  return fail(path + " is nothing that `tkdc renew` makes: move it away, then again");
}

// Tree's, for `next`.
std::string draft_name() { return "." + std::string(kNextFolder.substr(1)) + "."; }

// None where there is no such folder.
Result<std::vector<std::string>> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  if (!fs::exists(folder, error)) return names;
  for (const auto& entry : fs::directory_iterator(folder, error))
    names.push_back(entry.path().filename().string());
  if (error) return fail(folder + ": " + error.message());
  return names;
}

Result<void> remove_folder(const std::string& folder) {
  if (::rmdir(folder.c_str()) != 0) return system_error("cannot remove " + folder);
  return {};
}

// Next keys that nobody will take. All is looked at before any is removed.
Result<void> remove_keys(const std::string& folder, const Introduction& own) {
  auto names = names_in(folder);
  if (!names) return names.error();
  const std::string introduction = introduction_file_name(own);
  for (const std::string& name : *names)
    if (!is_of_renewal(name, introduction)) return not_of_renewal(folder + "/" + name);
  for (const std::string& name : *names)
    if (!remove_wiped(folder + "/" + name)) return system_error("cannot remove " + folder);
  return remove_folder(folder);
}

}  // namespace

Result<Renewal> draw_renewal(const std::string& folder, const IntroductionFile& own,
                             const std::string& credential_key) {
  auto seed = read_identity(folder);
  if (!seed) return seed.error();
  const bool sealed = fs::exists(folder + "/curve.key" + std::string(kCredentialEnding));
  const std::string with = sealed ? credential_key : "";
  Introduction next = own.introduction;
  // Of two introductions the later one counts.
  next.made_s = std::max<std::int64_t>(std::time(nullptr), own.introduction.made_s + 1);
  Renewal out;
  auto curve = draw_curve_keys();
  if (!curve) return curve.error();
  next.curve_public_key = curve->public_text;
  auto added = add_secret(out, "curve.key", ByteSpan(curve->secret_text), with);
  if (auto* server = std::get_if<ServerPart>(&next.part); added && server != nullptr)
    added = draw_certificate(out, *server, with);
  if (!added) return added.error();
  out.introduction = encode(next, *seed);
  out.files.emplace_back(introduction_file_name(next), copy_of(out.introduction));
  return out;
}

Result<void> write_renewal(const std::string& folder, const Renewal& renewal) {
  auto tree = Tree::begin(next_folder(folder));
  if (!tree) return tree.error();
  for (const auto& [name, octets] : renewal.files) {
    const bool handed_on = name.ends_with(kIntroductionEnding);
    Result<void> made = handed_on ? tree->public_file(name, renewal.introduction)
                                  : tree->file(name, ByteSpan(octets));
    if (!made) return made;
  }
  return tree->publish();
}

Result<IntroductionFile> read_next(const std::string& folder, const Introduction& own) {
  const std::string path = next_folder(folder) + "/" + introduction_file_name(own);
  if (!fs::exists(path))
    return fail(folder + " has no next keys: `tkdc renew --folder` draws them");
  auto next = read_introduction(path);
  if (!next) return next;
  if (next->introduction.name() != own.name() || next->introduction.identity != own.identity)
    return fail(path + " is not this member's; remove " + next_folder(folder));
  return next;
}

Result<bool> is_whole(const std::string& folder, const Introduction& own) {
  auto names = names_in(next_folder(folder));
  if (!names) return names.error();
  const std::size_t all = own.server() != nullptr ? 4 : 2;
  return names->size() >= all;
}

Result<std::string> clear_unfinished(const std::string& folder, const Introduction& own) {
  std::string what;
  auto members = names_in(folder);
  if (!members) return members.error();
  for (const std::string& name : *members)
    if (name.starts_with(draft_name())) {
      if (Result<void> gone = remove_keys(folder + "/" + name, own); !gone) return gone.error();
      what = folder + "/" + name;
    }
  const std::string next = next_folder(folder);
  auto names = names_in(next);
  if (!names) return names.error();
  if (!fs::exists(next) || fs::exists(next + "/" + introduction_file_name(own))) return what;
  // They come into the folder together: somebody took the introduction away, and others may have
  // it.
  if (!names->empty())
    return fail(next +
                " has next keys without their introduction, which the others may have "
                "joined: put it back there; if nobody has it, remove that folder, then again");
  if (Result<void> gone = remove_folder(next); !gone) return gone.error();
  return next;
}

Result<Taken> take_renewal(const std::string& folder) {
  auto own = read_member_file(folder);
  if (!own) return own.error();
  const std::string introduction = introduction_file_name(own->introduction);
  auto names = names_in(next_folder(folder));
  if (!names) return names.error();
  if (names->empty() && fs::exists(next_folder(folder))) {
    // The introduction was the last one.
    if (Result<void> gone = remove_folder(next_folder(folder)); !gone) return gone.error();
    return Taken::kBefore;
  }
  auto next = read_next(folder, own->introduction);
  if (!next) return next.error();
  // The introduction last: while it is there, this is to be done again.
  std::ranges::sort(*names, {}, [&](const std::string& name) { return name == introduction; });
  for (const std::string& name : *names) {
    const std::string from = next_folder(folder) + "/" + name;
    if (!is_of_renewal(name, introduction)) return not_of_renewal(from);
    const OldFile old = is_secret(name) ? OldFile::kWiped : OldFile::kLeft;
    if (!put_in_place(from, folder + "/" + name, old))
      return system_error("cannot put " + from + " into its place");
  }
  if (Result<void> gone = remove_folder(next_folder(folder)); !gone) return gone.error();
  return Taken::kNow;
}

}  // namespace tkdc::setup
