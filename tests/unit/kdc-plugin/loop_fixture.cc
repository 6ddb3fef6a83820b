// SPDX-License-Identifier: Apache-2.0
#include "loop_fixture.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <list>
#include <utility>

#include "support/scratch.h"

using tkdc::test::kernel;

struct verto_ev {
  verto_callback* callback;
  verto_ev_flag flags;
  int fd;
};

extern "C" {

ssize_t __real_send(int fd, const void* data, std::size_t octets, int flags);
ssize_t __wrap_send(int fd, const void* data, std::size_t octets, int flags) {
  ++kernel.sends;
  kernel.largest = std::max(kernel.largest, octets);
  if (kernel.takes == 0) {
    errno = EAGAIN;
    return -1;
  }
  octets = std::min(octets, kernel.takes);
  if (kernel.takes != SIZE_MAX) kernel.takes -= octets;
  return __real_send(fd, data, octets, flags);
}

pid_t __real_getpid();
pid_t __wrap_getpid() {
  ++kernel.getpids;
  return __real_getpid() + kernel.forked;
}
}

namespace tkdc::test {
namespace {

std::list<verto_ev> watched;
std::vector<verto_callback*> soon;   // 0 ms timers
std::vector<verto_callback*> later;  // the others

verto_ev* add_io(verto_ctx*, verto_ev_flag flags, verto_callback* callback, int fd) {
  return &watched.emplace_back(verto_ev{callback, flags, fd});
}

verto_ev* add_timeout(verto_ctx*, verto_ev_flag, verto_callback* callback, time_t interval_ms) {
  static verto_ev made;
  (interval_ms == 0 ? soon : later).push_back(callback);
  return &made;
}

void set_flags(verto_ev* event, verto_ev_flag flags) { event->flags = flags; }
verto_ev_flag get_flags(const verto_ev* event) { return event->flags; }
void del(verto_ev* event) {
  watched.remove_if([event](const verto_ev& other) { return &other == event; });
}

void fire(std::vector<verto_callback*>& timers) {
  for (verto_callback* callback : std::exchange(timers, {})) callback(nullptr, nullptr);
}

// Runs in a fiber.
void log_in(void* login, void*, void*) {
  auto& self = *static_cast<Login*>(login);
  const std::vector<std::uint8_t> data(self.octets, 1);
  for (int i = 0; i < self.operations; ++i) {
    tkdc_request request{};
    tkdc_reply reply{};
    request.op = TKDC_OP_MAC;
    request.data = {data.data(), data.size()};
    loop_ask(&request, &reply);
    self.statuses.push_back(reply.status);
    tkdc_reply_free(&reply);
    if (self.statuses.back() != TKDC_STATUS_OK) break;
  }
  self.ended = true;
}

}  // namespace

FakeAgent::FakeAgent() : folder_(make_scratch("loop")), path_(folder_ + "/agent.sock") {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path_.begin(), path_.end(), address.sun_path);
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(listener_, 8), 0);
}

FakeAgent::~FakeAgent() {
  hang_up();
  ::close(listener_);
  std::filesystem::remove_all(folder_);
}

bool FakeAgent::accept() {
  const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) return false;
  hang_up();
  fd_ = fd;
  return true;
}

void FakeAgent::hang_up() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  in_.clear();
}

std::vector<Frame> FakeAgent::frames() {
  std::uint8_t octets[65536];
  for (ssize_t n; (n = ::read(fd_, octets, sizeof octets)) > 0;)
    in_.insert(in_.end(), octets, octets + n);
  std::vector<Frame> whole;
  std::size_t at = 0;
  while (in_.size() - at >= TKDC_WIRE_HEADER_BYTES) {
    tkdc_wire_header header;
    if (!tkdc_wire_get_header(in_.data() + at, &header)) {
      ADD_FAILURE() << "octets were lost or doubled";
      break;
    }
    const std::size_t octets_of_it = TKDC_WIRE_HEADER_BYTES + header.body_bytes;
    if (in_.size() - at < octets_of_it) break;
    if (header.op != TKDC_OP_HELLO) whole.push_back({header.op, header.id});
    at += octets_of_it;
  }
  in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(at));
  return whole;
}

void FakeAgent::answer(const std::vector<Frame>& frames) {
  std::vector<std::uint8_t> out(frames.size() * TKDC_WIRE_HEADER_BYTES);
  std::uint8_t* at = out.data();
  for (const Frame& frame : frames) {
    const tkdc_wire_header header{frame.op, TKDC_STATUS_OK, frame.id, 0, 0};
    tkdc_wire_put_header(at, &header);
    at += TKDC_WIRE_HEADER_BYTES;
  }
  ASSERT_EQ(::write(fd_, out.data(), out.size()), static_cast<ssize_t>(out.size()));
}

LoopTest::LoopTest() {
  kernel = {};
  verto_calls = {.ctx = nullptr,
                 .add_io = add_io,
                 .add_timeout = add_timeout,
                 .set_flags = set_flags,
                 .get_flags = get_flags,
                 .del = del};
  process_config = {.socket_path = {}, .is_kdc = true, .timeout_ms = 60'000, .configured = true};
  std::copy(agent_.path().begin(), agent_.path().end(), process_config.socket_path);
}

// The connection breaks, so every request ends and the next test has a new one.
LoopTest::~LoopTest() {
  kernel.takes = SIZE_MAX;
  agent_.hang_up();
  turn_socket();
  turn_timers();
  EXPECT_EQ(fiber_count(), 0u);
}

Login& LoopTest::begin(int operations, std::size_t octets) {
  Login& login = logins_.emplace_back();
  login.operations = operations;
  login.octets = octets;
  EXPECT_TRUE(fiber_start(log_in, &login, nullptr, nullptr));
  loop_drain();
  return login;
}

std::vector<Frame> LoopTest::begin_many(int count, int operations, std::size_t octets) {
  for (int i = 0; i < count; ++i) begin(operations, octets);
  agent_.accept();
  std::vector<Frame> asked = agent_.frames();
  EXPECT_EQ(asked.size(), static_cast<std::size_t>(count));
  kernel = {};
  return asked;
}

void LoopTest::turn_socket() {
  for (verto_ev& event : watched) {
    pollfd p{event.fd, POLLIN, 0};
    if ((event.flags & VERTO_EV_FLAG_IO_WRITE) != 0) p.events |= POLLOUT;
    if (::poll(&p, 1, 0) == 1) event.callback(nullptr, &event);
  }
}

void LoopTest::turn_timers() { fire(soon); }

void LoopTest::tick() { fire(later); }

void LoopTest::become_child() {
  watched.clear();
  kernel.forked = true;
}

bool LoopTest::waits_to_write() const {
  return std::any_of(watched.begin(), watched.end(), [](const verto_ev& event) {
    return (event.flags & VERTO_EV_FLAG_IO_WRITE) != 0;
  });
}

std::size_t LoopTest::ended() const {
  return static_cast<std::size_t>(std::count_if(logins_.begin(), logins_.end(),
                                                [](const Login& login) { return login.ended; }));
}

}  // namespace tkdc::test
