// SPDX-License-Identifier: Apache-2.0
// A server's socket for its own administrator, on its own host: export approvals, the handing over
// of shares (service/server/exports.h), dropped keys that come back (give_backs.h), work on all of
// them (share_watch.h), the repair of a lost server (repair_watch.h), and its status, for `tkdc
// doctor`. Nobody else reaches it: a Unix socket in the store's folder, for this service's user and
// root. Another one, which control.status_socket names, is for monitoring and answers the status
// alone.
//
//   ask:    magic u32 | op u8 | request bytes | approvals u8 | each: bytes
//   answer: magic u32 | good u8 | bytes: what was asked for, or why not
//
// after a u32 with the length of what follows; integers big-endian. One ask in a connection,
// one connection at a time, with a deadline: an administrator's work, not traffic. What is thrown
// on the way, of too little memory say, is an answer too: this server's other work goes on.
//
// Threads: run() has one; ask_server() is the administrator's program.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "base/unique_fd.h"

namespace tkdc {

enum class LocalOp : std::uint8_t {
  kApproval = 1,
  kHandOver = 2,
  kShares = 3,
  kStatus = 4,
  kRepair = 5,
  kGiveBackApproval = 6,
  kGiveBack = 7
};

struct LocalAsk {
  LocalOp op = LocalOp::kApproval;
  std::string request;
  std::vector<std::string> approvals;
};

class LocalSocket {
 public:
  using Answer = std::function<Result<Bytes>(const LocalAsk&)>;

  // Who may ask: this service's user and root; or whoever may write the file, which its group may.
  // The folder gives it that group. They have less to say, and less time.
  enum class Who { kAdministrator, kGroup };

  // Replaces what a server before left at `path`. Error: a server answers there, or what is there
  // is no socket.
  static Result<std::unique_ptr<LocalSocket>> open(const std::string& path,
                                                   Who who = Who::kAdministrator);
  ~LocalSocket();

  // Until stop().
  void run(const Answer& answer);
  void stop() { stopping_ = true; }  // any thread; run() ends when what it answers is answered

 private:
  LocalSocket(std::string path, Who who) : path_(std::move(path)), who_(who) {}
  bool may_ask(int fd) const;
  void serve(UniqueFd connection, const Answer& answer);
  Bytes answer_frame(int fd, const Answer& answer);

  std::string path_;
  const Who who_;
  UniqueFd listener_;
  std::atomic<bool> stopping_{false};
};

inline std::string local_socket_path(const std::string& store_path) {
  return store_path + "/admin.sock";
}

// Error: no server there, or what it answered. A million keys are read from the store in the time
// that it waits if it is not told another.
inline constexpr long long kLocalAnswerMs = 600'000;
Result<Bytes> ask_server(const std::string& path, const LocalAsk& ask,
                         long long answer_ms = kLocalAnswerMs);

}  // namespace tkdc
