// SPDX-License-Identifier: Apache-2.0
#include "service/server/audit_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "base/copy_access.h"
#include "base/durable_file.h"
#include "base/system_error.h"

namespace tkdc {
namespace {

constexpr std::size_t kDigits = 20;  // of 2^64

}  // namespace

// In the order of their names.
std::string closed_audit_name(const std::string& path, std::uint64_t last) {
  std::string digits = std::to_string(last);
  digits.insert(0, kDigits - std::min(kDigits, digits.size()), '0');
  return path + "." + digits;
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunkBytes = 64 * 1024;
constexpr std::size_t kMaxLineBytes = 16 * 1024 * 1024;
constexpr std::int64_t kDayS = 86'400;
constexpr std::string_view kGz = ".gz", kDraft = ".gz.new";

// The number in NAME.NUMBER or NAME.NUMBER.gz.
bool number_in(std::string_view name, std::string_view log, std::uint64_t& number,
               bool& compressed) {
  if (!name.starts_with(log) || name.size() <= log.size() || name[log.size()] != '.') return false;
  name.remove_prefix(log.size() + 1);
  compressed = name.ends_with(kGz);
  if (compressed) name.remove_suffix(kGz.size());
  if (name.size() != kDigits || name.find_first_not_of("0123456789") != std::string_view::npos)
    return false;
  number = 0;
  for (const char digit : name) number = number * 10 + static_cast<std::uint64_t>(digit - '0');
  return true;
}

fs::path folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

bool is_there(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

Error cannot(const std::string& what, const std::string& path) {
  return system_error("audit: cannot " + what + " " + path);
}

// The draft has the times of the original: they say how old its lines are.
Result<void> write_compressed(const std::string& path, const std::string& draft) {
  const UniqueFd in(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat st {};
  if (!in || ::fstat(in.get(), &st) != 0) return cannot("open", path);
  const UniqueFd out(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                            st.st_mode & 0777));
  if (!out) return cannot("create", draft);
  if (auto kept = copy_access(path, draft); !kept) return kept;
  gzFile gz = ::gzdopen(::fcntl(out.get(), F_DUPFD_CLOEXEC, 0), "wb6");
  if (gz == nullptr) return cannot("write", draft);
  std::array<char, kChunkBytes> chunk{};
  bool good = true;
  ssize_t n = 0;
  while (good && (n = ::read(in.get(), chunk.data(), chunk.size())) > 0)
    good = ::gzwrite(gz, chunk.data(), static_cast<unsigned>(n)) == n;
  good = n == 0 && good;
  good = ::gzclose(gz) == Z_OK && good;
  const std::array<timespec, 2> times{st.st_atim, st.st_mtim};
  good = good && ::futimens(out.get(), times.data()) == 0;
  if (!good || ::fsync(out.get()) != 0)  // house-rule: zlib has written it
    return cannot("write", draft);
  return {};
}

Result<void> same_lines(const std::string& path, const std::string& draft) {
  AuditLines plain(path), packed(draft);
  std::string one, other;
  bool more = true;
  while (more) {
    more = plain.next(one);
    if (packed.next(other) != more || (more && (one != other || plain.cut() != packed.cut())))
      return fail("audit: " + draft + " does not hold what " + path + " holds; that one stays");
  }
  if (auto good = plain.fault(); !good) return good;
  return packed.fault();
}

Result<void> compress_file(const std::string& path) {
  const std::string draft = path + std::string(kDraft), done = path + std::string(kGz);
  Result<void> made = write_compressed(path, draft);
  if (made) made = same_lines(path, draft);
  if (made && !put_in_place(draft, done, OldFile::kLeft)) made = cannot("put in place", draft);
  if (!made) {
    ::unlink(draft.c_str());
    return made;
  }
  if (!remove_durably(path)) return cannot("remove", path);
  return {};
}

bool is_older(const std::string& path, std::int64_t when_s) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 && st.st_mtim.tv_sec < when_s;
}

bool is_one_file(const std::string& one, const std::string& other) {
  std::error_code error;
  return fs::equivalent(one, other, error) && !error;
}

Result<std::vector<ClosedAuditFile>> numbered_files(const std::string& path) {
  const std::string log = fs::path(path).filename().string();
  std::map<std::uint64_t, ClosedAuditFile> found;
  std::error_code error;
  for (fs::directory_iterator it(folder_of(path), error), end; !error && it != end;
       it.increment(error)) {
    ClosedAuditFile one;
    if (!number_in(it->path().filename().string(), log, one.last, one.compressed)) continue;
    one.path = closed_audit_name(path, one.last) + (one.compressed ? std::string(kGz) : "");
    auto [at, fresh] = found.try_emplace(one.last, one);
    if (!fresh && !one.compressed) at->second = one;
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return fail("audit: " + folder_of(path).string() + ": " + error.message());
  std::vector<ClosedAuditFile> out;
  for (auto& [last, one] : found) out.push_back(std::move(one));
  return out;
}

}  // namespace

std::string second_audit_name(const std::string& path) {
  auto all = numbered_files(path);
  if (!all) return {};
  for (const ClosedAuditFile& one : *all)
    if (is_one_file(one.path, path)) return one.path;
  return {};
}

Result<std::vector<ClosedAuditFile>> closed_audit_files(const std::string& path) {
  auto all = numbered_files(path);
  if (all)
    std::erase_if(*all,
                  [&path](const ClosedAuditFile& one) { return is_one_file(one.path, path); });
  return all;
}

Result<void> tidy_audit_files(const std::string& path, const AuditKeeping& keeping,
                              std::int64_t now_s) {
  auto closed = closed_audit_files(path);
  if (!closed) return closed.error();
  Result<void> done;
  for (const ClosedAuditFile& one : *closed) {
    if (keeping.days > 0 && is_older(one.path, now_s - keeping.days * kDayS)) {
      const std::string both = closed_audit_name(path, one.last) + std::string(kGz);
      if (!one.compressed && is_there(both) && !remove_durably(both)) done = cannot("remove", both);
      if (!remove_durably(one.path)) done = cannot("remove", one.path);
    } else if (!one.compressed && keeping.compress) {
      if (auto packed = compress_file(one.path); !packed) done = packed;
    }
  }
  return done;
}

AuditLines::AuditLines(const std::string& path) : path_(path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    fault_ = cannot("open", path).message;
    return;
  }
  file_ = ::gzdopen(fd, "rb");
  if (file_ == nullptr) {
    ::close(fd);
    fault_ = "audit: cannot read " + path + ": no memory";
  }
}

AuditLines::~AuditLines() {
  if (file_ != nullptr) ::gzclose(file_);
}

// More of the file into the buffer; false: there is no more.
bool AuditLines::fill() {
  if (file_ == nullptr || !fault_.empty()) return false;
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t had = buffer_.size();
  if (had > kMaxLineBytes) {
    fault_ = "audit: " + path_ + " has a line of more than 16 MiB: it is no audit log";
    return false;
  }
  buffer_.resize(had + kChunkBytes);
  const int n = ::gzread(file_, buffer_.data() + had, kChunkBytes);
  buffer_.resize(had + static_cast<std::size_t>(std::max(n, 0)));
  int error = Z_OK;
  const char* reason = ::gzerror(file_, &error);
  if (error != Z_OK && error != Z_STREAM_END)
    fault_ = "audit: cannot read " + path_ + ": " +
             (error == Z_ERRNO ? errno_text() : std::string(reason));
  return n > 0;
}

bool AuditLines::next(std::string& line) {
  std::size_t end = 0, from = at_;
  while ((end = buffer_.find('\n', from)) == std::string::npos) {
    const std::size_t seen = buffer_.size() - at_;
    if (!fill()) break;
    from = at_ + seen;
  }
  if (!fault_.empty()) return false;
  const bool ends = end == std::string::npos;
  if (ends && at_ == buffer_.size()) return false;
  cut_ = ends;
  line.assign(buffer_, at_, cut_ ? std::string::npos : end - at_);
  at_ = cut_ ? buffer_.size() : end + 1;
  return true;
}

std::uint64_t AuditLines::octets() const {
  return file_ == nullptr ? 0 : static_cast<std::uint64_t>(std::max<z_off_t>(0, ::gzoffset(file_)));
}

Result<void> AuditLines::fault() const {
  if (fault_.empty()) return {};
  return fail(fault_);
}

}  // namespace tkdc
