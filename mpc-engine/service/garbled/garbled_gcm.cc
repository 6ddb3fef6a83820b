// SPDX-License-Identifier: Apache-2.0
#include "service/garbled/garbled_gcm.h"

#include "enctype.h"
#include "service/operation/keys.h"

namespace tkdc {
namespace {

constexpr std::size_t kBlockBytes = 16;

std::string named(const char* what, std::size_t key_bytes) {
  return what + std::to_string(8 * key_bytes);
}

std::string sized(const char* what, std::size_t key_bytes, std::size_t size) {
  return named(what, key_bytes) + ":" + std::to_string(size);
}

std::size_t stream_blocks(std::size_t bytes) {
  constexpr std::size_t kStepBytes = kBlocksStep * kBlockBytes;
  return kBlocksStep * std::max<std::size_t>(1, (bytes + kStepBytes - 1) / kStepBytes);
}

constexpr const char *kStream = "gcm-stream", *kOpen = "gcm-open", *kBlock = "aes",
                     *kVerify = "gcm-verify";

Task<SharedBytes> as_task(SharedBytes value) { co_return value; }

}  // namespace

std::optional<std::string> gcm_circuit_of(const KeyRecord& record, tkdc_wire_op op,
                                          std::uint32_t usage, std::size_t input_bytes) {
  const std::size_t key_bytes = key_bytes_of(record.ref.enctype);
  if (key_bytes == 0 || !in_gcm_form(record, usage)) return std::nullopt;
  const tkdc_enctype& lengths = *tkdc_enctype_of(record.ref.enctype);
  const auto streamed = [&](const char* what, std::size_t bytes) -> std::optional<std::string> {
    if (stream_blocks(bytes) > kMostStreamBlocks) return std::nullopt;
    return sized(what, key_bytes, stream_blocks(bytes));
  };
  switch (op) {
    case TKDC_OP_SEAL: return streamed(kStream, input_bytes);
    case TKDC_OP_OPEN:
      if (input_bytes < lengths.overhead_bytes) return std::nullopt;
      return streamed(kOpen, input_bytes - lengths.overhead_bytes);
    case TKDC_OP_MAC: return named(kBlock, key_bytes);
    case TKDC_OP_VERIFY: return sized(kVerify, key_bytes, lengths.checksum_bytes);
    default: return std::nullopt;
  }
}

GarbledGcm::GarbledGcm(const JobContext& context, GarbledLane lane, threegarble::JobTag tag)
    : protocol_(context.protocol), layered_(layered_gcm(context.protocol)),
      key_bytes_(key_bytes_of(context.record.ref.enctype)), lane_(lane), tag_(tag) {}

// A key's schedule begins with the key (FIPS 197, section 5.2).
SharedBytes GarbledGcm::key_of(const SharedBytes& round_keys) const {
  SharedBytes key = round_keys;
  key.resize(key_bytes_);
  return key;
}

// A nonce that two honest servers have opened differently is another job.
threegarble::JobTag GarbledGcm::tag_with(const GcmNonce& nonce) const {
  Bytes octets(tag_.about.begin(), tag_.about.end());
  octets.insert(octets.end(), nonce.begin(), nonce.end());
  threegarble::JobTag tag = tag_;
  crypto_generichash(tag.about.data(), tag.about.size(), octets.data(), octets.size(), nullptr, 0);
  return tag;
}

Task<SharedBytes> GarbledGcm::stream(const SharedBytes& round_keys, GcmNonce nonce,
                                     std::size_t bytes) {
  auto taken = TakenInstance::take(lane_, sized(kStream, key_bytes_, stream_blocks(bytes)));
  std::optional<SharedBytes> out;
  if (taken) {
    SharedBytes input = key_of(round_keys);
    input.append(protocol_.share_public(nonce));
    out = co_await taken->run(tag_with(nonce), std::move(input));
  }
  if (!out) co_return co_await layered_->stream(round_keys, nonce, bytes);
  out->resize(kBlockBytes + bytes);
  co_return std::move(*out);
}

Task<std::optional<SharedBytes>> GarbledGcm::stream_if(const SharedBytes& round_keys,
                                                       GcmNonce nonce, Task<SharedBytes> mask,
                                                       std::size_t bytes) {
  auto taken = TakenInstance::take(lane_, sized(kOpen, key_bytes_, stream_blocks(bytes)));
  if (!taken) co_return co_await layered_->stream_if(round_keys, nonce, std::move(mask), bytes);
  SharedBytes right = co_await std::move(mask);
  SharedBytes input = key_of(round_keys);
  input.append(protocol_.share_public(nonce));
  input.append(right);
  auto out = co_await taken->run(tag_with(nonce), std::move(input));
  if (!out)
    co_return co_await layered_->stream_if(round_keys, nonce, as_task(std::move(right)), bytes);
  const Bytes holds = co_await protocol_.open(out->slice(0, 1));
  if (holds[0] != 1) co_return std::nullopt;
  co_return out->slice(1, bytes);
}

// Beside the check of the layers that the input comes from.
Task<std::optional<SharedBytes>> GarbledGcm::run_verified(TakenInstance& taken, SharedBytes input) {
  std::optional<SharedBytes> out;
  Task<void> running = store(taken.run(tag_, std::move(input)), out);
  Task<void> checking = protocol_.verified();
  co_await both(protocol_.scheduler(), std::move(running), std::move(checking));
  co_return out;
}

Task<SharedBytes> GarbledGcm::block(const SharedBytes& round_keys, SharedBytes in) {
  auto taken = TakenInstance::take(lane_, named(kBlock, key_bytes_));
  std::optional<SharedBytes> out;
  if (taken) {
    SharedBytes input = key_of(round_keys);
    input.append(in);
    out = co_await run_verified(*taken, std::move(input));
  }
  if (!out) co_return co_await layered_->block(round_keys, std::move(in));
  co_return std::move(*out);
}

Task<bool> GarbledGcm::block_is(const SharedBytes& round_keys, SharedBytes in,
                                SharedBytes expected) {
  auto taken = TakenInstance::take(lane_, sized(kVerify, key_bytes_, expected.size()));
  std::optional<SharedBytes> out;
  if (taken) {
    SharedBytes input = key_of(round_keys);
    input.append(in);
    input.append(expected);
    out = co_await run_verified(*taken, std::move(input));
  }
  if (!out) co_return co_await layered_->block_is(round_keys, std::move(in), std::move(expected));
  const Bytes holds = co_await protocol_.open(std::move(*out));
  co_return holds[0] == 1;
}

}  // namespace tkdc
