// SPDX-License-Identifier: Apache-2.0
#include "link/output_bio.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "base/system_error.h"

namespace tkdc {
namespace {

// A buffer that once held a huge packet gives its memory back.
constexpr std::size_t kKeepBytes = 1u << 20;
// Records that others follow are collected up to here: a copy of 16 KiB in the
// cache costs a third of a system call.
constexpr std::size_t kBatchBytes = 64 * 1024;

int bio_write(BIO* bio, const char* data, std::size_t bytes, std::size_t* written) {
  BIO_clear_retry_flags(bio);
  auto* output = static_cast<OutputBio*>(BIO_get_data(bio));
  if (!output->append(data, bytes)) return 0;
  *written = bytes;
  return 1;
}

long output_ctrl(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

const BIO_METHOD* output_method() {
  static BIO_METHOD* const made = [] {
    BIO_METHOD* m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "tkdc output");
    if (m != nullptr) {
      BIO_meth_set_write_ex(m, bio_write);
      BIO_meth_set_ctrl(m, output_ctrl);
    }
    return m;
  }();
  return made;
}

}  // namespace

BIO* OutputBio::make_bio() {
  BIO* bio = output_method() != nullptr ? BIO_new(output_method()) : nullptr;
  if (bio == nullptr) return nullptr;
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  return bio;
}

// What of `data` went out, after what waits. An error shows again, and is
// reported, when the buffer is flushed.
std::size_t OutputBio::send_now(const char* data, std::size_t bytes) {
  // What waits beyond a batch waits for the peer to read: flush() goes on with it.
  if (fd_ < 0 || pending() > kBatchBytes || (more_ && pending() + bytes <= kBatchBytes)) return 0;
  iovec parts[2] = {{buffer_.data() + sent_, pending()}, {const_cast<char*>(data), bytes}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  ssize_t n = ::sendmsg(fd_, &message, MSG_NOSIGNAL | MSG_DONTWAIT | (more_ ? MSG_MORE : 0));
  if (n <= 0) return 0;
  const std::size_t of_buffer = std::min(static_cast<std::size_t>(n), pending());
  sent_ += of_buffer;
  return static_cast<std::size_t>(n) - of_buffer;
}

bool OutputBio::append(const char* data, std::size_t bytes) {
  const std::size_t sent = send_now(data, bytes);
  data += sent;
  bytes -= sent;
  if (empty()) {
    buffer_.clear();
    sent_ = 0;
  }
  if (bytes == 0) return true;
  if (pending() + bytes > kMaxPendingBytes) return false;
  if (sent_ > 0 && sent_ >= buffer_.size() / 2) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(sent_));
    sent_ = 0;
  }
  // Of the vector's own type: from char it would be copied one octet at a time.
  const auto* octets = reinterpret_cast<const std::uint8_t*>(data);
  buffer_.insert(buffer_.end(), octets, octets + bytes);
  return true;
}

Result<void> OutputBio::flush(int fd) {
  while (!empty()) {
    ssize_t n = ::send(fd, buffer_.data() + sent_, pending(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return {};
      return fail(errno_text());
    }
    sent_ += static_cast<std::size_t>(n);
  }
  buffer_.clear();
  sent_ = 0;
  if (buffer_.capacity() > kKeepBytes) Bytes().swap(buffer_);
  return {};
}

}  // namespace tkdc
