// SPDX-License-Identifier: Apache-2.0
// Cohorts whose state stays in one device's memory from one to the next: what a device can do at
// most, for tkdc bench. Three parties stand there side by side, and a layer's messages go from
// one's memory to another's; or one party alone, for which its neighbour's messages stand there
// from the start, so that its local work remains; or one whose messages go to pinned host memory
// and whose neighbour's come from there, layer by layer, each waited for before the next, as
// DeviceCohort does it: its round keys too, but no copy by the host's CPU and no blocks.
//
// No session does this: three parties in one place hold every secret. The zero-shares are a
// session's, from keys that are replaced where a session's are. The host sends the device nothing
// else for a cohort but the Ticks of its layers, some 30 to 45 KB for a party. Used by one thread.
#pragma once

#include <array>

#include "cuda/device/slot.h"
#include "rep3/unit/aes/cohort.h"
#include "rep3/zero_stream.h"

namespace tkdc::cuda {

enum class ResidentExchange : std::uint8_t {
  kDevice,  // three parties in the device's memory
  kNone,    // party 0 alone
  kHost     // party 0 alone, with its transfers
};

struct ResidentOptions {
  Representation representation = Representation::kBytes;
  ZeroGenerator zero_shares = ZeroGenerator::kChaCha20;
  std::size_t blocks = 0;
  std::size_t blocks_per_key = 16;
  ResidentExchange exchange = ResidentExchange::kDevice;
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
  // The same in steps, so that one thread can have several of these under way: begin(), then
  // advance() waits for the step before and starts the next, until it says that none was left.
  void begin();
  Result<bool> advance();
  // What party `p` now has.
  Result<SharedBytes> read(std::size_t p);

  // Alone: what "the neighbour sent" in this layer, in each round of each cohort.
  ByteSpan neighbours_message(int layer) const;
  // With transfers: what was sent last in this layer of rounds of this parity.
  ByteSpan sent_message(bool odd, int layer) const;
  // Of one party in one cohort.
  std::uint64_t message_octets() const;
  // By one party's transfers in one cohort: each way. None without transfers.
  struct Transfers {
    std::uint64_t to_device = 0, from_device = 0;
  };
  Transfers transfers() const;
  int rounds() const { return rounds_; }

 private:
  struct Party;
  class LoadStep;
  class CohortStep;
  class TransferStep;
  class ReadStep;

  ResidentParties(Driver& driver, const ResidentOptions& options);
  Result<void> add_party(int number, const ResidentInput& input);
  std::size_t octets_of(int layer) const;
  bool host() const { return o_.exchange == ResidentExchange::kHost; }
  // Of a cohort: one, or with transfers one for each layer and one for the end.
  int steps() const { return host() ? kLayers * rounds_ + 1 : 1; }
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
  int step_ = 0;
};

}  // namespace tkdc::cuda
