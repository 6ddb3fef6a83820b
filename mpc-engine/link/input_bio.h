// SPDX-License-Identifier: Apache-2.0
// Where OpenSSL reads its records from: what the socket has, up to a batch, is
// taken by one system call and handed on record by record. OpenSSL's own
// reading ahead moves, for every record, what follows it; here nothing is moved.
//
// Only the headers' lengths are looked at, to cut at the end of a record; what
// is no record is handed on as it comes, and OpenSSL refuses it. Holds
// ciphertext only.
#pragma once

#include "base/secret.h"
#include "link/openssl.h"

namespace tkdc {

class InputBio {
 public:
  // Owned by the SSL it is given to; refers to this object, which must outlive it.
  BIO* make_bio(int fd);

  // False: poll() does not see what OpenSSL could still read.
  bool empty() const { return begin_ == end_; }

  // For the BIO method, as read(2): 0 at the end of the stream, -1 with errno.
  ssize_t read(char* out, std::size_t room);

 private:
  static constexpr std::size_t kBatchBytes = 64 * 1024;

  bool needs_more() const;
  ssize_t take_from_socket();

  int fd_ = -1;
  std::size_t begin_ = 0, end_ = 0;
  std::size_t record_left_ = 0;  // of the record that has been handed on in part
  Bytes buffer_;
};

}  // namespace tkdc
