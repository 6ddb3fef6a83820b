// SPDX-License-Identifier: Apache-2.0
// Packets of a lane: what a neighbour may send in a tick while a layer, an opening
// and an exchange are due, and control octets: what a server says to both others (admission.cc has
// what manifests, statements and verdicts hold).
#include "fuzz.h"
#include "lane/ticker.h"
#include "link/memory_ring.h"
#include "rep3/verify/verifier.h"
#include "service/job/lane_control.h"

namespace {

using namespace tkdc;
using tkdc::fuzz::require;

Task<void> all_kinds(Rep3& rep3) {
  for (int round = 0; round < 4; ++round) {
    Layer layer = rep3.layer(8);
    std::memset(layer.mine(), 0, layer.size());
    co_await layer;
    Passed own = rep3.lane.pass(SecretVector(3));
    SecretVector got = co_await own;
    require(got.size() == 3);
    SharedBytes x = rep3.random(5);
    Bytes opened = co_await rep3.open(x);
    require(opened.size() == 5);
    FromBoth both = co_await rep3.lane.exchange(opened);
    require(both.prev.size() == 5 && both.next.size() == 5);
  }
}

// Every second tick is full.
class EverySecond : public Ticker::Owner {
  std::optional<Ticker::OwnControl> say() override {
    if (tick_++ % 2 != 0) return std::nullopt;
    return Ticker::OwnControl();
  }
  int tick_ = 0;
};

// What was read writes to the same octets and holds what was asked for.
void said_to_both(ByteSpan control) {
  constexpr std::size_t kJobs = 8;
  for (std::size_t verdicts : {0u, 1u, 3u})
    for (bool leader : {true, false}) {
      auto said = decode_lane_control(control, {leader, verdicts, kJobs});
      if (!said) continue;
      // Windows are joined when they are read.
      require(said->revoked || tkdc::fuzz::equal(encode(*said), control));
      require(said->verdicts.size() == verdicts);
      require(!said->manifest || (leader && said->manifest->jobs.size() <= kJobs));
      if (said->revoked) require(said->revoked->state.windows.list().size() <= SealWindows::kMax);
    }
}

// Packets of the input: kind u8 (bit 0: to whom; bit 1: with the right tick in front;
// bit 2: with empty control octets behind it), length u8, octets.
void feed(ByteSpan input, Link& prev, Link& next) {
  Reader in(input);
  std::uint32_t ticks[2] = {};
  while (!in.failed() && in.remaining() > 0) {
    const std::uint8_t kind = in.u8();
    const ByteSpan octets = in.raw(std::min<std::size_t>(in.u8(), in.remaining()));
    Bytes packet;
    Writer out(packet);
    if ((kind & 2) != 0) out.u32(ticks[kind & 1]++);
    if ((kind & 4) != 0) out.u32(0);
    out.raw(octets);
    said_to_both(octets);
    const bool from_next = (kind & 1) != 0;
    (void)(from_next ? next.send(Neighbour::kPrev, packet) : prev.send(Neighbour::kNext, packet))
        .ok();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  require(sodium_init() >= 0);
  auto ring = MemoryRing::create();
  auto prev = ring->link(0), mine = ring->link(1), next = ring->link(2);
  const PairwiseKeys keys;
  Lane lane(1, Security::kMalicious);
  Rep3 rep3(lane, Representation::kBytes, keys);
  Verifier verifier(rep3);
  lane.spawn(all_kinds(rep3));
  feed({data, size}, *prev, *next);
  Ticker ticker(lane, *mine);
  EverySecond owner;
  (void)ticker.run(owner, 0).ok();
  return 0;
}
