// SPDX-License-Identifier: Apache-2.0
// Where OpenSSL writes its records: a buffer in front of the socket, so that
// the records of a large packet leave in one system call and a write never
// fails half-way. Holds ciphertext only.
#pragma once

#include "base/result.h"
#include "net/openssl.h"
#include "base/secret.h"

namespace tkdc {

class OutputBio {
 public:
  // Ciphertext that may wait for a peer who does not read.
  static constexpr std::size_t kMaxPendingBytes = std::size_t{160} << 20;

  // Owned by the SSL it is given to; refers to this object, which must outlive it.
  BIO* make_bio();

  // Sends what the socket takes. Error: errno's text.
  Result<void> flush(int fd);

  bool empty() const { return sent_ == buffer_.size(); }
  std::size_t pending() const { return buffer_.size() - sent_; }

  // For the BIO method; false beyond kMaxPendingBytes.
  bool append(const char* data, std::size_t bytes);

 private:
  Bytes buffer_;
  std::size_t sent_ = 0;
};

}  // namespace tkdc
