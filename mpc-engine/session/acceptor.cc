// SPDX-License-Identifier: Apache-2.0
#include "session/acceptor.h"

#include <algorithm>
#include <utility>

namespace tkdc {
namespace {

constexpr int kTickMs = 250;  // deadlines are looked at this often
constexpr std::chrono::milliseconds kCheck{20}, kAfterFailure{100};
constexpr int kComplaintEveryMs = 1'000;  // strangers must not fill the journal

}  // namespace

Acceptor::Acceptor(std::unique_ptr<Listener> listener, AcceptorOptions options)
    : listener_(std::move(listener)), options_(std::move(options)),
      thread_(machine().start([this] { run(); })) {}

Acceptor::~Acceptor() {
  stop_ = true;
  listener_->interrupt();
  thread_.reset();
}

void Acceptor::run() {
  while (!stop_) {
    std::vector<pollfd> watched;
    for (const Stranger& s : strangers_)
      watched.push_back({s.stream->id(), s.stream->poll_events(), 0});
    const std::size_t strangers = watched.size();
    std::vector<std::uint64_t> offers;
    {
      std::lock_guard lock(mutex_);
      for (const Waiting& w : waiting_) {
        // Nothing is due from it before our answer: whatever comes is its end.
        watched.push_back({w.offer.stream->id(), POLLIN | POLLRDHUP, 0});
        offers.push_back(w.number);
      }
    }
    listener_->wait(watched, kTickMs);
    const std::span<const pollfd> polled(watched);
    drop_dead_offers(offers, polled.subspan(strangers));
    serve(polled.first(strangers));
    accept_all();
  }
}

void Acceptor::accept_all() {
  for (;;) {
    auto stream = listener_->accept();
    if (!stream.ok()) {
      complain(stream.error().message);
      machine().pause(kAfterFailure);  // who calls goes on calling
      return;
    }
    if (*stream == nullptr) return;
    (*stream)->set_max_packet_bytes(kMaxHelloBytes);
    // The oldest makes room: a flood must last a whole handshake to keep the peer out.
    if (strangers_.size() >= options_.max_strangers) strangers_.erase(strangers_.begin());
    strangers_.push_back(
        {std::move(*stream), monotonic_ms() + options_.stranger_timeout_ms, false});
  }
}

// True when its HELLO is there.
Result<bool> Acceptor::step(Stranger& stranger) {
  PacketStream& stream = *stranger.stream;
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

void Acceptor::serve(std::span<const pollfd> polled) {
  std::vector<Stranger> keep;
  for (std::size_t i = 0; i < strangers_.size(); ++i) {
    Stranger& stranger = strangers_[i];
    if (i < polled.size() && polled[i].revents != 0) {
      auto ready = step(stranger);
      if (!ready.ok()) {
        // As `tkdc doctor` does when it has seen our certificate.
        if (!stranger.handshaken && stranger.stream->is_left()) continue;
        complain(ready.error().message);
        std::lock_guard lock(mutex_);
        refused_ = ready.error().message;
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
  {
    std::lock_guard lock(mutex_);
    refused_.clear();
  }
  // Before it can be taken, so that the news never hits the session made of it.
  if (options_.on_offer) options_.on_offer(*hello);
  std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const Waiting& old) {
    return old.offer.hello.nonce != hello->nonce || old.offer.hello.lane == hello->lane;
  });
  waiting_.push_back({offers_++, {std::move(stranger.stream), std::move(*hello)}});
  changed_.notify_all();
}

void Acceptor::drop_dead_offers(std::span<const std::uint64_t> numbers,
                                std::span<const pollfd> polled) {
  std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (polled[i].revents != 0)
      std::erase_if(waiting_, [n = numbers[i]](const Waiting& w) { return w.number == n; });
}

void Acceptor::complain(const std::string& message) {
  if (!options_.log || monotonic_ms() < next_complaint_ms_) return;
  next_complaint_ms_ = monotonic_ms() + kComplaintEveryMs;
  options_.log(message);
}

Result<std::vector<Offer>> Acceptor::take(int lanes, std::size_t count,
                                          const std::optional<Round>& round, long long deadline_ms,
                                          const std::function<Result<void>()>& check) {
  std::unique_lock lock(mutex_);
  if (std::exchange(taken_, false)) refused_.clear();
  for (;;) {
    if (round)
      std::erase_if(waiting_, [&](const Waiting& w) {
        return w.offer.hello.version == kProtocolVersion && w.offer.hello.round != *round;
      });
    if (!waiting_.empty()) {
      const Hello& first = waiting_.front().offer.hello;
      if (first.version != kProtocolVersion || first.lanes != lanes || waiting_.size() == count)
        break;
    }
    if (monotonic_ms() >= deadline_ms)
      return fail("session: party " + std::to_string(options_.party) + " did not call in time" +
                  (refused_.empty() ? followed_by(options_.no_call)
                                    : "; somebody who called was refused: " + refused_));
    lock.unlock();
    auto checked = check();
    lock.lock();
    if (!checked.ok()) return checked.error();
    machine().wait(changed_, lock, kCheck, [&, seen = offers_] { return offers_ != seen; });
  }
  std::vector<Offer> taken;
  for (Waiting& w : waiting_) taken.push_back(std::move(w.offer));
  waiting_.clear();
  taken_ = true;
  std::sort(taken.begin(), taken.end(),
            [](const Offer& a, const Offer& b) { return a.hello.lane < b.hello.lane; });
  return taken;
}

}  // namespace tkdc
