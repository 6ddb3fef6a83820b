// SPDX-License-Identifier: Apache-2.0
#include "support/simulated_network.h"

namespace tkdc::test {
namespace {

std::size_t side(Neighbour neighbour) { return static_cast<std::size_t>(neighbour); }

}  // namespace

class SimulatedNetwork::End final : public Link {
 public:
  End(SimulatedNetwork& network, int party) : network_(network), party_(party) {}

  Result<void> send_pieces(Neighbour to, std::span<const ByteSpan> pieces) override {
    SecretVector packet;
    for (ByteSpan piece : pieces) packet.insert(packet.end(), piece.begin(), piece.end());
    network_.put(party_, to, std::move(packet));
    return {};
  }
  Result<ByteSpan> receive(Neighbour from, int) override {
    auto packet = network_.take(party_, from);
    if (!packet) return packet.error();
    current_[side(from)] = std::move(*packet);
    return ByteSpan(current_[side(from)]);
  }
  Result<Event> wait(int) override { return Event::kTimeout; }
  void wake() override {}
  void abort(const std::string&) override {}
  Counters counters() const override { return {}; }

 private:
  SimulatedNetwork& network_;
  const int party_;
  SecretVector current_[2];
};

void SimulatedNetwork::put(int from, Neighbour to, SecretVector packet) {
  std::lock_guard lock(mutex_);
  const int party = to == Neighbour::kNext ? (from + 1) % 3 : (from + 2) % 3;
  const Neighbour sender = to == Neighbour::kNext ? Neighbour::kPrev : Neighbour::kNext;
  std::deque<SecretVector>& wire = wire_[party][side(sender)];
  if (chance(faults_.drop)) {
    ++faults_made_;
    return;
  }
  if (chance(faults_.flip) && !packet.empty()) {
    ++faults_made_;
    packet[rng_() % packet.size()] ^= static_cast<std::uint8_t>(1u << rng_() % 8);
  }
  if (chance(faults_.twice)) {
    ++faults_made_;
    wire.push_back(packet);
  }
  const bool before = chance(faults_.overtake) && !wire.empty();
  faults_made_ += before ? 1 : 0;
  wire.insert(before ? wire.begin() : wire.end(), std::move(packet));
}

bool SimulatedNetwork::can_run(int party) const {
  if (state_[party] == State::kReady) return true;
  if (state_[party] == State::kDone) return false;
  return timed_out_[party] || !inbox_[party][side(waits_for_[party])].empty();
}

// Delivers packets, one chosen at random at a time, until it is a party's turn.
void SimulatedNetwork::schedule() {
  for (;;) {
    std::vector<int> parties;
    std::vector<std::pair<int, std::size_t>> wires;
    for (int p = 0; p < 3; ++p) {
      if (can_run(p)) parties.push_back(p);
      for (std::size_t s = 0; s < 2; ++s)
        if (!wire_[p][s].empty() && state_[p] != State::kDone) wires.emplace_back(p, s);
    }
    if (parties.empty() && wires.empty()) {
      bool left = false;
      for (int p = 0; p < 3; ++p)
        if (state_[p] == State::kWaiting) left = timed_out_[p] = true;
      if (left) continue;
      turn_ = kNobody;
      break;
    }
    const std::size_t choice = rng_() % (parties.size() + wires.size());
    if (choice < parties.size()) {
      turn_ = parties[choice];
      break;
    }
    const auto [party, from] = wires[choice - parties.size()];
    inbox_[party][from].push_back(std::move(wire_[party][from].front()));
    wire_[party][from].pop_front();
    ++delivered_;
  }
  turned_.notify_all();
}

void SimulatedNetwork::wait_turn(std::unique_lock<std::mutex>& lock, int party) {
  turned_.wait(lock, [&] { return turn_ == party; });
}

Result<SecretVector> SimulatedNetwork::take(int party, Neighbour from) {
  std::unique_lock lock(mutex_);
  state_[party] = State::kWaiting;
  waits_for_[party] = from;
  schedule();
  wait_turn(lock, party);
  state_[party] = State::kReady;
  std::deque<SecretVector>& inbox = inbox_[party][side(from)];
  if (inbox.empty()) return fail("link: no packet in time");
  SecretVector packet = std::move(inbox.front());
  inbox.pop_front();
  return packet;
}

void SimulatedNetwork::run(const std::function<void(int, Link&)>& body) {
  std::thread threads[3];
  for (int p = 0; p < 3; ++p)
    threads[p] = std::thread([this, &body, p] {
      End end(*this, p);
      {
        std::unique_lock lock(mutex_);
        wait_turn(lock, p);
      }
      body(p, end);
      std::lock_guard lock(mutex_);
      state_[p] = State::kDone;
      schedule();
    });
  {
    std::lock_guard lock(mutex_);
    schedule();
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace tkdc::test
