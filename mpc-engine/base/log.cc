// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/utc_time.h"

namespace tkdc {
namespace {

constexpr std::size_t kMaxLineBytes = 2'000;
LogSink sink = nullptr;
LogFormat format = LogFormat::kText;
thread_local const std::string* field_of_thread = nullptr;

struct Limit {
  std::mutex mutex;
  long long second = 0;
  int lines = 0;
  int dropped = 0;
};

Limit& limit() {
  static Limit one;
  return one;
}

std::vector<std::string>& fields_of_process() {
  static std::vector<std::string> fields;
  return fields;
}

// What a peer said may be quoted in it: no line of its own making.
std::string printable(std::string_view text) {
  std::string out(text.substr(0, kMaxLineBytes));
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return out;
}

// Whether stderr is the journal, and not a file that a shell put in its place.
bool is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat st {};
  if (stream == nullptr || ::fstat(STDERR_FILENO, &st) != 0) return false;
  return stream == std::to_string(st.st_dev) + ":" + std::to_string(st.st_ino);
}

// NAME=VALUE, of all that a line has besides its text.
std::vector<std::string> fields_of(const LogEvent* event, std::initializer_list<std::string> more) {
  std::vector<std::string> fields;
  if (event != nullptr) {
    fields.push_back(std::string("TKDC_EVENT=") + event->name);
    fields.push_back(std::string("MESSAGE_ID=") + event->id);
  }
  for (const std::string& field : fields_of_process()) fields.push_back(field);
  for (const std::string& field : more) fields.push_back(printable(field));
  if (field_of_thread != nullptr) fields.push_back(*field_of_thread);
  return fields;
}

bool send_to_journal(LogLevel level, const std::string& line, const LogEvent* event,
                     std::initializer_list<std::string> more) {
  std::vector<std::string> fields = fields_of(event, more);
  fields.push_back("MESSAGE=" + line);
  fields.push_back("PRIORITY=" + std::to_string(static_cast<int>(level)));
  fields.push_back(std::string("SYSLOG_IDENTIFIER=") + program_invocation_short_name);
  std::vector<iovec> parts;
  for (std::string& field : fields) parts.push_back({field.data(), field.size()});
  return ::sd_journal_sendv(parts.data(), static_cast<int>(parts.size())) >= 0;
}

const char* level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kError: return "error";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kNotice: return "notice";
    case LogLevel::kInfo: return "info";
  }
  return "error";
}

// Octets that are no UTF-8 are replaced: what a peer said may be quoted.
std::string json_line(LogLevel level, const std::string& line, const LogEvent* event,
                      std::initializer_list<std::string> more) {
  nlohmann::ordered_json json = {{"time", utc_now_ms()},
                                 {"level", level_name(level)},
                                 {"program", program_invocation_short_name},
                                 {"message", line}};
  for (const std::string& field : fields_of(event, more)) {
    const std::size_t equals = field.find('=');
    json[field.substr(0, equals)] = field.substr(equals + 1);
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string text_line(LogLevel level, std::string line, bool journal) {
  if (field_of_thread != nullptr) line += ", " + *field_of_thread;
  return line.insert(0, journal ? std::string("<") + std::to_string(static_cast<int>(level)) + ">"
                                : std::string(program_invocation_short_name) + ": ");
}

void write_line(LogLevel level, std::string_view text, const LogEvent* event,
                std::initializer_list<std::string> fields) {
  static const bool journal = is_journal();
  std::string line = printable(text);
  const bool json = format == LogFormat::kJson;
  if (!json && journal && send_to_journal(level, line, event, fields)) return;
  line = json ? json_line(level, line, event, fields) : text_line(level, std::move(line), journal);
  line += '\n';
  // One write keeps lines of several processes whole; a full pipe stops nobody.
  [[maybe_unused]] ssize_t n = write(STDERR_FILENO, line.data(), line.size());
}

void log(LogLevel level, std::string_view text, const LogEvent* event,
         std::initializer_list<std::string> fields) {
  if (sink != nullptr) return sink(level, text);
  Limit& state = limit();
  std::lock_guard lock(state.mutex);
  using namespace std::chrono;
  long long now = duration_cast<seconds>(steady_clock::now().time_since_epoch()).count();
  if (now != state.second) {
    if (state.dropped > 0) {
      const std::string* about = std::exchange(field_of_thread, nullptr);  // this is not
      write_line(LogLevel::kWarning,
                 "log: " + std::to_string(state.dropped) + " lines of a second left out", nullptr,
                 {});
      field_of_thread = about;
    }
    state.second = now;
    state.lines = state.dropped = 0;
  }
  if (++state.lines > kLogLinesPerSecond) {
    state.dropped++;
    return;
  }
  write_line(level, text, event, fields);
}

}  // namespace

void log_line(LogLevel level, std::string_view text) { log(level, text, nullptr, {}); }

void log_event(LogLevel level, const LogEvent& event, std::string_view text,
               std::initializer_list<std::string> fields) {
  log(level, text, &event, fields);
}

LogField::LogField(std::string field) : field_(std::move(field)), outer_(field_of_thread) {
  if (!field_.empty()) field_of_thread = &field_;
}

LogField::~LogField() { field_of_thread = outer_; }

void log_as(LogFormat other) { format = other; }

void use_log(LogSink other) { sink = other; }

void name_process(const std::string& field) { fields_of_process().push_back(field); }

}  // namespace tkdc
