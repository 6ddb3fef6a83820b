// SPDX-License-Identifier: Apache-2.0
#include "ot/extension.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/now_public.h"
#include "garble/kernel.h"

namespace tkdc::ot {
namespace {

constexpr std::size_t kChoices = kColumns;  // the column behind the others

// Coefficients follow from the seed: AES in counter mode under it.
void draw_factors(const Label& seed, std::span<Label> out) {
  garble::RoundKeys keys;
  garble::expand_keys(std::span(&seed, 1), keys);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = {k, 0};
  garble::fastest_kernel().permute(keys, out);
}

std::uint64_t bit_of(const Label& label, std::size_t k) {
  return (k < 64 ? label.low >> k : label.high >> (k - 64)) & 1;
}

Error out_of_order(const std::string& failure) {
  return fail("OT: this extension has ended: " + failure);
}

}  // namespace

Extension::Extension(Channel& channel, const ExtensionOptions& options)
    : channel_(channel), options_(options), chunks_(options.k), batches_(depth()),
      rows_(options.batch_blocks * kBlockRows), factors_(options.batch_blocks) {
  assert(options.k >= kLeastLevels && options.k <= kMostLevels);
  assert(options.batch_blocks > 0 && options.batch_blocks % kBlocksAtOnce == 0);
  for (Batch& b : batches_) b.columns.resize((kColumns + 1) * stride());
}

void Extension::set_seeds(const Labels& seeds) {
  leaves_.resize(seeds.size());
  options_.kernel->expand_keys(seeds, leaves_.data());
  std::size_t leaf = 0;
  for (std::size_t chunk = 0; chunk < chunks_.count(); ++chunk) {
    first_leaf_.push_back(leaf);
    leaf += chunks_.leaves(chunk);
  }
}

void Extension::begin_batch(Batch& b, std::size_t& rows) {
  const std::size_t used_up = checked() ? kBlockRows : 0;
  b.rows = std::min(rows, options_.batch_blocks * kBlockRows - used_up);
  const std::size_t blocks = (b.rows + used_up + kBlockRows - 1) / kBlockRows;
  b.blocks = (blocks + kBlocksAtOnce - 1) / kBlocksAtOnce * kBlocksAtOnce;
  rows -= b.rows;
}

void Extension::expand(const Batch& b, std::size_t chunk, std::uint8_t* sum,
                       std::uint8_t* const* columns) {
  options_.kernel->expand({leaves_.data() + first_leaf_[chunk], chunks_.levels(chunk), position_,
                           b.blocks, sum, columns});
}

std::span<const Label> Extension::factors_of(const Batch& b) {
  const auto factors = std::span(factors_).first(b.blocks);
  draw_factors(b.seed, factors);
  factors[0] = {1, 0};
  return factors;
}

void Extension::hand_out(Batch& b, const UseRows& use) {
  options_.kernel->transpose(columns_of(b), b.blocks, rows_.data());
  use(std::span(rows_).subspan(checked() ? kBlockRows : 0, b.rows));
}

Result<std::unique_ptr<ExtensionSender>> ExtensionSender::create(Channel& channel, ByteSpan context,
                                                                 const Label& delta,
                                                                 std::span<const Label> chosen,
                                                                 const ExtensionOptions& options) {
  std::unique_ptr<ExtensionSender> made(new ExtensionSender(channel, delta, options));
  auto seeds = puncture_trees(channel, context, made->chunks_, delta, chosen);
  if (!seeds) return seeds.error();
  made->set_seeds(*seeds);
  made->corrections_.resize(made->correction_bytes(options.batch_blocks));
  made->folded_.resize(kColumns);
  return made;
}

Result<void> ExtensionSender::take(std::size_t number, std::size_t& rows) {
  if (!failure_.empty()) return out_of_order(failure_);
  Batch& b = batch(number);
  begin_batch(b, rows);
  const MutableByteSpan corrections(corrections_.data(), correction_bytes(b.blocks));
  if (auto got = channel_.read(corrections); !got) {
    failure_ = got.error().message;
    return got;
  }
  if (checked()) {
    randombytes_buf(&b.seed, sizeof b.seed);
    if (auto sent = channel_.write_all(std::span<const Label>(&b.seed, 1)); !sent) {
      failure_ = sent.error().message;
      return sent;
    }
  }
  const std::size_t bytes = b.blocks * kBlockBytes;
  for (std::size_t chunk = 0; chunk < chunks_.count(); ++chunk) {
    std::uint8_t* columns[kMostLevels];
    for (unsigned l = 0; l < chunks_.levels(chunk); ++l)
      columns[l] = b.columns.data() + (chunk * chunks_.k() + l) * stride();
    expand(b, chunk, nullptr, columns);
    if (chunk == 0) continue;
    for (unsigned l = 0; l < chunks_.levels(chunk); ++l)
      options_.kernel->add_where(columns[l], corrections.data() + (chunk - 1) * bytes, bytes,
                                 bit_of(delta_[0], chunk * chunks_.k() + l));
  }
  end_batch(b);
  return {};
}

// Σ of each column of keys = what the receiver says of MACs, ⊕ its choices where Δ has the bit.
bool ExtensionSender::folds_fit(Batch& b, std::span<const Label> said) {
  options_.kernel->fold(columns_of(b), kColumns, factors_of(b), folded_.data());
  Label differ;
  for (std::size_t c = 0; c < kColumns; ++c) {
    const Label wrong = folded_[c] ^ said[c] ^ said[kChoices].where(bit_of(delta_[0], c));
    differ = {differ.low | wrong.low, differ.high | wrong.high};
  }
  now_public(&differ, sizeof differ);
  return (differ.low | differ.high) == 0;
}

Result<void> ExtensionSender::finish(std::size_t number, const UseRows& use) {
  if (!failure_.empty()) return out_of_order(failure_);
  Batch& b = batch(number);
  if (checked()) {
    Labels said(kColumns + 1);
    if (auto got = channel_.read_all(std::span(said)); !got) {
      failure_ = got.error().message;
      return got;
    }
    if (!folds_fit(b, said)) {
      failure_ = "OT with " + channel_.peer() +
                 ": its choices are not the same in all columns: it does not follow the protocol";
      channel_.abort("the OT's check failed");
      return fail(failure_);
    }
  }
  std::memset(b.columns.data(), 0, b.blocks * kBlockBytes);
  hand_out(b, use);
  return {};
}

Result<void> ExtensionSender::extend(std::size_t rows, const UseRows& use) {
  const std::size_t lag = checked() ? 2 * options_.in_flight : 0;
  std::size_t taken = 0, finished = 0;
  while (rows > 0 || finished < taken) {
    if (rows > 0)
      if (auto done = take(taken++, rows); !done) return done;
    if (taken - finished > lag || rows == 0)
      if (auto done = finish(finished++, use); !done) return done;
  }
  return {};
}

Result<std::unique_ptr<ExtensionReceiver>> ExtensionReceiver::create(
    Channel& channel, ByteSpan context, std::span<const Label> zero, std::span<const Label> one,
    const ExtensionOptions& options) {
  std::unique_ptr<ExtensionReceiver> made(new ExtensionReceiver(channel, options));
  auto seeds = grow_trees(channel, context, made->chunks_, zero, one);
  if (!seeds) return seeds.error();
  made->set_seeds(*seeds);
  made->corrections_.resize(made->correction_bytes(options.batch_blocks) + made->stride());
  made->folded_.resize(kColumns + 1);
  return made;
}

Result<void> ExtensionReceiver::start(std::size_t number, std::size_t& rows) {
  if (!failure_.empty()) return out_of_order(failure_);
  Batch& b = batch(number);
  begin_batch(b, rows);
  const std::size_t bytes = b.blocks * kBlockBytes;
  std::uint8_t* choices = b.columns.data() + kChoices * stride();
  for (std::size_t chunk = 0; chunk < chunks_.count(); ++chunk) {
    std::uint8_t* columns[kMostLevels];
    for (unsigned l = 0; l < chunks_.levels(chunk); ++l)
      columns[l] = b.columns.data() + (chunk * chunks_.k() + l) * stride();
    std::uint8_t* sum = chunk == 0 ? choices : corrections_.data() + (chunk - 1) * bytes;
    expand(b, chunk, sum, columns);
    if (chunk > 0) options_.kernel->add_where(sum, choices, bytes, 1);
  }
  end_batch(b);
  if (auto sent = channel_.write({corrections_.data(), correction_bytes(b.blocks)}); !sent) {
    failure_ = sent.error().message;
    return sent;
  }
  return {};
}

Result<void> ExtensionReceiver::finish(std::size_t number, const UseRows& use) {
  if (!failure_.empty()) return out_of_order(failure_);
  Batch& b = batch(number);
  if (checked()) {
    auto done = channel_.read_all(std::span(&b.seed, 1));
    if (done) {
      options_.kernel->fold(columns_of(b), kColumns + 1, factors_of(b), folded_.data());
      done = channel_.write_all(std::span<const Label>(folded_));
    }
    if (!done) {
      failure_ = done.error().message;
      return done;
    }
  }
  std::memcpy(b.columns.data(), b.columns.data() + kChoices * stride(), b.blocks * kBlockBytes);
  hand_out(b, use);
  return {};
}

Result<void> ExtensionReceiver::extend(std::size_t rows, const UseRows& use) {
  const std::size_t lag = checked() ? 2 * options_.in_flight : 0;
  std::size_t started = 0, finished = 0;
  while (rows > 0 || finished < started) {
    if (rows > 0)
      if (auto done = start(started++, rows); !done) return done;
    if (started - finished > lag || rows == 0)
      if (auto done = finish(finished++, use); !done) return done;
  }
  return {};
}

Result<void> extend_both(ExtensionSender& sender, ExtensionReceiver& receiver, std::size_t rows,
                         const UseRows& use_keys, const UseRows& use_macs) {
  const std::size_t lag = sender.options().in_flight;
  std::size_t to_start = rows, to_take = rows, started = 0, taken = 0, received = 0, sent = 0;
  for (std::size_t step = 0; to_start > 0 || sent < started; ++step) {
    if (to_start > 0)
      if (auto done = receiver.start(started++, to_start); !done) return done;
    if (step >= lag && to_take > 0)
      if (auto done = sender.take(taken++, to_take); !done) return done;
    if (step >= 2 * lag && received < started)
      if (auto done = receiver.finish(received++, use_macs); !done) return done;
    if (step >= 3 * lag && sent < taken)
      if (auto done = sender.finish(sent++, use_keys); !done) return done;
  }
  return {};
}

}  // namespace tkdc::ot
