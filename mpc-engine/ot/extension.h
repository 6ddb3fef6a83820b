// SPDX-License-Identifier: Apache-2.0
// OT extension: from 128 base OTs to as many correlated OTs as are asked for (Roy, "SoftSpokenOT",
// CRYPTO 2022, ePrint 2022/192; docs/protocols/21-oblivious-transfer.md has the steps, the check
// and the argument).
//
//   sender     Δ (its bit 0 is 1), and for each OT a key K, whose bit 0 is 0
//   receiver   for each OT a random bit b and a MAC M = K ⊕ b Δ; b is M's bit 0
//
// Rows come in batches. In malicious mode a batch's rows are handed out only after its check, and
// a check that fails, like everything else that does, ends the extension: later calls fail too.
//
//   receiver → sender   corrections d of the batch
//   sender → receiver   a seed for the check's coefficients               malicious only
//   receiver → sender   the folded choices, and the 128 folded columns
//
// `in_flight` batches are under way at once, so a batch does not wait for the link. What a changed
// receiver gains: it may guess bits of Δ, and a wrong guess ends the extension.
//
// Calls block; one thread. Secret: Δ, rows, seeds; wiped.
#pragma once

#include <functional>

#include "ot/trees.h"

namespace tkdc::ot {

struct ExtensionOptions {
  unsigned k = 4;                  // 2 to 8: fewer octets and more AES the larger it is
  bool checked = true;             // malicious security; without the check semi-honest
  std::size_t batch_blocks = 256;  // of 128 rows; a multiple of kBlocksAtOnce
  std::size_t in_flight = 1;
  const Kernel* kernel = &fastest_kernel();
};

// Rows that have passed their check, in their order. Valid during the call; may be changed.
using UseRows = std::function<void(std::span<Label>)>;

// Columns of batches under way, and what both sides have in common.
class Extension {
 public:
  Extension(const Extension&) = delete;
  Extension& operator=(const Extension&) = delete;

  const ExtensionOptions& options() const { return options_; }
  // Octets that this side's receiver sends for a batch of so many blocks.
  std::size_t correction_bytes(std::size_t blocks) const {
    return (chunks_.count() - 1) * blocks * kBlockBytes;
  }

 protected:
  struct Batch {
    std::size_t rows = 0;    // that are handed out
    std::size_t blocks = 0;  // with those that the check uses up
    SecretVector columns;    // 128, and the receiver's choices
    Label seed;
  };

  explicit Extension(Channel& channel, const ExtensionOptions& options);
  void set_seeds(const Labels& seeds);

  bool checked() const { return options_.checked; }
  std::size_t depth() const { return 3 * options_.in_flight + 1; }
  std::size_t stride() const { return options_.batch_blocks * kBlockBytes; }
  Batch& batch(std::size_t number) { return batches_[number % depth()]; }
  // Both sides read and write in one order: a batch's check comes 2 in_flight batches after its
  // corrections.
  Columns columns_of(Batch& b) const { return {b.columns.data(), stride()}; }
  // How many rows of `rows` the next batch hands out.
  void begin_batch(Batch& b, std::size_t& rows);
  // Into the columns of a chunk; `sum` null for the sender.
  void expand(const Batch& b, std::size_t chunk, std::uint8_t* sum, std::uint8_t* const* columns);
  void end_batch(const Batch& b) { position_ += b.blocks; }
  // The check's coefficients: 1 for the block that it uses up, random ones for the others.
  std::span<const Label> factors_of(const Batch& b);
  void hand_out(Batch& b, const UseRows& use);

  Channel& channel_;
  const ExtensionOptions options_;
  const Chunks chunks_;
  std::string failure_;

 private:
  std::vector<Batch> batches_;
  std::vector<LeafKeys, WipingAllocator<LeafKeys>> leaves_;
  std::vector<std::size_t> first_leaf_;  // of each chunk
  std::uint64_t position_ = 0;           // in blocks of the leaves' streams
  Labels rows_, factors_;
};

class ExtensionSender : public Extension {
 public:
  // `chosen`: the keys of 128 base OTs with the choices base_choice(delta, column).
  static Result<std::unique_ptr<ExtensionSender>> create(Channel& channel, ByteSpan context,
                                                         const Label& delta,
                                                         std::span<const Label> chosen,
                                                         const ExtensionOptions& options = {});
  const Label& delta() const { return delta_[0]; }

  Result<void> extend(std::size_t rows, const UseRows& use);

  // Steps of extend(), for whoever does both directions at once (extend_both).
  Result<void> take(std::size_t number, std::size_t& rows);
  Result<void> finish(std::size_t number, const UseRows& use);

 private:
  ExtensionSender(Channel& channel, const Label& delta, const ExtensionOptions& options)
      : Extension(channel, options), delta_(1, delta) {}
  bool folds_fit(Batch& b, std::span<const Label> said);

  Labels delta_, folded_;
  SecretVector corrections_;
};

class ExtensionReceiver : public Extension {
 public:
  // Both keys of the same base OTs.
  static Result<std::unique_ptr<ExtensionReceiver>> create(Channel& channel, ByteSpan context,
                                                           std::span<const Label> zero,
                                                           std::span<const Label> one,
                                                           const ExtensionOptions& options = {});

  Result<void> extend(std::size_t rows, const UseRows& use);

  Result<void> start(std::size_t number, std::size_t& rows);
  Result<void> finish(std::size_t number, const UseRows& use);

 private:
  ExtensionReceiver(Channel& channel, const ExtensionOptions& options)
      : Extension(channel, options) {}

  Labels folded_;
  SecretVector corrections_;
};

// What both directions of a pair's extensions do at once, in one thread: `rows` of each.
Result<void> extend_both(ExtensionSender& sender, ExtensionReceiver& receiver, std::size_t rows,
                         const UseRows& use_keys, const UseRows& use_macs);

}  // namespace tkdc::ot
