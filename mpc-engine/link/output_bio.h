// SPDX-License-Identifier: Apache-2.0
// Where OpenSSL writes its records: to the socket as long as it takes them, then
// to a buffer, so that a write never fails half-way. All records of a packet but
// the last are announced as followed by more: up to a batch of them wait for
// the next and leave with it in one system call. Holds ciphertext only.
#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "link/openssl.h"

namespace tkdc {

class OutputBio {
 public:
  // Ciphertext that may wait for a peer who does not read.
  static constexpr std::size_t kMaxPendingBytes = std::size_t{160} << 20;

  // Owned by the SSL it is given to; refers to this object, which must outlive it.
  BIO* make_bio();

  // Where to send at once; -1: into the buffer alone.
  void set_socket(int fd) { fd_ = fd; }
  // Whether the next record is followed by another at once.
  void set_more(bool more) { more_ = more; }

  // Sends what the socket takes of the buffer. Error: errno's text.
  Result<void> flush(int fd);

  bool empty() const { return sent_ == buffer_.size(); }
  std::size_t pending() const { return buffer_.size() - sent_; }

  // For the BIO method; false beyond kMaxPendingBytes.
  bool append(const char* data, std::size_t bytes);

 private:
  std::size_t send_now(const char* data, std::size_t bytes);

  int fd_ = -1;
  bool more_ = false;
  Bytes buffer_;
  std::size_t sent_ = 0;
};

}  // namespace tkdc
