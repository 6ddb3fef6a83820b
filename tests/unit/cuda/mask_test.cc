// SPDX-License-Identifier: Apache-2.0
// The kernels that add zero-shares, run by the host's loops, against the CPU's streams: messages
// of all kinds of lengths from all kinds of places in the stream, and not an octet beside them.
#include <gtest/gtest.h>

#include <random>

#include "cuda/device/zero_tick.h"

namespace tkdc::cuda {
namespace {

constexpr std::size_t kGuard = 64;  // octets before and after a message, which must stay

struct Streams {
  explicit Streams(ZeroGenerator wanted) : generator(wanted) {
    for (SecretBuffer* key : {&mine, &next})
      for (std::uint8_t& octet : key->span()) octet = static_cast<std::uint8_t>(rng());
  }
  // Octets [position, position + octets) of the zero-shares, as a kernel adds them to zeros
  // with a guard around them, and as the CPU makes them.
  void compare(std::uint64_t position, std::size_t octets, int layer) {
    auto stream = make_zero_stream({mine.span(), next.span(), kRatchetBytes, generator});
    const std::uint64_t skipped = position / ZeroStream::kPieceBytes * ZeroStream::kPieceBytes;
    stream->skip(skipped);
    Tick tick{};
    const Kernel kernel =
        set_zero_share(tick, {{stream->key(0, position, octets), stream->key(1, position, octets)},
                              position,
                              generator});
    Bytes expected((position - skipped + octets) / ZeroStream::kPieceBytes *
                       ZeroStream::kPieceBytes +
                   ZeroStream::kPieceBytes);
    stream->next(expected.data(), expected.size());

    std::vector<Word> message((octets + 2 * kGuard) / sizeof(Word) + 1);
    View view{};
    view.message_octets[layer] = static_cast<std::uint32_t>(octets);
    view.mine[layer] = message.data() + kGuard / sizeof(Word);
    run_on_host(kernel + layer, view, tick);

    const auto* at = reinterpret_cast<const std::uint8_t*>(message.data());
    const std::uint8_t *begin = at + kGuard, *end = begin + octets;
    EXPECT_TRUE(std::equal(begin, end, expected.data() + (position - skipped)))
        << octets << " octets from " << position << ", layer " << layer;
    for (const std::uint8_t* guard = at; guard < at + sizeof(Word) * message.size(); ++guard)
      EXPECT_TRUE((guard >= begin && guard < end) || *guard == 0)
          << guard - begin << " beside " << octets << " octets from " << position;
  }

  const ZeroGenerator generator;
  std::mt19937_64 rng{9};
  SecretBuffer mine{32}, next{32};
};

class Masks : public testing::TestWithParam<ZeroGenerator> {};

TEST_P(Masks, AreTheCpusForEverySkipAndShortMessages) {
  Streams streams(GetParam());
  for (std::uint64_t skip = 0; skip < 2 * MaskByAes<0>::kUnitOctets; ++skip)
    for (std::size_t octets : {1u, 2u, 3u, 4u, 5u, 63u, 128u, 616u})
      streams.compare(4096 + skip, octets, static_cast<int>(skip % kLayers));
}

// Around whole thread blocks' octets: 16,384 by AES, 8,192 by ChaCha20.
TEST_P(Masks, AreTheCpusAcrossThreadBlocks) {
  Streams streams(GetParam());
  for (std::uint64_t skip : {0u, 1u, 2u, 3u, 4u, 31u, 64u, 126u, 127u})
    for (std::size_t octets : {8191u, 8192u, 16380u, 16383u, 16384u, 16385u, 16387u, 40001u})
      streams.compare(skip, octets, static_cast<int>(octets % kLayers));
}

TEST_P(Masks, AreTheCpusAnywhereInTheStream) {
  Streams streams(GetParam());
  for (int n = 0; n < 60; ++n) {
    const std::size_t octets = 1 + streams.rng() % 3000;
    streams.compare(streams.rng() % (kRatchetBytes - octets), octets, n % kLayers);
  }
  for (std::size_t octets : {1u, 5u, 127u, 128u, 129u, 20000u})  // a key's last
    streams.compare(kRatchetBytes - octets, octets, 0);
}

INSTANTIATE_TEST_SUITE_P(Generators, Masks,
                         testing::Values(ZeroGenerator::kAesCtr, ZeroGenerator::kChaCha20));

// A graph is captured once for all ticks: its threads must do for every skip.
TEST(Mask, HasThreadsForEverySkip) {
  for (std::uint32_t octets : {1u, 127u, 16258u, 16383u, 16384u, 16385u}) {
    View view{};
    view.message_octets[0] = octets;
    for (std::uint32_t skip = 0; skip < MaskByAes<0>::kUnitOctets; ++skip)
      EXPECT_GE(MaskByAes<0>::threads(view) * MaskByAes<0>::kUnitOctets, skip + octets);
    EXPECT_EQ(MaskByAes<0>::threads(view) % kThreadsPerBlock, 0u);
  }
}

}  // namespace
}  // namespace tkdc::cuda
