// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/passphrase.h"

#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>

#include "base/system_error.h"

namespace tkdc::cli {
namespace {

constexpr int kEndings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

volatile sig_atomic_t ended_by = 0;

void note_ending(int number) { ended_by = number; }

// A signal that would end the program waits while this lives, so that the terminal shows what is
// typed again before it does; it is let through in wait_for_input() alone.
class HeldSignals {
 public:
  HeldSignals() {
    ended_by = 0;
    sigset_t held;
    sigemptyset(&held);
    for (const int number : kEndings) sigaddset(&held, number);
    ::pthread_sigmask(SIG_BLOCK, &held, &mask_);
    struct sigaction action {};
    action.sa_handler = note_ending;
    for (std::size_t i = 0; i < std::size(kEndings); ++i)
      ::sigaction(kEndings[i], &action, &before_[i]);
  }
  ~HeldSignals() {
    for (std::size_t i = 0; i < std::size(kEndings); ++i)
      ::sigaction(kEndings[i], &before_[i], nullptr);
    if (ended_by != 0) ::raise(ended_by);
    ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  HeldSignals(const HeldSignals&) = delete;

  // False: such a signal came.
  bool wait_for_input() const {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    while (ended_by == 0)
      if (::ppoll(&input, 1, nullptr, &mask_) >= 0 || errno != EINTR) return true;
    return false;
  }

 private:
  sigset_t mask_{};
  struct sigaction before_[std::size(kEndings)]{};
};

// What is typed is not shown while this lives.
class NoEcho {
 public:
  NoEcho() : active_(::tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (!active_) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    active_ = ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet) == 0;
  }
  ~NoEcho() {
    if (!active_) return;
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
    std::cerr << "\n";
  }
  NoEcho(const NoEcho&) = delete;

 private:
  termios before_{};
  bool active_;
};

enum class Line { kWhole, kNoNewline, kTooLong, kInterrupted, kFailed };

// read(), one octet at a time: no buffer keeps a copy.
Line read_line(const HeldSignals& signals, SecretVector& out) {
  while (true) {
    if (!signals.wait_for_input()) return Line::kInterrupted;
    std::uint8_t octet = 0;
    const ssize_t n = ::read(STDIN_FILENO, &octet, 1);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return Line::kFailed;
    if (n == 0) return Line::kNoNewline;
    if (octet == '\n') return Line::kWhole;
    if (out.size() == kMaxPassphraseBytes) return Line::kTooLong;
    out.push_back(octet);
    sodium_memzero(&octet, sizeof octet);
  }
}

bool on_terminal() { return ::isatty(STDIN_FILENO) == 1; }

}  // namespace

Result<SecretVector> read_passphrase(const std::string& prompt) {
  const HeldSignals signals;
  const NoEcho quiet;
  // After what was typed before has been thrown away.
  if (on_terminal()) std::cerr << prompt << std::flush;
  SecretVector out;
  out.reserve(kMaxPassphraseBytes);
  switch (read_line(signals, out)) {
    case Line::kTooLong: return fail("the passphrase is too long");
    case Line::kInterrupted: return fail("interrupted");
    case Line::kFailed: return system_error("the passphrase cannot be read");
    case Line::kNoNewline:
      if (on_terminal()) return fail("the passphrase was not ended by the return key");
      break;
    case Line::kWhole: break;
  }
  if (out.empty()) return fail("no passphrase was given");
  return out;
}

Result<SecretVector> read_new_passphrase(const std::string& prompt) {
  auto first = read_passphrase(prompt + ": ");
  if (!first || !on_terminal()) return first;
  auto again = read_passphrase(prompt + ", again: ");
  if (!again) return again;
  if (first->size() != again->size() ||
      sodium_memcmp(first->data(), again->data(), first->size()) != 0)
    return fail("these were two different passphrases");
  return first;
}

}  // namespace tkdc::cli
