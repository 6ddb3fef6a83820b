// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/backup_files.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/credential.h"
#include "base/secret_file.h"
#include "service/store/keyring.h"
#include "tools/setup/tree.h"

namespace tkdc::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConfiguration = "tkdc.toml";
constexpr std::string_view kPublic[] = {"tls.cert.pem", kBackupPublicName};
constexpr std::string_view kSecret[] = {"curve.key", "identity.key", "tls.key.pem"};
constexpr std::string_view kIntroduction = ".introduction";

Result<void> read_public(const fs::path& from, const std::string& name,
                         std::vector<BackupFile>& out) {
  auto text = read_text_file(from.string(), kMostBackupFileBytes);
  if (!text) return text.error();
  out.push_back({name, SecretVector(text->begin(), text->end())});
  return {};
}

// As a file, or as a credential beside it.
Result<void> read_secret(const fs::path& folder, std::string_view name,
                         std::vector<BackupFile>& out) {
  const fs::path file = folder / name;
  const std::string credential = file.string() + std::string(kCredentialEnding);
  std::error_code ignored;
  const bool sealed = fs::exists(credential, ignored);
  if (!sealed && !fs::exists(file, ignored)) return {};
  auto octets = sealed ? decrypt_credential_file(std::string(name), credential)
                       : read_secret_file(file.string(), kMostBackupFileBytes);
  if (!octets) return octets.error();
  out.push_back({std::string(name), std::move(*octets)});
  return {};
}

// "%d/NAME" is a credential of a unit; here it is the file beside the configuration.
std::string without_credentials(const SecretVector& contents) {
  std::string text(contents.begin(), contents.end());
  constexpr std::string_view kFolder = "\"%d/";
  for (std::size_t at = 0; (at = text.find(kFolder, at)) != std::string::npos;)
    text.replace(at, kFolder.size(), "\"");
  return text;
}

}  // namespace

Result<std::vector<BackupFile>> read_member_files(const std::string& config) {
  std::vector<BackupFile> out;
  const fs::path folder = fs::absolute(config).parent_path();
  std::error_code error;
  auto done = read_public(config, std::string(kConfiguration), out);
  for (std::string_view name : kPublic)
    if (done && fs::exists(folder / name, error))
      done = read_public(folder / name, std::string(name), out);
  for (std::string_view name : kSecret)
    if (done) done = read_secret(folder, name, out);
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (done && entry.path().extension() == kIntroduction && out.size() < kMostBackupFiles)
      done = read_public(entry.path(), entry.path().filename().string(), out);
  if (!done) return done.error();
  return out;
}

Result<void> write_member_files(const std::string& folder, const std::vector<BackupFile>& files) {
  const bool whole = std::ranges::any_of(
      files, [](const BackupFile& file) { return file.name == kConfiguration; });
  if (!whole)
    return fail("the backup holds no configuration (it was made with --store-only), and " + folder +
                " has no tkdc.toml: set the server up first, `tkdc init` and `tkdc join`");
  auto tree = setup::Tree::begin(folder);
  if (!tree) return tree.error();
  const SecretBuffer key = draw_store_key();
  auto done = tree->file("store.key", key.span());
  for (const BackupFile& file : files) {
    if (!done) return done;
    done = file.name == kConfiguration ? tree->file(file.name, without_credentials(file.contents))
                                       : tree->file(file.name, ByteSpan(file.contents));
  }
  return done ? tree->publish() : done;
}

}  // namespace tkdc::cli
