// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/tcp_stream.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/system_error.h"
#include "link/socket.h"

namespace tkdc::bench {
namespace {

using By = OctetRing::Failure::By;
using Waited = OctetRing::Waited;

constexpr std::size_t kMostBytes = 256 * 1024;  // in one system call
constexpr int kWaitMs = 600'000;                // the ring notices a stall by itself

// The thread behind a ring; its calls block.
class TcpCarrier final : public BulkCarrier {
 public:
  TcpCarrier(UniqueFd socket, std::shared_ptr<OctetRing> ring, RingSide owner)
      : socket_(std::move(socket)), ring_(std::move(ring)) {
    tune_bulk_socket(socket_.get());
    ::fcntl(socket_.get(), F_SETFL, ::fcntl(socket_.get(), F_GETFL) & ~O_NONBLOCK);
    if (owner == RingSide::kWriter)
      ring_->set_callback(RingSide::kReader, [this](OctetRing::Change) {
        std::lock_guard lock(mutex_);
        changed_.notify_one();
      });
    thread_ = std::thread([this, owner] {
      const bool done = owner == RingSide::kWriter ? send_all() : receive_all();
      if (!done) ring_->fail(By::kConnection, "TCP: " + errno_text());
    });
  }
  // Its ring has ended.
  ~TcpCarrier() override {
    ::shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
    ring_->set_callback(RingSide::kReader, nullptr);
  }

 private:
  bool send_all() {
    for (;;) {
      wait_changed();
      if (ring_->failure()) return true;
      if (ring_->size() == 0) break;
      iovec pieces[2];
      int count = 0;
      for (const ByteSpan piece : ring_->front(kMostBytes))
        if (!piece.empty())
          pieces[count++] = {const_cast<std::uint8_t*>(piece.data()), piece.size()};
      msghdr message{};
      message.msg_iov = pieces;
      message.msg_iovlen = static_cast<std::size_t>(count);
      const ssize_t sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
      if (sent < 0) return false;
      ring_->drop(static_cast<std::size_t>(sent));
    }
    std::uint8_t answer = 0;
    if (::shutdown(socket_.get(), SHUT_WR) != 0 || ::recv(socket_.get(), &answer, 1, 0) != 1)
      return false;
    ring_->confirm();
    return true;
  }

  // Until there are octets, the end, or a failure.
  void wait_changed() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ring_->size() > 0 || ring_->finished() || ring_->failure(); });
  }

  bool receive_all() {
    for (;;) {
      const Waited waited = ring_->wait_room(1, kWaitMs);
      if (waited == Waited::kFailed) return true;
      const MutableByteSpan to = ring_->place();
      const ssize_t got = ::recv(socket_.get(), to.data(), std::min(to.size(), kMostBytes), 0);
      if (got < 0) return false;
      if (got == 0) break;
      ring_->put(static_cast<std::size_t>(got));
    }
    // First, since whoever hears of the end may close the stream.
    const std::uint8_t answer = 1;
    if (::send(socket_.get(), &answer, 1, MSG_NOSIGNAL) != 1) return false;
    ring_->finish(true);
    return true;
  }

  UniqueFd socket_;
  const std::shared_ptr<OctetRing> ring_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

template <class End>
Result<std::unique_ptr<End>> make_end(RingSide side, UniqueFd socket, std::string peer,
                                      const BulkOptions& options) {
  if (const std::string why = connect_error(socket.get()); !why.empty())
    return fail("bench: no connection to " + peer + ": " + why);
  auto ring = std::make_shared<OctetRing>(options.ring_bytes, options.stall_ms);
  auto carrier = std::make_unique<TcpCarrier>(std::move(socket), ring, side);
  return std::make_unique<End>(std::move(ring), std::move(carrier), std::move(peer));
}

}  // namespace

Result<std::unique_ptr<BulkWriter>> make_tcp_bulk_writer(UniqueFd socket, std::string peer,
                                                         const BulkOptions& options) {
  return make_end<BulkWriter>(RingSide::kWriter, std::move(socket), std::move(peer), options);
}

Result<std::unique_ptr<BulkReader>> make_tcp_bulk_reader(UniqueFd socket, std::string peer,
                                                         const BulkOptions& options) {
  return make_end<BulkReader>(RingSide::kReader, std::move(socket), std::move(peer), options);
}

}  // namespace tkdc::bench
