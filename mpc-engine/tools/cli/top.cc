// SPDX-License-Identifier: Apache-2.0
// `tkdc top`: a realm's work as it happens, from the status of an agent, or of the server of this
// host. A terminal is steered by a few ANSI sequences, on its other screen, and left as it was.
//
// Exit status: 0 after SIGINT, SIGTERM, SIGHUP, or when nobody reads any more; with --once as
// `tkdc status` has it. 1: nobody answers, at the first question.
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <iostream>
#include <memory>

#include "base/utc_time.h"
#include "tools/cli/commands.h"
#include "tools/cli/other_agents.h"
#include "tools/cli/printable.h"
#include "tools/cli/top_frame.h"

namespace tkdc::cli {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

struct TopOptions {
  StatusPlaceOptions place;
  double interval_s = 2;
  bool once = false, json = false;
};

constexpr const char* kEnter = "\x1b[?1049h\x1b[?25l";  // the other screen, without a cursor
constexpr const char* kLeave = "\x1b[?25h\x1b[?1049l";
constexpr const char* kHome = "\x1b[H";
constexpr const char* kRestOfLine = "\x1b[K";
constexpr const char* kRestOfScreen = "\x1b[J";

// False: nobody reads any more.
bool print(std::string_view text) {
  std::cout << text << std::flush;
  return std::cout.good();
}

// Standard output, if it is a terminal that is to show one frame in the other's place.
class Screen {
 public:
  explicit Screen(bool wanted) : is_terminal_(wanted && ::isatty(STDOUT_FILENO) == 1) { enter(); }
  ~Screen() { leave(); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void enter() {
    if (is_terminal_) print(kEnter);
  }
  void leave() {
    if (is_terminal_) print(kLeave);
  }
  bool show(const std::vector<std::string>& lines) const {
    std::string text = is_terminal_ ? kHome : "";
    winsize size{};
    const bool sized = is_terminal_ && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
                       size.ws_row > 1 && size.ws_col > 0;
    std::size_t rows = 0;
    for (const std::string& line : lines) {
      if (sized && ++rows >= size.ws_row) break;
      text += sized ? line.substr(0, size.ws_col) : line;
      text += is_terminal_ ? std::string(kRestOfLine) + "\n" : "\n";
    }
    return print(text + (is_terminal_ ? kRestOfScreen : "\n"));
  }

 private:
  const bool is_terminal_;
};

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH}) sigaddset(&set, one);
  return set;
}

class Top {
 public:
  Top(const TopOptions& options, StatusPlace place)
      : options_(options), place_(std::move(place)), screen_(!options.once && !options.json) {}

  int run(json first) {
    before_ = std::move(first);
    asked_at_ = before_at_ = Clock::now();
    while (wait()) {
      if (!step()) return 0;
      if (options_.once) return status_;
    }
    return 0;
  }

 private:
  // False: it is to end.
  bool wait() {
    const sigset_t set = watched_signals();
    const auto until = asked_at_ + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(options_.interval_s));
    while (true) {
      const auto left = std::max(until - Clock::now(), Clock::duration(0));
      const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
      const timespec most{whole.count(), std::chrono::nanoseconds(left - whole).count()};
      const int number = ::sigtimedwait(&set, nullptr, &most);
      if (number < 0 && errno == EINTR) continue;
      if (number < 0) return true;  // the time is over
      if (number == SIGTSTP) {
        screen_.leave();
        ::raise(SIGSTOP);
        screen_.enter();
      }
      if (number == SIGWINCH || number == SIGTSTP) {
        if (!shown_.empty() && !screen_.show(shown_)) return false;
        continue;
      }
      return false;
    }
  }

  bool step() {
    auto now = ask_host(place_, options_.place.config);
    const auto asked_at = Clock::now();
    if (!now) {
      status_ = 1;
      asked_at_ = asked_at;
      return show({{"time", utc_now_ms()}, {"error", now.error().message}});
    }
    asked_at_ = asked_at;
    // The one that it has shown: who asks a server within a second shares one with the last.
    const bool same = *now == before_ && !frame_.is_null();
    if (!same) {
      frame_ = top_frame(before_, *now, seconds(asked_at - before_at_));
      before_ = std::move(*now);
      before_at_ = asked_at;
    }
    frame_["time"] = utc_now_ms();
    status_ = frame_["healthy"] == true ? 0 : 2;
    return show(frame_);
  }

  bool show(const json& frame) {
    if (options_.json)
      return print(frame.dump(-1, ' ', true, json::error_handler_t::replace) + "\n");
    shown_ =
        frame.contains("error")
            ? std::vector<std::string>{"tkdc top: " + printable(frame["error"].get<std::string>())}
            : top_lines(frame, time_of_day());
    return screen_.show(shown_);
  }

  static double seconds(Clock::duration time) {
    return std::max(std::chrono::duration<double>(time).count(), 1e-3);
  }
  static std::string time_of_day() {
    constexpr std::size_t kAfterDate = 11;
    return format_utc_spaced(std::time(nullptr)).substr(kAfterDate);
  }

  const TopOptions& options_;
  const StatusPlace place_;
  Screen screen_;
  json before_, frame_;
  Clock::time_point asked_at_, before_at_;  // last; when `before_` came
  std::vector<std::string> shown_;
  int status_ = 0;
};

int run_top(const TopOptions& options) {
  auto place = status_place(options.place);
  auto first = place.ok() ? ask_host(*place, options.place.config) : Result<json>(place.error());
  if (!first) {
    std::cerr << "tkdc top: " << first.error().message << "\n";
    return 1;
  }
  const sigset_t set = watched_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return Top(options, std::move(*place)).run(std::move(*first));
}

}  // namespace

void add_top(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<TopOptions>();
  CLI::App* command = app.add_subcommand(
      "top", "show a realm's work as it happens: operations, servers, lanes, agents");
  options->place.add_to(*command);
  constexpr double kShortest = 0.2, kLongest = 3600;
  command->add_option("--interval", options->interval_s, "seconds between two frames; default 2")
      ->check(CLI::Range(kShortest, kLongest));
  command->add_flag("--once", options->once, "one frame, after one interval, then end");
  command->add_flag("--json", options->json, "a line of JSON for each frame");
  command->footer(
      "Example: the ten seconds after a change, for a script\n"
      "  tkdc top --once --json --interval 10");
  command->callback([options, &exit_status] { exit_status = run_top(*options); });
}

}  // namespace tkdc::cli
