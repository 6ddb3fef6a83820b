// SPDX-License-Identifier: Apache-2.0
#include "migrate/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <optional>

#include "base/durable_file.h"
#include "base/hex.h"
#include "base/system_error.h"

namespace tkdc::migrate {
namespace {

constexpr std::string_view kTitle = "tkdc-import 1 ";
constexpr std::string_view kKey = "key ";
constexpr std::size_t kIdChars = 2 * std::size_t{TKDC_WIRE_KEY_ID_BYTES};

std::string title_of(const std::uint8_t* installation) {
  return std::string(kTitle) + to_hex({installation, TKDC_WIRE_INSTALLATION_BYTES});
}

// A decimal number and the blank behind it leave `text`.
bool take_number(std::string_view& text, std::uint32_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end == text.data() + text.size() || *end != ' ') return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

// krb5_unparse_name() escapes line ends, but whatever the name came by must not make one.
bool fits_a_line(std::string_view name) {
  return std::ranges::none_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

std::string one_line(const JournalKey& key) {
  return std::string(kKey) + to_hex(key.key.key_id) + " " + std::to_string(key.key.kvno) + " " +
         std::to_string(key.key.enctype) + " " + key.principal + "\n";
}

Error failed(const std::string& path, const char* what) { return system_error(path + ": " + what); }

// No value: an import that came to its end removed the file between our opening and locking it.
Result<std::optional<UniqueFd>> open_locked(const std::string& path) {
  const int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  UniqueFd fd(::open(path.c_str(), flags, S_IRUSR | S_IWUSR));
  struct stat ours {};
  struct stat there {};
  if (!fd || ::fstat(fd.get(), &ours) != 0) return failed(path, "cannot be opened");
  if (!S_ISREG(ours.st_mode) || ours.st_uid != ::geteuid())
    return fail(path + ": not a regular file of this user");
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return fail(path + ": another import is running");
  const bool same = ::lstat(path.c_str(), &there) == 0 && ours.st_dev == there.st_dev &&
                    ours.st_ino == there.st_ino;
  return same ? std::optional(std::move(fd)) : std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Journal>> Journal::open(const std::string& path,
                                               const std::uint8_t* installation) {
  std::unique_ptr<Journal> journal(new Journal());
  journal->path_ = path;
  std::memcpy(journal->installation_, installation, sizeof journal->installation_);
  while (!journal->fd_) {
    auto locked = open_locked(path);
    if (!locked) return locked.error();
    if (*locked) journal->fd_ = std::move(**locked);
  }
  if (auto read = journal->read(installation); !read) return read.error();
  return journal;
}

Result<void> Journal::read(const std::uint8_t* installation) {
  std::string text;
  char buffer[65536];
  ssize_t n = 0;
  while ((n = ::read(fd_.get(), buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(n));
  if (n < 0) return failed(path_, "cannot be read");
  const std::size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  if (whole != text.size() && ::ftruncate(fd_.get(), static_cast<off_t>(whole)) != 0)
    return failed(path_, "cannot be cut behind its last whole line");
  if (whole == 0) {
    unwritten_ = title_of(installation) + "\n";
    if (auto synced = sync(); !synced) return synced;
    if (!sync_folder_of(path_)) return failed(path_, "its folder");
    return {};
  }
  std::size_t number = 0;
  for (std::size_t at = 0; at < whole; ++number) {
    const std::size_t end = text.find('\n', at);
    auto parsed = parse(text.substr(at, end - at), number == 0 ? installation : nullptr);
    if (!parsed)
      return fail(path_ + ":" + std::to_string(number + 1) + ": " + parsed.error().message);
    at = end + 1;
  }
  for (JournalKey& key : keys_)
    std::memcpy(key.key.installation, installation, TKDC_WIRE_INSTALLATION_BYTES);
  return {};
}

// The title, if `installation` is given; a key otherwise.
Result<void> Journal::parse(const std::string& line, const std::uint8_t* installation) {
  std::string_view text = line;
  if (installation != nullptr) {
    if (text == title_of(installation)) return {};
    return fail(
        "not the journal of an import into this installation; if the keys of that other "
        "installation no longer matter, move the file away");
  }
  JournalKey key;
  const bool good = text.starts_with(kKey) && text.size() > kKey.size() + kIdChars &&
                    text[kKey.size() + kIdChars] == ' ' &&
                    from_hex(text.substr(kKey.size(), kIdChars), key.key.key_id);
  if (good) text.remove_prefix(kKey.size() + kIdChars + 1);
  if (!good || !take_number(text, key.key.kvno) || !take_number(text, key.key.enctype) ||
      text.empty())
    return fail("damaged: this line is not one of an import's journal");
  key.principal = text;
  keys_.push_back(std::move(key));
  return {};
}

bool Journal::is_of(const std::uint8_t* installation) const {
  return std::equal(installation_, std::end(installation_), installation);
}

Result<void> Journal::add(JournalKey key) {
  if (!fits_a_line(key.principal)) return fail("its name has control characters");
  unwritten_ += one_line(key);
  keys_.push_back(std::move(key));
  return {};
}

Result<void> Journal::sync() {
  if (unwritten_.empty()) return {};
  if (!write_synced(fd_.get(), unwritten_)) return failed(path_, "cannot be written");
  unwritten_.clear();
  return {};
}

Result<void> Journal::remove() {
  if (!remove_durably(path_)) return failed(path_, "cannot be removed");
  keys_.clear();
  return {};
}

}  // namespace tkdc::migrate
