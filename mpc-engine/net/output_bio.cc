// SPDX-License-Identifier: Apache-2.0
#include "net/output_bio.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace tkdc {
namespace {

// A buffer that once held a huge packet gives its memory back.
constexpr std::size_t kKeepBytes = 1u << 20;

int bio_write(BIO* bio, const char* data, std::size_t bytes, std::size_t* written) {
  BIO_clear_retry_flags(bio);
  auto* output = static_cast<OutputBio*>(BIO_get_data(bio));
  if (!output->append(data, bytes)) return 0;
  *written = bytes;
  return 1;
}

long bio_ctrl(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

const BIO_METHOD* method() {
  static BIO_METHOD* const made = [] {
    BIO_METHOD* m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "tkdc output");
    if (m != nullptr) {
      BIO_meth_set_write_ex(m, bio_write);
      BIO_meth_set_ctrl(m, bio_ctrl);
    }
    return m;
  }();
  return made;
}

}  // namespace

BIO* OutputBio::make_bio() {
  BIO* bio = method() != nullptr ? BIO_new(method()) : nullptr;
  if (bio == nullptr) return nullptr;
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  return bio;
}

bool OutputBio::append(const char* data, std::size_t bytes) {
  if (pending() + bytes > kMaxPendingBytes) return false;
  if (sent_ > 0 && sent_ >= buffer_.size() / 2) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(sent_));
    sent_ = 0;
  }
  buffer_.insert(buffer_.end(), data, data + bytes);
  return true;
}

Result<void> OutputBio::flush(int fd) {
  while (!empty()) {
    ssize_t n = ::send(fd, buffer_.data() + sent_, pending(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return {};
      return fail(std::strerror(errno));
    }
    sent_ += static_cast<std::size_t>(n);
  }
  buffer_.clear();
  sent_ = 0;
  if (buffer_.capacity() > kKeepBytes) Bytes().swap(buffer_);
  return {};
}

}  // namespace tkdc
