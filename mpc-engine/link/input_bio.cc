// SPDX-License-Identifier: Apache-2.0
#include "link/input_bio.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tkdc {
namespace {

constexpr std::size_t kHeaderBytes = 5;  // RFC 8446 section 5.1: type, version, length

int bio_read(BIO* bio, char* out, std::size_t room, std::size_t* got) {
  BIO_clear_retry_flags(bio);
  const ssize_t n = static_cast<InputBio*>(BIO_get_data(bio))->read(out, room);
  if (n > 0) {
    *got = static_cast<std::size_t>(n);
    return 1;
  }
  *got = 0;
  if (n == 0)
    BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  else if (BIO_sock_should_retry(-1) != 0)
    BIO_set_retry_read(bio);
  return static_cast<int>(n);
}

long bio_ctrl(BIO* bio, int command, long, void*) {
  return command == BIO_CTRL_EOF && BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
}

const BIO_METHOD* method() {
  static BIO_METHOD* const made = [] {
    BIO_METHOD* m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "tkdc input");
    if (m != nullptr) {
      BIO_meth_set_read_ex(m, bio_read);
      BIO_meth_set_ctrl(m, bio_ctrl);
    }
    return m;
  }();
  return made;
}

}  // namespace

BIO* InputBio::make_bio(int fd) {
  BIO* bio = method() != nullptr ? BIO_new(method()) : nullptr;
  if (bio == nullptr) return nullptr;
  fd_ = fd;
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  return bio;
}

// A record's header must be there before its length is known.
bool InputBio::needs_more() const {
  return empty() || (record_left_ == 0 && end_ - begin_ < kHeaderBytes);
}

// What recv() says when nothing was added; 1 otherwise.
ssize_t InputBio::take_from_socket() {
  if (buffer_.empty()) buffer_.resize(kBatchBytes);
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const ssize_t n = ::recv(fd_, buffer_.data() + end_, buffer_.size() - end_, MSG_DONTWAIT);
  if (n <= 0) return n;
  end_ += static_cast<std::size_t>(n);
  if (!needs_more()) return 1;
  errno = EAGAIN;
  return -1;
}

ssize_t InputBio::read(char* out, std::size_t room) {
  if (needs_more())
    if (const ssize_t n = take_from_socket(); n <= 0) return n;
  const std::uint8_t* next = buffer_.data() + begin_;
  if (record_left_ == 0) record_left_ = kHeaderBytes + (std::size_t{next[3]} << 8 | next[4]);
  const std::size_t bytes = std::min({record_left_, room, end_ - begin_});
  std::memcpy(out, next, bytes);
  begin_ += bytes;
  record_left_ -= bytes;
  return static_cast<ssize_t>(bytes);
}

}  // namespace tkdc
