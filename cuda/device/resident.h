// SPDX-License-Identifier: Apache-2.0
// Cohorts whose input, keys and messages all stay in one device's memory: what a device can do at
// most, for tkdc bench. Three parties stand there side by side, and a layer's messages go from
// one's memory to another's; or one party alone, for which its neighbour's messages stand there
// from the start, so that its local work remains.
//
// No session does this: three parties in one place hold every secret. The zero-shares are a
// session's, from keys that are replaced where a session's are. The host sends the device nothing
// for a cohort but the Ticks of its layers, some 30 to 45 KB for a party. Used by one thread.
#pragma once

#include <array>

#include "cipher/aes/cohort.h"
#include "cuda/device/slot.h"
#include "rep3/zero_stream.h"

namespace tkdc::cuda {

struct ResidentOptions {
  Representation representation = Representation::kBytes;
  ZeroGenerator zero_shares = ZeroGenerator::kChaCha20;
  std::size_t blocks = 0;
  std::size_t blocks_per_key = 16;
  bool exchange = true;  // three parties; false: party 0 alone
  std::uint64_t ratchet_bytes = kRatchetBytes;
};

// What a party starts from.
struct ResidentInput {
  SharedBytes blocks;                   // of 16 octets
  std::vector<SharedBytes> round_keys;  // one for each row of blocks_per_key, all of one length
  SecretBuffer mine{32}, next{32};      // component keys
};

class ResidentParties {
 public:
  // `inputs` holds three parties', or party 0's.
  static Result<std::unique_ptr<ResidentParties>> make(Driver& driver,
                                                       const ResidentOptions& options,
                                                       const std::vector<ResidentInput>& inputs);

  ~ResidentParties();

  // Each block is encrypted under its key, and is the next call's input.
  Result<void> encrypt();
  // What party `p` now has.
  Result<SharedBytes> read(std::size_t p);

  // Alone: what "the neighbour sent" in this layer, in each round of each cohort.
  ByteSpan neighbours_message(int layer) const;
  // Of one party in one cohort.
  std::uint64_t message_octets() const;
  int rounds() const { return rounds_; }

 private:
  struct Party;
  class LoadStep;
  class CohortStep;
  class ReadStep;

  ResidentParties(Driver& driver, const ResidentOptions& options);
  Result<void> add_party(int number, const ResidentInput& input);
  std::size_t octets_of(int layer) const;
  bool bytes() const { return o_.representation == Representation::kBytes; }
  Queue& queue();
  void set_ticks();

  Driver& driver_;
  const ResidentOptions o_;
  int rounds_ = 0;
  std::size_t runs_ = 0;
  std::vector<std::unique_ptr<Party>> parties_;
  std::uint64_t position_ = 0, ratchets_ = 0;  // in the streams, under the present keys
  bool new_keys_ = true;
};

}  // namespace tkdc::cuda
