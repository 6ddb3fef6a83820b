// SPDX-License-Identifier: Apache-2.0
#include "server/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "net/hex.h"

namespace tkdc {
namespace {

AuditLog::Head hash_line(std::string_view line) {
  AuditLog::Head out{};
  crypto_generichash(out.data(), out.size(), reinterpret_cast<const std::uint8_t*>(line.data()),
                     line.size(), nullptr, 0);
  return out;
}

std::string utc_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm utc{};
  gmtime_r(&now.tv_sec, &utc);
  char text[64];
  std::size_t n = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text + n, sizeof text - n, ".%03ldZ", now.tv_nsec / 1'000'000);
  return text;
}

// n and prev of a line; false when it is not one of ours.
bool parse_line(const std::string& line, std::uint64_t& n, AuditLog::Head& prev) {
  auto json = nlohmann::json::parse(line, nullptr, false);
  if (json.is_discarded() || !json.is_object() || !json.contains("n") ||
      !json["n"].is_number_unsigned() || !json.contains("prev") || !json["prev"].is_string())
    return false;
  n = json["n"].get<std::uint64_t>();
  return from_hex(json["prev"].get<std::string>(), prev);
}

}  // namespace

Result<std::unique_ptr<AuditLog>> AuditLog::open(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640));
  if (!fd) return fail("audit: cannot open " + path + ": " + std::strerror(errno));
  std::unique_ptr<AuditLog> log(new AuditLog(path, std::move(fd)));
  auto resumed = log->resume();
  if (!resumed.ok()) return resumed.error();
  return log;
}

Result<void> AuditLog::resume() {
  std::ifstream in(path_, std::ios::binary);
  std::string line, last, cut;
  while (std::getline(in, line)) {
    if (in.eof()) {
      cut = line;
      break;
    }
    last = line;
  }
  torn_ = !cut.empty();
  if (!last.empty()) {
    Head prev{};
    if (!parse_line(last, lines_, prev))
      return fail("audit: the last line of " + path_ +
                  " is not an audit line; move the file away and keep it");
    head_ = hash_line(last);
  }
  if (!torn_) return {};
  // The torn line stays, as evidence, and is part of the chain like any other.
  if (write(fd_.get(), "\n", 1) != 1)
    return fail("audit: cannot write " + path_ + ": " + std::strerror(errno));
  head_ = hash_line(cut);
  torn_ = false;
  return write_line(R"({"event":"resumed after a line that was cut short"})");
}

Result<void> AuditLog::append(const std::string& event) {
  std::lock_guard lock(mutex_);
  return write_line(event);
}

Result<void> AuditLog::write_line(const std::string& event) {
  std::string line = std::string("{\"n\":") + std::to_string(lines_ + 1) + ",\"time\":\"" +
                     utc_now() + "\",\"prev\":\"" + to_hex(head_) + "\",\"event\":" + event + "}";
  if (line.find('\n') != std::string::npos) return fail("audit: an event with a line break");
  std::string out = (torn_ ? "\n" : "") + line + "\n";
  ssize_t n = write(fd_.get(), out.data(), out.size());
  if (n != static_cast<ssize_t>(out.size())) {
    if (n > 0) {
      torn_ = out[static_cast<std::size_t>(n) - 1] != '\n';
      std::string rest = out.substr(0, static_cast<std::size_t>(n));
      if (rest.front() == '\n') rest.erase(0, 1);
      if (torn_) head_ = hash_line(rest);
    }
    return fail("audit: cannot write " + path_ + ": " +
                (n < 0 ? std::strerror(errno) : "the disk is full"));
  }
  torn_ = false;
  head_ = hash_line(line);
  lines_++;
  return {};
}

Result<void> AuditLog::sync() {
  if (fdatasync(fd_.get()) != 0)
    return fail("audit: cannot sync " + path_ + ": " + std::strerror(errno));
  return {};
}

AuditLog::Head AuditLog::head() const {
  std::lock_guard lock(mutex_);
  return head_;
}

std::uint64_t AuditLog::lines() const {
  std::lock_guard lock(mutex_);
  return lines_;
}

Result<std::uint64_t> AuditLog::verify(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail("audit: cannot open " + path);
  Head expected{};
  std::string line;
  std::uint64_t at = 0, good = 0;
  while (std::getline(in, line)) {
    at++;
    std::uint64_t n = 0;
    Head prev{};
    // A torn line is followed by one that carries its hash.
    if (parse_line(line, n, prev)) {
      if (prev != expected || n != good + 1)
        return fail("audit: line " + std::to_string(at) + " of " + path +
                    " does not follow the one before it");
      good = n;
    } else if (in.peek() == EOF) {
      return fail("audit: line " + std::to_string(at) + " of " + path + " is cut short");
    }
    expected = hash_line(line);
  }
  return good;
}

}  // namespace tkdc
