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
#include "service/store/keyring.h"
#include "tools/setup/tree.h"

namespace tkdc::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConfiguration = "tkdc.toml";
constexpr std::string_view kCertificate = "tls.cert.pem";
constexpr std::string_view kSecret[] = {"curve.key", "identity.key", "tls.key.pem"};
constexpr std::string_view kIntroduction = ".introduction";

Result<void> read_public(const fs::path& from, const std::string& name,
                         std::vector<BackupFile>& out) {
  auto text = read_text_file(from.string(), kMostBackupFileBytes);
  if (!text) return text.error();
  out.push_back({name, SecretVector(text->begin(), text->end())});
  return {};
}

// None: there is no such file.
Result<std::optional<Bytes>> read_credential(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd && errno == ENOENT) return std::optional<Bytes>();
  struct stat st {};
  if (!fd || ::fstat(fd.get(), &st) != 0) return system_error("cannot open " + path);
  if (!S_ISREG(st.st_mode) || st.st_nlink != 1) return fail(path + ": not a file of its own");
  Bytes octets(kMostBackupFileBytes);
  const ssize_t n = ::read(fd.get(), octets.data(), octets.size());
  if (n < 0) return system_error("cannot read " + path);
  octets.resize(static_cast<std::size_t>(n));
  return std::optional<Bytes>(std::move(octets));
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

Result<void> read_member_files(const std::string& config, std::vector<BackupFile>& files) {
  const fs::path folder = fs::absolute(config).parent_path();
  std::error_code error;
  auto done = read_public(config, std::string(kConfiguration), files);
  if (done && fs::exists(folder / kCertificate, error))
    done = read_public(folder / kCertificate, std::string(kCertificate), files);
  for (std::string_view name : kSecret) {
    const bool opened = std::ranges::find(files, name, &BackupFile::name) != files.end();
    if (!done || opened || !fs::exists(folder / name, error)) continue;
    auto octets = read_secret_file((folder / name).string(), kMostBackupFileBytes);
    if (!octets) return octets.error();
    files.push_back({std::string(name), std::move(*octets)});
  }
  // Of others, too, which they have: one that is not readable is left out.
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (done && entry.path().extension() == kIntroduction && files.size() + 1 < kMostBackupFiles &&
        ::access(entry.path().c_str(), R_OK) == 0)
      done = read_public(entry.path(), entry.path().filename().string(), files);
  return done;
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
