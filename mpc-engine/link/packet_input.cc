// SPDX-License-Identifier: Apache-2.0
#include "link/packet_input.h"

#include <algorithm>
#include <utility>

namespace tkdc {
namespace {

constexpr std::size_t kGrowBytes = 1u << 20;  // memory follows the octets that arrive
constexpr std::size_t kMaxSpare = 4;          // as far as a neighbour may be ahead
constexpr std::size_t kMaxReadyPackets = 4096;

}  // namespace

bool PacketInput::full() const {
  return ready_.size() >= kMaxReadyPackets || ready_bytes_ >= max_ready_bytes_;
}

MutableByteSpan PacketInput::room() {
  if (header_got_ < kHeaderBytes)
    return MutableByteSpan(header_ + header_got_, kHeaderBytes - header_got_);
  const std::size_t wanted = std::min(incoming_.bytes, body_got_ + kGrowBytes);
  if (incoming_.memory.size() < wanted) incoming_.memory.resize(wanted);
  const std::size_t end = std::min(incoming_.bytes, incoming_.memory.size());
  return MutableByteSpan(incoming_.memory).subspan(body_got_, end - body_got_);
}

Result<bool> PacketInput::filled(std::size_t bytes) {
  if (header_got_ < kHeaderBytes) {
    header_got_ += bytes;
    if (header_got_ < kHeaderBytes) return false;
    if (auto begun = begin_packet(); !begun.ok()) return begun.error();
  } else {
    body_got_ += bytes;
  }
  if (body_got_ < incoming_.bytes) return false;
  end_packet();
  return true;
}

Result<void> PacketInput::begin_packet() {
  incoming_.bytes = get_header(header_);
  body_got_ = 0;
  if (incoming_.bytes > max_packet_bytes_)
    return fail("announced a packet of " + std::to_string(incoming_.bytes) +
                " octets, above the limit of " + std::to_string(max_packet_bytes_));
  if (!spare_.empty()) {
    incoming_.memory = std::move(spare_.back());
    spare_.pop_back();
  }
  return {};
}

void PacketInput::end_packet() {
  ready_bytes_ += incoming_.bytes;
  ready_.push_back(std::exchange(incoming_, Packet{}));
  header_got_ = 0;
}

ByteSpan PacketInput::take() {
  // The memory of the packet before serves a next one.
  const std::size_t room = taken_.memory.size();
  if (room > 0 && room <= kGrowBytes && spare_.size() < kMaxSpare)
    spare_.push_back(std::move(taken_.memory));
  taken_ = std::move(ready_.front());
  ready_.pop_front();
  ready_bytes_ -= taken_.bytes;
  return ByteSpan(taken_.memory).first(taken_.bytes);
}

}  // namespace tkdc
