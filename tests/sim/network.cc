// SPDX-License-Identifier: Apache-2.0
#include "sim/network.h"

#include <algorithm>
#include <map>

#include "base/machine.h"
#include "sim/bulk.h"
#include "sim/realm.h"

namespace tkdc::sim {
namespace {

constexpr int kFirstId = 1'000;

class SimListener;
// Who listens, by party; and ends by their ids.
std::array<SimListener*, kServers> listening{};

struct End {
  WirePtr wire;
  int side = 0;
};
std::map<int, End> ends;
int next_id = kFirstId;

Us ready_at(const Wire& wire) {
  return wire.connected == kNever ? kNever : wire.connected + (wire.connected / 7) % kMs;
}

class SimStream final : public PacketStream {
 public:
  // Its peer proves to be `pin`.
  SimStream(WirePtr wire, int side, const PeerPin& pin, std::string peer)
      : wire_(std::move(wire)), side_(side), id_(next_id++), pin_(pin), peer_(std::move(peer)) {
    ends[id_] = {wire_, side_};
  }
  ~SimStream() override {
    ends.erase(id_);
    if (!world().here().dead) wires().close(*wire_, side_);
  }

  Result<bool> connect(long long deadline_ms) override;

  Result<bool> handshake() override {
    if (!wire_->up(side_)) return fail("tls: " + peer_ + " is gone within the handshake");
    if (ready_at(*wire_) > world().now()) return false;
    const auto other = static_cast<std::size_t>(wire_->host[1 - side_]);
    const Fingerprint& shown = realm().servers[other]->certificate();
    if (shown == pin_.certificate || shown == pin_.former) return true;
    world().reached("handshake: another certificate");
    return fail("tls: " + peer_ + " has another certificate");
  }

  Result<void> send_pieces(std::span<const ByteSpan> pieces) override {
    if (total_bytes(pieces) > max_packet_bytes_)
      return fail("tls: a packet of " + std::to_string(total_bytes(pieces)) + " octets for " +
                  peer_ + " is above the limit");
    if (!wire_->up(side_)) return fail("tls: connection to " + peer_ + " lost");
    SecretVector packet;
    packet.reserve(total_bytes(pieces));
    for (ByteSpan piece : pieces) packet.insert(packet.end(), piece.begin(), piece.end());
    world().note(world().here().name, "to " + peer_ + ", " + wire_->what + ": " +
                                          std::to_string(packet.size()) + " octets");
    wires().send(*wire_, side_, std::move(packet));
    return {};
  }

  Result<void> fill() override {
    while (wire_->arrived(side_)) {
      SecretVector packet = std::move(wire_->to[side_].front().octets);
      wire_->to[side_].pop_front();
      received_ += packet.size();
      if (packet.size() > max_packet_bytes_)
        failure_ = "tls: " + peer_ + " sent a packet of " + std::to_string(packet.size()) +
                   " octets, above the limit";
      else if (failure_.empty())
        packets_.push_back(std::move(packet));
    }
    if (failure_.empty() && (!wire_->up(side_) || world().here().dead))
      failure_ = "tls: " + peer_ + " is gone: the connection ended without a goodbye";
    if (!failure_.empty()) return fail(failure_);
    return {};
  }
  bool has_packet() const override { return !packets_.empty(); }
  ByteSpan take() override {
    taken_ = std::move(packets_.front());
    packets_.pop_front();
    return taken_;
  }

  void carry_bulk() { wire_->bulk = true; }
  bool news() const { return wire_->arrived(side_) || (!wire_->up(side_) && failure_.empty()); }
  bool failed() const { return !failure_.empty(); }

  void wait(long long deadline_ms) override {
    const Us most = std::max<Us>((deadline_ms - monotonic_ms()) * kMs, 0);
    const bool shaking = ready_at(*wire_) > world().now();
    if (wire_->connected != kNever) world().fibers.wake_at(ready_at(*wire_));
    world().wait(most, [&] { return news() || (shaking && ready_at(*wire_) <= world().now()); });
  }
  int id() const override { return id_; }
  short poll_events() const override { return POLLIN; }
  const std::string& peer() const override { return peer_; }
  void set_peer(std::string peer) override { peer_ = std::move(peer); }
  void set_max_packet_bytes(std::size_t bytes) override { max_packet_bytes_ = bytes; }
  std::uint64_t bytes_received() const override { return received_; }

  Result<void> export_key(const std::string& label, MutableByteSpan out) const override {
    const std::string text =
        label + std::to_string(wire_->number) + "/" + std::to_string(world().plan.seed);
    crypto_generichash(out.data(), out.size(), reinterpret_cast<const std::uint8_t*>(text.data()),
                       text.size(), nullptr, 0);
    return {};
  }

 private:
  const WirePtr wire_;
  const int side_, id_;
  const PeerPin pin_;
  std::string peer_, failure_;
  std::size_t max_packet_bytes_ = kMaxPacketBytes;
  std::uint64_t received_ = 0;
  std::deque<SecretVector> packets_;
  SecretVector taken_;
};

class SimListener final : public Listener {
 public:
  SimListener(const Host& host, const PeerPin& pin) : host_(host), pin_(pin) {
    listening[static_cast<std::size_t>(host.number)] = this;
  }
  ~SimListener() override {
    auto& here = listening[static_cast<std::size_t>(host_.number)];
    if (here == this) here = nullptr;
  }

  void called(WirePtr wire) { callers_.push_back(std::move(wire)); }

  Result<std::unique_ptr<PacketStream>> accept() override {
    // One that is held up on its way holds up nobody behind it.
    const auto first = std::ranges::find_if(callers_, is_there);
    if (first == callers_.end()) return std::unique_ptr<PacketStream>();
    WirePtr wire = std::move(*first);
    callers_.erase(first);
    return std::unique_ptr<PacketStream>(
        std::make_unique<SimStream>(std::move(wire), 1, pin_, "an unknown caller"));
  }

  void wait(std::vector<pollfd>& watched, int most_ms) override {
    const auto look = [&] {
      bool any = interrupted_ || std::ranges::any_of(callers_, is_there);
      for (pollfd& one : watched) {
        one.revents = 0;
        const auto end = ends.find(one.fd);
        if (end == ends.end()) {
          one.revents = POLLNVAL;
        } else {
          const Wire& wire = *end->second.wire;
          if (wire.arrived(end->second.side) || !wire.up(end->second.side)) one.revents = POLLIN;
        }
        any = any || one.revents != 0;
      }
      return any;
    };
    world().wait(most_ms * kMs, look);
    look();
    interrupted_ = false;
  }
  void interrupt() override { interrupted_ = true; }
  int port() const override { return host_.number; }

 private:
  static bool is_there(const WirePtr& caller) { return caller->connected <= world().now(); }

  const Host& host_;
  const PeerPin pin_;
  std::deque<WirePtr> callers_;
  bool interrupted_ = false;
};

Result<bool> SimStream::connect(long long deadline_ms) {
  const Us most = std::max<Us>((deadline_ms - monotonic_ms()) * kMs, 0);
  if (wire_->connected != kNever) world().fibers.wake_at(wire_->connected);
  world().wait(most, [&] { return wire_->connected <= world().now() || !wire_->up(side_); });
  if (!wire_->up(side_)) return fail("Connection refused");
  if (wire_->connected > world().now()) return false;
  return true;
}

class SimLink final : public Link {
 public:
  SimLink(std::unique_ptr<SimStream> prev, std::unique_ptr<SimStream> next,
          std::shared_ptr<LinkBreaker> breaker)
      : stream_{std::move(prev), std::move(next)}, breaker_(std::move(breaker)) {}

  Result<void> send_pieces(Neighbour to, std::span<const ByteSpan> pieces) override {
    if (breaker_->tripped()) return fail("link: " + breaker_->reason());
    counters_.packets_sent++;
    counters_.packet_bytes_sent += total_bytes(pieces);
    return stream(to).send_pieces(pieces);
  }

  Result<ByteSpan> receive(Neighbour from, int timeout_ms) override {
    const Us until = world().now() + std::max(timeout_ms, 0) * kMs;
    SimStream& source = stream(from);
    (void)source.fill().ok();
    while (!source.has_packet()) {
      if (breaker_->tripped()) return fail("link: " + breaker_->reason());
      if (source.failed()) return source.fill().error();
      // Where one ends, the wait for the other does, too.
      SimStream& other = *stream_[stream_[0].get() == &source ? 1 : 0];
      const bool before = other.failed();
      if (auto filled = other.fill(); !filled.ok() && !before && !other.has_packet())
        return filled.error();
      if (world().now() >= until || world().here().dead)
        return fail("link: no packet from " + source.peer() + " within " +
                    std::to_string(timeout_ms) + " ms");
      world().wait(until - world().now(),
                   [&] { return source.news() || other.news() || breaker_->tripped(); });
      (void)source.fill().ok();
    }
    return source.take();
  }

  Result<Event> wait(int timeout_ms) override {
    const Us until = world().now() + std::max(timeout_ms, 0) * kMs;
    for (;;) {
      if (breaker_->tripped()) return fail("link: " + breaker_->reason());
      if (std::exchange(woken_, false)) return Event::kWake;
      for (auto& one : stream_) {
        auto filled = one->fill();
        if (one->has_packet()) return Event::kPacket;
        if (!filled.ok()) return filled.error();
      }
      if (world().now() >= until) return Event::kTimeout;
      world().wait(until - world().now(), [&] {
        return woken_ || stream_[0]->news() || stream_[1]->news() || breaker_->tripped();
      });
    }
  }
  Result<void> look() override {
    for (auto& one : stream_)
      if (auto filled = one->fill(); !filled.ok()) return filled;
    return {};
  }
  // As the kernel knows it after some packets.
  std::chrono::microseconds round_trip() const override {
    return std::chrono::microseconds(2 * world().plan.latency_us);
  }
  void wake() override { woken_ = true; }
  void abort(const std::string& reason) override { breaker_->trip(reason); }
  Counters counters() const override { return counters_; }

 private:
  SimStream& stream(Neighbour side) { return *stream_[static_cast<std::size_t>(side)]; }
  std::unique_ptr<SimStream> stream_[2];  // by Neighbour
  std::shared_ptr<LinkBreaker> breaker_;
  bool woken_ = false;
  Counters counters_;
};

class SimNetwork final : public Network {
 public:
  explicit SimNetwork(const Host& host) : host_(host) {}

  Result<std::unique_ptr<Listener>> listen(const std::string&, const PeerPin& pin) override {
    return std::unique_ptr<Listener>(std::make_unique<SimListener>(host_, pin));
  }

  Result<std::unique_ptr<PacketStream>> dial(const std::string& address, const PeerPin& pin,
                                             std::string name) override {
    const int to = address.back() - '0';
    WirePtr wire =
        wires().dial(host_.number, to,
                     "connection of " + std::to_string(host_.number) + " to " + std::to_string(to));
    SimListener* there = listening[static_cast<std::size_t>(to)];
    const Host& peer = world().hosts[static_cast<std::size_t>(to)];
    if (host_.dead) {
      wire->cut[0] = wire->cut[1] = world().now();
    } else if (there != nullptr && !peer.dead) {
      there->called(wire);
    } else {
      wire->unheard = true;
      if (wire->connected != kNever) wires().refuse(*wire);
    }
    return std::unique_ptr<PacketStream>(
        std::make_unique<SimStream>(wire, 0, pin, std::move(name)));
  }

  Result<std::unique_ptr<Link>> link(std::unique_ptr<PacketStream> prev,
                                     std::unique_ptr<PacketStream> next,
                                     std::shared_ptr<LinkBreaker> breaker) override {
    return std::unique_ptr<Link>(
        std::make_unique<SimLink>(own(std::move(prev)), own(std::move(next)), std::move(breaker)));
  }
  Result<std::unique_ptr<BulkWriter>> bulk_writer(std::unique_ptr<PacketStream> stream) override {
    auto* of = static_cast<SimStream*>(stream.get());
    of->carry_bulk();
    return bulk_writer_on(std::move(stream), [of] { return of->news(); });
  }
  Result<std::unique_ptr<BulkReader>> bulk_reader(std::unique_ptr<PacketStream> stream) override {
    const auto* of = static_cast<const SimStream*>(stream.get());
    return bulk_reader_on(std::move(stream), [of] { return of->news(); });
  }

 private:
  static std::unique_ptr<SimStream> own(std::unique_ptr<PacketStream> stream) {
    return std::unique_ptr<SimStream>(static_cast<SimStream*>(stream.release()));
  }
  const Host& host_;
};

}  // namespace

std::shared_ptr<Network> network_of(const Host& host) { return std::make_shared<SimNetwork>(host); }

void new_network() {
  listening = {};
  ends.clear();
  next_id = kFirstId;
}

}  // namespace tkdc::sim
