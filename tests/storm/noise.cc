// SPDX-License-Identifier: Apache-2.0
#include "storm/noise.h"

#include <unistd.h>

namespace tkdc::storm {

Noise::Noise(const Target& target, double share) : share_(share) {
  if (share <= 0) return;
  fd_ = socket(target.address.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (connect(fd_, reinterpret_cast<const sockaddr*>(&target.address), target.length) != 0) {
    close(fd_);
    fd_ = -1;
  }
}

Noise::~Noise() {
  if (fd_ >= 0) close(fd_);
}

bool Noise::after(ByteSpan request) {
  if (fd_ < 0 || std::uniform_real_distribution<double>()(dice_) >= share_) return false;
  Bytes packet(request.begin(), request.end());
  switch (dice_() % 4) {
    case 0:  // a replay
      if (!previous_.empty()) packet = previous_;
      break;
    case 1: packet.resize(dice_() % (packet.size() + 1)); break;
    case 2:
      for (int i = 0; i < 8; ++i)
        packet[dice_() % packet.size()] ^= static_cast<std::uint8_t>(1U << (dice_() % 8));
      break;
    default:
      for (auto& octet : packet) octet = static_cast<std::uint8_t>(dice_());
  }
  previous_.assign(request.begin(), request.end());
  send(fd_, packet.data(), packet.size(), MSG_DONTWAIT);
  std::uint8_t answer[2048];
  while (recv(fd_, answer, sizeof answer, MSG_DONTWAIT) > 0) {
  }
  return true;
}

}  // namespace tkdc::storm
