// SPDX-License-Identifier: Apache-2.0
// Log lines of the daemons: into the journal with fields when stderr is the
// journal, on stderr with the program's name otherwise. Thread-safe and
// bounded: beyond kLogLinesPerSecond the lines of that second are counted
// instead, so that whoever provokes messages cannot fill a disk. Nothing
// secret may be passed here.
//
// Fields: TKDC_EVENT and MESSAGE_ID of what happened (base/log_events.h), what a LogField says,
// and what name_process() was given: journalctl TKDC_PARTY=0 TKDC_EVENT=no-session.
//
// log_as(kJson): on stderr a JSON object on each line instead, for who collects lines elsewhere:
//
//   {"time":"2026-01-02T03:04:05.678Z","level":"warning","program":"tkdc-server","message":"...",
//    "TKDC_EVENT":"...","MESSAGE_ID":"...","TKDC_PARTY":"0"}
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace tkdc {

inline constexpr int kLogLinesPerSecond = 50;

enum class LogLevel : int { kError = 3, kWarning = 4, kNotice = 5, kInfo = 6 };

void log_line(LogLevel level, std::string_view text);

// A kind of line, for who looks for it. `id` never changes.
struct LogEvent {
  const char* name;
  const char* id;  // 32 hexadecimal digits
};
// `fields`: NAME=VALUE, in capitals.
void log_event(LogLevel level, const LogEvent& event, std::string_view text,
               std::initializer_list<std::string> fields = {});

// A field of every line that this thread logs while it lives; where there are no fields it stands
// at the line's end. Empty: none. The newest counts.
class LogField {
 public:
  explicit LogField(std::string field);
  ~LogField();
  LogField(const LogField&) = delete;
  LogField& operator=(const LogField&) = delete;

 private:
  std::string field_;
  const std::string* outer_;
};

enum class LogFormat { kText, kJson };
// Before anything is logged.
void log_as(LogFormat format);

// A field of every line from here on; before other threads are started.
void name_process(const std::string& field);

// Instead of stderr, and all of them. Before anything else of the program runs.
using LogSink = void (*)(LogLevel level, std::string_view text);
void use_log(LogSink sink);

}  // namespace tkdc
