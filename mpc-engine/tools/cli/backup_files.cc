// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/backup_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/credential.h"
#include "base/secret_file.h"
#include "base/system_error.h"
#include "base/unique_fd.h"
#include "link/tls_context.h"
#include "service/store/keyring.h"
#include "tools/setup/tree.h"

namespace tkdc::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConfiguration = "tkdc.toml";
constexpr std::string_view kPublic = kBackupPublicName;
constexpr std::string_view kStoreKey = "store.key";
constexpr std::string_view kSecret[] = {"curve.key", "identity.key", "tls.key.pem"};
constexpr std::string_view kIntroduction = ".introduction";

Result<void> read_public(const fs::path& from, const std::string& name,
                         std::vector<BackupFile>& out) {
  auto text = read_text_file(from.string(), kMostBackupFileBytes);
  if (!text) return text.error();
  out.push_back({name, SecretVector(text->begin(), text->end())});
  return {};
}

Result<void> read_secret(const fs::path& from, const std::string& name,
                         std::vector<BackupFile>& out) {
  auto octets = read_secret_file(from.string(), kMostBackupFileBytes);
  if (!octets) return octets.error();
  out.push_back({name, std::move(*octets)});
  return {};
}

fs::path folder_of(const std::string& config) {
  return fs::absolute(config).lexically_normal().parent_path();
}

const BackupFile* find(const std::vector<BackupFile>& files, std::string_view name) {
  const auto at = std::ranges::find(files, name, &BackupFile::name);
  return at == files.end() ? nullptr : &*at;
}
bool has(const std::vector<BackupFile>& files, std::string_view name) {
  return find(files, name) != nullptr;
}

// As which the backup holds what the configuration names. Empty: it is not beside it, or what has
// its own way into a backup, or none.
std::string name_beside(const fs::path& folder, const std::string& path) {
  if (const std::string credential = credential_not_given(path); !credential.empty())
    return credential;
  const fs::path at = fs::absolute(path).lexically_normal();
  const std::string name = at.filename().string();
  for (std::string_view other : {kConfiguration, kPublic, kStoreKey})
    if (name == other) return {};
  return at.parent_path() == folder && is_backup_file_name(name) ? name : std::string();
}

// They are read one after the other, and renewed one after the other.
Result<void> belong_together(const ServerConfig& config, const std::vector<BackupFile>& files) {
  const fs::path folder = folder_of(config.path);
  const BackupFile* certificate = find(files, name_beside(folder, config.certificate_file));
  const BackupFile* key = find(files, name_beside(folder, config.private_key_file));
  if (certificate == nullptr || key == nullptr) return {};
  const std::string_view pem(reinterpret_cast<const char*>(certificate->contents.data()),
                             certificate->contents.size());
  if (TlsContext::create(pem, key->contents, RecordCipher::kOpenssl)) return {};
  return fail(config.certificate_file + " and " + config.private_key_file +
              " do not belong together: if they are being renewed, run this again");
}

// All of it, or nothing.
Result<Bytes> read_whole(const UniqueFd& fd, const std::string& path) {
  Bytes octets(kMostBackupFileBytes + 1);
  std::size_t got = 0;
  while (got < octets.size()) {
    const ssize_t n = ::read(fd.get(), octets.data() + got, octets.size() - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("cannot read " + path);
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  if (got > kMostBackupFileBytes)
    return fail(path + " is longer than " + std::to_string(kMostBackupFileBytes) + " octets");
  octets.resize(got);
  return octets;
}

// None: there is no such file.
Result<std::optional<Bytes>> read_credential(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd && errno == ENOENT) return std::optional<Bytes>();
  struct stat st {};
  if (!fd || ::fstat(fd.get(), &st) != 0) return system_error("cannot open " + path);
  if (!S_ISREG(st.st_mode) || st.st_nlink != 1) return fail(path + ": not a file of its own");
  auto octets = read_whole(fd, path);
  if (!octets) return octets.error();
  return std::optional<Bytes>(std::move(*octets));
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

Result<std::vector<BackupFile>> open_member_credentials(const std::string& config) {
  std::vector<BackupFile> out;
  const fs::path folder = fs::absolute(config).parent_path();
  for (std::string_view name : kSecret) {
    const fs::path path = folder / (std::string(name) + std::string(kCredentialEnding));
    auto sealed = read_credential(path.string());
    if (!sealed) return sealed.error();
    if (!*sealed) continue;
    if (::geteuid() != 0)
      return fail("only root opens " + path.string() +
                  ", a credential of this host: run this as root");
    auto octets = decrypt_credential(std::string(name), **sealed);
    if (!octets) return octets.error();
    out.push_back({std::string(name), std::move(*octets)});
  }
  return out;
}

std::vector<std::string> member_files(const ServerConfig& config) {
  return {config.private_key_file, config.curve_secret_key_file, config.certificate_file};
}

Result<std::vector<std::string>> read_member_files(const ServerConfig& config,
                                                   std::vector<BackupFile>& files) {
  const fs::path folder = folder_of(config.path);
  std::vector<std::string> missing;
  auto done = read_public(config.path, std::string(kConfiguration), files);
  std::error_code error;
  for (const std::string& path : member_files(config)) {
    const std::string name = name_beside(folder, path);
    if (!done || has(files, name)) continue;
    if (!credential_not_given(path).empty())
      missing.push_back("%d/" + name);
    else if (name.empty() || !fs::exists(folder / name, error))
      missing.push_back(path);
    else
      done = path == config.certificate_file ? read_public(folder / name, name, files)
                                             : read_secret(folder / name, name, files);
  }
  for (std::string_view name : kSecret)
    if (done && !has(files, name) && fs::exists(folder / name, error))
      done = read_secret(folder / name, std::string(name), files);
  // Of others, too, which they have: one that is not readable is left out.
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (done && entry.path().extension() == kIntroduction && files.size() + 1 < kMostBackupFiles &&
        !has(files, entry.path().filename().string()) && ::access(entry.path().c_str(), R_OK) == 0)
      done = read_public(entry.path(), entry.path().filename().string(), files);
  if (done) done = belong_together(config, files);
  if (!done) return done.error();
  return missing;
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
  auto done = tree->file(std::string(kStoreKey), key.span());
  for (const BackupFile& file : files) {
    if (!done) return done;
    done = file.name == kConfiguration ? tree->file(file.name, without_credentials(file.contents))
                                       : tree->file(file.name, ByteSpan(file.contents));
  }
  return done ? tree->publish() : done;
}

}  // namespace tkdc::cli
