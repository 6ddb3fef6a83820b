// SPDX-License-Identifier: Apache-2.0
// The operations log: one JSON object per finished operation, on a line.
//
//   {"time":"2026-01-02T03:04:05.678Z","op":"seal","usage":2,"key":"1a2b3c4d",
//    "enctype":18,"input":160,"blocks":12,"sha1_blocks":0,"sha2_blocks":0,"rounds":60,
//    "bytes_per_party":6048,"ms":2.315,"status":"ok","request":"0123456789abcdef"}
//
// `key`: the first 8 hexadecimal digits of the key id; `input` counts octets, `blocks` AES blocks;
// `request` is the id of the client's request, where krb5kdc has said it (request_id.h). Nothing in
// it is secret, but it shows who is busy: mode 0600. Lines are gathered and written once per pass
// of the agent's loop. A log that cannot be written is reported once and does not stop the service.
#pragma once

#include <string>

#include "agent/combine.h"
#include "agent/pending.h"

namespace tkdc::agent {

class OperationsLog {
 public:
  // An empty path: no log.
  static Result<OperationsLog> open(const std::string& path);
  OperationsLog(OperationsLog&& other) noexcept;
  OperationsLog& operator=(OperationsLog&&) = delete;
  ~OperationsLog();

  void record(const Pending& job, const Outcome& outcome, Clock::time_point now);
  void flush();
  // After the file was moved away (SIGHUP).
  void reopen();

 private:
  explicit OperationsLog(std::string path) : path_(std::move(path)) {}
  Result<void> open_file();

  std::string path_;
  std::string lines_;
  int fd_ = -1;
  bool failed_ = false;
};

}  // namespace tkdc::agent
