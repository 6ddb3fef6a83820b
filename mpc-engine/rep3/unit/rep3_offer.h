// SPDX-License-Identifier: Apache-2.0
// Replicated sharing as a program has it.
#pragma once

#include "protocol/offer.h"
#include "rep3/unit/aes/cohort.h"

namespace tkdc {

class Rep3Offer final : public ProtocolOffer {
 public:
  // `backend`: as of rep3/unit/aes/aes.h. `masked_blocks`: masks that each lane makes while it is
  // idle, for so many AES-256 blocks; cohorts of at most a quarter of it use them
  // (docs/protocols/16-one-hot-aes.md). Equal at all three. 0: none.
  // `advice`: what a person does about a machine that lacks the backend.
  explicit Rep3Offer(std::string backend, std::size_t masked_blocks = 0, std::string advice = {})
      : backend_(std::move(backend)), masked_blocks_(masked_blocks), advice_(std::move(advice)) {}
  // Error: this machine has no such backend.
  Result<void> check() const;

  std::string_view name() const override;
  std::uint64_t wire_format() const override;
  Result<std::unique_ptr<Protocol>> join(Lane& lane, const LaneSeat& seat) const override;

 private:
  Result<const Rep3Backend*> backend(Representation representation) const;

  const std::string backend_;
  const std::size_t masked_blocks_;
  const std::string advice_;
};

}  // namespace tkdc
