// SPDX-License-Identifier: Apache-2.0
#include "service/server/local_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>

#include "base/codec.h"
#include "base/system_error.h"
#include "link/socket.h"
#include "service/export/approval.h"
#include "service/export/parcel.h"
#include "service/export/request.h"

namespace tkdc {
namespace {

constexpr std::uint32_t kMagic = 0x544b4c31;  // "TKL1"
constexpr int kListenTickMs = 500;
constexpr long long kTransferMs = 10'000, kGroupTransferMs = 1'000;
constexpr std::size_t kMaxApprovals = 3;
constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);
constexpr std::size_t kHeaderBytes = sizeof kMagic + 1;  // magic, and op or good
// Exactly what the largest good ask and answer take.
constexpr std::size_t kMaxAskBytes = kHeaderBytes + kLengthBytes + kMaxExportRequestBytes + 1 +
                                     kMaxApprovals * (kLengthBytes + kMaxApprovalBytes);
constexpr std::size_t kGroupAskBytes = kHeaderBytes + kLengthBytes + 1;  // no more than the op
constexpr std::size_t kMaxAnswerBytes = kHeaderBytes + kLengthBytes + kMaxParcelBytes;

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return fail(path + ": too long for a socket; give the store a shorter path");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// All of it, until then; the socket does not block.
bool transfer(int fd, MutableByteSpan in, ByteSpan out, long long deadline_ms) {
  while (!in.empty() || !out.empty()) {
    const bool reading = !in.empty();
    if (!wait_ready(fd, reading ? POLLIN : POLLOUT, deadline_ms)) return false;
    const ssize_t n = reading ? ::recv(fd, in.data(), in.size(), MSG_DONTWAIT)
                              : ::send(fd, out.data(), out.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) return false;
    const auto done = static_cast<std::size_t>(n);
    if (reading)
      in = in.subspan(done);
    else
      out = out.subspan(done);
  }
  return true;
}

bool send_frame(int fd, const Bytes& frame, long long transfer_ms = kTransferMs) {
  Bytes length;
  Writer(length).u32(static_cast<std::uint32_t>(frame.size()));
  const long long deadline = monotonic_ms() + transfer_ms;
  return transfer(fd, {}, length, deadline) && transfer(fd, {}, frame, deadline);
}

// Empty: too long, cut short, or too late.
Bytes receive_frame(int fd, std::size_t max_bytes, long long wait_ms) {
  std::uint8_t length[kLengthBytes];
  if (!transfer(fd, length, {}, monotonic_ms() + wait_ms)) return {};
  const std::size_t bytes = Reader(length).u32();
  Bytes frame(bytes <= max_bytes ? bytes : 0);
  if (!transfer(fd, frame, {}, monotonic_ms() + kTransferMs)) return {};
  return frame;
}

Bytes encode(const LocalAsk& ask) {
  Bytes out;
  Writer w(out);
  w.u32(kMagic);
  w.u8(static_cast<std::uint8_t>(ask.op));
  w.text(ask.request);
  w.u8(static_cast<std::uint8_t>(ask.approvals.size()));
  for (const std::string& approval : ask.approvals) w.text(approval);
  return out;
}

bool decode(ByteSpan frame, LocalAsk& ask) {
  Reader r(frame);
  if (r.u32() != kMagic) return false;
  const std::uint8_t op = r.u8();
  if (op < static_cast<std::uint8_t>(LocalOp::kApproval) ||
      op > static_cast<std::uint8_t>(LocalOp::kGiveBack))
    return false;
  ask.op = static_cast<LocalOp>(op);
  ask.request = r.text(kMaxExportRequestBytes);
  const std::size_t approvals = r.u8();
  if (approvals > kMaxApprovals) return false;
  for (std::size_t i = 0; i < approvals; ++i) ask.approvals.push_back(r.text(kMaxApprovalBytes));
  return r.complete();
}

Bytes encode_answer(const Result<Bytes>& answer) {
  Bytes out;
  Writer w(out);
  w.u32(kMagic);
  w.u8(answer.ok() ? 1 : 0);
  if (answer.ok())
    w.bytes(*answer);
  else
    w.text(answer.error().message);
  return out;
}

// What a server before has left, or nothing. A configuration could name whatever else is here.
Result<void> is_left_over(const std::string& path, const sockaddr_un& address) {
  struct stat st {};
  if (::lstat(path.c_str(), &st) != 0) {
    if (errno == ENOENT) return {};
    return system_error(path);
  }
  if (!S_ISSOCK(st.st_mode))
    return fail(path + " is no socket and is not replaced: name another place for the socket");
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return system_error(path);
  const bool answers =
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
      errno == EAGAIN;
  if (answers)
    return fail("another server answers on " + path + "; stop it, or name another place");
  return {};
}

}  // namespace

Result<std::unique_ptr<LocalSocket>> LocalSocket::open(const std::string& path, Who who) {
  auto address = address_of(path);
  if (!address) return address.error();
  if (auto free = is_left_over(path, *address); !free) return free.error();
  std::unique_ptr<LocalSocket> out(new LocalSocket(path, who));
  out->listener_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // Nobody connects before it listens, and then the mode is set.
  const mode_t mode = who == Who::kAdministrator ? 0600 : 0660;
  if (!out->listener_ || (::unlink(path.c_str()) != 0 && errno != ENOENT) ||
      ::bind(out->listener_.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) !=
          0 ||
      ::chmod(path.c_str(), mode) != 0 || ::listen(out->listener_.get(), 4) != 0)
    return system_error(path);
  return out;
}

LocalSocket::~LocalSocket() {
  if (listener_) ::unlink(path_.c_str());
}

void LocalSocket::run(const Answer& answer) {
  while (!stopping_) {
    if (!wait_ready(listener_.get(), POLLIN, monotonic_ms() + kListenTickMs)) continue;
    UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection) serve(std::move(connection), answer);
  }
}

bool LocalSocket::may_ask(int fd) const {
  if (who_ == Who::kGroup) return true;
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
         (peer.uid == 0 || peer.uid == ::geteuid());
}

void LocalSocket::serve(UniqueFd connection, const Answer& answer) {
  if (!may_ask(connection.get())) return;
  Bytes answered;
  try {
    answered = answer_frame(connection.get(), answer);
  } catch (const std::exception& thrown) {
    answered = encode_answer(fail(std::string("the server could not answer: ") + thrown.what()));
  }
  (void)send_frame(connection.get(), answered,
                   who_ == Who::kGroup ? kGroupTransferMs : kTransferMs);
}

Bytes LocalSocket::answer_frame(int fd, const Answer& answer) {
  const bool group = who_ == Who::kGroup;
  const Bytes frame = receive_frame(fd, group ? kGroupAskBytes : kMaxAskBytes,
                                    group ? kGroupTransferMs : kTransferMs);
  LocalAsk ask;
  if (!decode(frame, ask))
    return encode_answer(fail("not understood: `tkdc` and server differ in age"));
  return encode_answer(answer(ask));
}

Result<Bytes> ask_server(const std::string& path, const LocalAsk& ask, long long answer_ms) {
  auto address = address_of(path);
  if (!address) return address.error();
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // A server that takes no connections lets the next ones wait.
  const timeval most{kTransferMs / 1000, 0};
  if (fd) (void)::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
  if (!fd ||
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0)
    return system_error(path,
                        "this runs on the server's host, while it is running, as its user or root");
  if (!send_frame(fd.get(), encode(ask))) return fail("the server did not take the request");
  const Bytes frame = receive_frame(fd.get(), kMaxAnswerBytes, answer_ms);
  Reader r(frame);
  const bool known = r.u32() == kMagic;
  const bool good = r.u8() == 1;
  const ByteSpan body = r.bytes(kMaxParcelBytes);
  if (!known || !r.complete()) return fail("the server gave no answer; see its log");
  if (!good) return fail("refused by the server: " + std::string(body.begin(), body.end()));
  return Bytes(body.begin(), body.end());
}

}  // namespace tkdc
