// SPDX-License-Identifier: Apache-2.0
// The packets of a connection, in pieces cut anywhere: those that a plain reading of the octets
// gives, in their order, up to the first that is too long.
#include "link/packet_input.h"

#include "fuzz.h"

namespace {

using namespace tkdc;
using tkdc::fuzz::require;

struct Expected {
  std::vector<ByteSpan> packets;
  bool too_long = false;
};

Expected read_plainly(ByteSpan octets, std::size_t most) {
  Expected out;
  while (octets.size() >= 4) {
    std::size_t bytes = 0;
    for (int k = 0; k < 4; ++k) bytes = bytes << 8 | octets[static_cast<std::size_t>(k)];
    out.too_long = bytes > most;
    if (out.too_long || octets.size() - 4 < bytes) break;
    out.packets.push_back(octets.subspan(4, bytes));
    octets = octets.subspan(4 + bytes);
  }
  return out;
}

}  // namespace

// The limit u16, how much comes at once u8, how much is left lying u8, octets.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const std::size_t most = static_cast<std::size_t>(data[0]) << 8 | data[1];
  const std::size_t piece = 1u + data[2], lying = data[3] % 8;
  ByteSpan octets(data + 4, size - 4);
  const Expected expected = read_plainly(octets, most);
  PacketInput input;
  input.set_max_packet_bytes(most);
  std::size_t taken = 0, waiting = 0;
  auto take = [&] {
    require(taken < expected.packets.size());
    require(tkdc::fuzz::equal(input.take(), expected.packets[taken++]));
    --waiting;
  };
  bool failed = false;
  while (!octets.empty() && !failed && !input.full()) {
    const MutableByteSpan room = input.room();
    require(!room.empty() && room.size() <= std::max<std::size_t>(most, 4));
    const std::size_t bytes = std::min({piece, room.size(), octets.size()});
    std::copy_n(octets.begin(), bytes, room.begin());
    octets = octets.subspan(bytes);
    const auto complete = input.filled(bytes);
    failed = !complete.ok();
    if (!failed && *complete) ++waiting;
    while (waiting > lying) take();
  }
  while (input.has_packet()) take();
  require(waiting == 0 && failed == expected.too_long);
  require(input.full() || taken == expected.packets.size());
  return 0;
}
