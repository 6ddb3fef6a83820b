// SPDX-License-Identifier: Apache-2.0
#include "session/acceptor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/system_error.h"

namespace tkdc {
namespace {

constexpr int kTickMs = 250;  // deadlines are looked at this often
constexpr int kCheckMs = 20;
constexpr int kComplaintEveryMs = 1'000;  // strangers must not fill the journal

}  // namespace

Acceptor::Acceptor(UniqueFd listener, const TlsContext& tls, AcceptorOptions options)
    : listener_(std::move(listener)), tls_(tls), options_(std::move(options)),
      wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)), thread_([this] { run(); }) {}

Acceptor::~Acceptor() {
  stop_ = true;
  std::uint64_t one = 1;
  [[maybe_unused]] ssize_t n = write(wake_.get(), &one, sizeof one);
  thread_.join();
}

void Acceptor::run() {
  while (!stop_) {
    std::vector<pollfd> fds{{listener_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    for (const Stranger& s : strangers_)
      fds.push_back({s.stream->fd(), s.stream->poll_events(), 0});
    std::vector<std::pair<std::uint64_t, short>> offers;
    {
      std::lock_guard lock(mutex_);
      for (const Waiting& w : waiting_) {
        // Nothing is due from it before our answer: whatever comes is its end.
        fds.push_back({w.offer.stream->fd(), POLLIN | POLLRDHUP, 0});
        offers.emplace_back(w.number, short{0});
      }
    }
    if (poll(fds.data(), fds.size(), kTickMs) < 0) continue;
    std::size_t strangers = strangers_.size();
    std::vector<short> revents(strangers);
    for (std::size_t i = 0; i < strangers; ++i) revents[i] = fds[2 + i].revents;
    for (std::size_t i = 0; i < offers.size(); ++i)
      offers[i].second = fds[2 + strangers + i].revents;
    drop_dead_offers(offers);
    serve(strangers, revents);
    if (fds[0].revents != 0) accept_all();
  }
}

void Acceptor::accept_all() {
  for (;;) {
    UniqueFd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) {
        complain(system_error("cannot accept", "raise LimitNOFILE of the service").message);
        usleep(100'000);  // the listener stays readable
      }
      return;
    }
    tune_socket(fd.get());
    auto ssl = tls_.server(options_.pin);
    if (!ssl.ok()) return complain(ssl.error().message);
    auto stream = TlsStream::create(std::move(*ssl), std::move(fd), "an unknown caller");
    if (!stream.ok()) return complain(stream.error().message);
    (*stream)->set_max_packet_bytes(kMaxHelloBytes);
    (*stream)->set_records_per_key(options_.records_per_key);
    // The oldest makes room: a flood must last a whole handshake to keep the peer out.
    if (strangers_.size() >= options_.max_strangers) strangers_.erase(strangers_.begin());
    strangers_.push_back(
        {std::move(*stream), monotonic_ms() + options_.stranger_timeout_ms, false});
  }
}

// True when its HELLO is there.
Result<bool> Acceptor::step(Stranger& stranger) {
  TlsStream& stream = *stranger.stream;
  if (!stranger.handshaken) {
    auto done = stream.handshake();
    if (!done.ok()) return done;
    stranger.handshaken = *done;
  }
  if (stranger.handshaken) {
    auto filled = stream.fill();
    if (!filled.ok()) return filled.error();
  }
  if (stream.bytes_received() > options_.stranger_max_bytes)
    return fail("session: a caller sent too much before its HELLO");
  return stream.has_packet();
}

void Acceptor::serve(std::size_t polled, const std::vector<short>& revents) {
  std::vector<Stranger> keep;
  for (std::size_t i = 0; i < strangers_.size(); ++i) {
    Stranger& stranger = strangers_[i];
    if (i < polled && revents[i] != 0) {
      auto ready = step(stranger);
      if (!ready.ok()) {
        complain(ready.error().message);
        continue;
      }
      if (*ready) {
        admit(std::move(stranger));
        continue;
      }
    }
    if (monotonic_ms() < stranger.deadline_ms) keep.push_back(std::move(stranger));
  }
  strangers_ = std::move(keep);
}

void Acceptor::admit(Stranger stranger) {
  auto hello = decode_hello(stranger.stream->take());
  if (!hello.ok()) return complain(hello.error().message);
  stranger.stream->set_peer("party " + std::to_string(options_.party));
  // Before it can be taken, so that the news never hits the session made of it.
  if (options_.on_offer) options_.on_offer(*hello);
  std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const Waiting& old) {
    return old.offer.hello.nonce != hello->nonce || old.offer.hello.lane == hello->lane;
  });
  waiting_.push_back({offers_++, {std::move(stranger.stream), std::move(*hello)}});
  changed_.notify_all();
}

void Acceptor::drop_dead_offers(const std::vector<std::pair<std::uint64_t, short>>& polled) {
  std::lock_guard lock(mutex_);
  for (const auto& [number, revents] : polled)
    if (revents != 0)
      std::erase_if(waiting_, [n = number](const Waiting& w) { return w.number == n; });
}

void Acceptor::complain(const std::string& message) {
  if (!options_.log || monotonic_ms() < next_complaint_ms_) return;
  next_complaint_ms_ = monotonic_ms() + kComplaintEveryMs;
  options_.log(message);
}

Result<std::vector<Offer>> Acceptor::take(int lanes, const std::optional<Round>& round,
                                          long long deadline_ms,
                                          const std::function<Result<void>()>& check) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (round)
      std::erase_if(waiting_, [&](const Waiting& w) {
        return w.offer.hello.version == kProtocolVersion && w.offer.hello.round != *round;
      });
    if (!waiting_.empty()) {
      const Hello& first = waiting_.front().offer.hello;
      if (first.version != kProtocolVersion || first.lanes != lanes ||
          waiting_.size() == static_cast<std::size_t>(lanes))
        break;
    }
    if (monotonic_ms() >= deadline_ms)
      return fail("session: party " + std::to_string(options_.party) +
                  " did not call in time; is its tkdc-server running, and does its [[peers]] "
                  "entry have this server's data address?");
    lock.unlock();
    auto checked = check();
    lock.lock();
    if (!checked.ok()) return checked.error();
    changed_.wait_for(lock, std::chrono::milliseconds(kCheckMs));
  }
  std::vector<Offer> taken;
  for (Waiting& w : waiting_) taken.push_back(std::move(w.offer));
  waiting_.clear();
  std::sort(taken.begin(), taken.end(),
            [](const Offer& a, const Offer& b) { return a.hello.lane < b.hello.lane; });
  return taken;
}

}  // namespace tkdc
