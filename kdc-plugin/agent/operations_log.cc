// SPDX-License-Identifier: Apache-2.0
#include "agent/operations_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "agent/log.h"
#include "base/hex.h"
#include "base/system_error.h"
#include "base/utc_time.h"
#include "service/wire/request_id.h"
#include "service/wire/times_json.h"

namespace tkdc::agent {
namespace {

constexpr std::size_t kKeyOctets = 4;

}  // namespace

Result<OperationsLog> OperationsLog::open(const std::string& path) {
  OperationsLog log(path);
  if (!path.empty())
    if (Result<void> opened = log.open_file(); !opened) return opened.error();
  return log;
}

OperationsLog::OperationsLog(OperationsLog&& other) noexcept
    : path_(std::move(other.path_)), lines_(std::move(other.lines_)),
      fd_(std::exchange(other.fd_, -1)), failed_(other.failed_) {}

OperationsLog::~OperationsLog() {
  flush();
  if (fd_ >= 0) ::close(fd_);
}

Result<void> OperationsLog::open_file() {
  fd_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd_ < 0)
    return system_error("cannot open the operations log " + path_,
                        "create its directory or remove operations_log from agent.toml");
  return {};
}

void OperationsLog::record(const Pending& job, const Outcome& outcome, Clock::time_point now) {
  if (fd_ < 0) return;
  const std::string key = to_hex(ByteSpan(job.key().id).first(kKeyOctets));
  double ms = std::chrono::duration<double, std::milli>(now - job.started).count();
  const std::uint64_t id = job.operation.job.request_id;
  const std::string request =
      id == 0 ? std::string() : ",\"request\":\"" + request_id_text(id) + "\"";
  char line[480];
  int n = std::snprintf(
      line, sizeof line,
      "{\"time\":\"%s\",\"op\":\"%s\",\"usage\":%u,\"key\":\"%s\",\"enctype\":%u,\"input\":%zu,"
      "\"blocks\":%u,"
      "\"sha1_blocks\":%u,\"sha2_blocks\":%u,\"rounds\":%u,\"bytes_per_party\":%u,"
      "\"ms\":%.3f,\"status\":\"%s\"%s}\n",
      utc_now_ms().c_str(), tkdc_wire_op_name(job.op()), job.operation.job.usage, key.c_str(),
      job.key().enctype, job.input_bytes, outcome.cost.aes_blocks, outcome.cost.sha1_blocks,
      outcome.cost.sha2_blocks, outcome.cost.rounds, outcome.cost.message_bytes, ms,
      status_word(outcome.status), request.c_str());
  if (n > 0 && static_cast<std::size_t>(n) < sizeof line) lines_.append(line, std::size_t(n));
}

void OperationsLog::flush() {
  if (fd_ >= 0 && !lines_.empty()) {
    ssize_t n = ::write(fd_, lines_.data(), lines_.size());
    bool failed = n != static_cast<ssize_t>(lines_.size());
    if (failed && !failed_)
      log(Level::kError,
          system_error("cannot write " + path_, "operations go on unrecorded").message);
    failed_ = failed;
  }
  lines_.clear();
}

void OperationsLog::reopen() {
  if (path_.empty()) return;
  flush();
  if (fd_ >= 0) ::close(fd_);
  if (Result<void> opened = open_file(); !opened) log(Level::kError, opened.error().message);
}

}  // namespace tkdc::agent
