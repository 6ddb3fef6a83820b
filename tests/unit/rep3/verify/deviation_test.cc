// SPDX-License-Identifier: Apache-2.0
// One party deviates in one message: over many random secrets each fixed
// deviation is always caught or never matters, and no wrong output is released.
// TKDC_DEVIATIONS=n samples n deviations for each protocol (default 30; `make
// deviations` takes many), each over TKDC_SECRETS secrets (default 6).
#include "checked_protocols.h"

#include "protocol/replicated.h"

namespace tkdc::test {
namespace {

Deviation random_deviation(std::mt19937_64& rng, const std::vector<MessageSize>& sizes) {
  Deviation d;
  for (;;) {
    d.party = static_cast<int>(rng() % 3);
    d.to_prev = rng() % 4 != 0;
    d.tick = rng() % sizes.size();
    const std::size_t bytes = d.to_prev ? sizes[d.tick].to_prev : sizes[d.tick].to_next;
    if (bytes == 0) continue;
    d.offset = rng() % bytes;
    d.mask = static_cast<std::uint8_t>(1u << rng() % 8);
    return d;
  }
}

class Deviations : public testing::TestWithParam<CheckedProtocol> {};

TEST_P(Deviations, AreAlwaysCaughtOrNeverMatter) {
  const CheckedProtocol& protocol = GetParam();
  const std::vector<MessageSize> sizes = sizes_of(protocol);
  const std::size_t secrets = setting("TKDC_SECRETS", 6);
  Trials trials(protocol);
  std::mt19937_64 rng(9);
  std::size_t caught = 0, harmless = 0;
  for (std::size_t k = 0; k < setting("TKDC_DEVIATIONS", 30); ++k) {
    const Deviation deviation = random_deviation(rng, sizes);
    const std::size_t aborted = trials.aborts(deviation, secrets);
    EXPECT_TRUE(aborted == 0 || aborted == secrets)
        << protocol.name << ": " << deviation << ": " << aborted << " of " << secrets;
    (aborted == 0 ? harmless : caught)++;
  }
  RecordProperty("caught", static_cast<int>(caught));
  RecordProperty("harmless", static_cast<int>(harmless));
  EXPECT_GT(caught, harmless);
}

INSTANTIATE_TEST_SUITE_P(Protocols, Deviations, testing::ValuesIn(checked_protocols()),
                         [](const auto& one) {
                           std::string name = one.param.name;
                           std::erase(name, '-');
                           return name;
                         });

// All message bits of an AES block's layers are claimed: none is harmless.
TEST(DeviationsOfAes, NoLayerBitIsHarmless) {
  const CheckedProtocol& protocol = checked_protocol("aes-block");
  Trials trials(protocol);
  const std::vector<MessageSize> sizes = sizes_of(protocol);
  ASSERT_GT(sizes.size(), 40u);
  for (std::size_t tick : {0u, 1u, 2u, 3u, 37u, 38u, 39u})  // 4 layers, first and last rounds
    for (std::size_t bit = 0; bit < 8 * sizes[tick].to_prev; bit += 3) {
      Deviation d{1, true, tick, bit / 8, static_cast<std::uint8_t>(1u << bit % 8)};
      EXPECT_EQ(trials.aborts(d, 1), 1u) << d;
    }
}

// Nor of a compression of the fewest bits, the filling of its octets included: of step 0's f,
// of steps with Ch, Parity and Maj, of a step's last bits, of the state's sums.
TEST(DeviationsOfSha1Bits, NoLayerBitIsHarmless) {
  const CheckedProtocol& protocol = checked_protocol("sha1-bits");
  Trials trials(protocol);
  const std::vector<MessageSize> sizes = sizes_of(protocol);
  ASSERT_GE(sizes.size(), Sha1::kRippleRounds);
  for (std::size_t tick : {0u, 1u, 30u, 600u, 1200u, 2134u, 2160u, 2164u}) {
    ASSERT_GT(sizes[tick].to_prev, 0u);
    for (std::size_t bit = 0; bit < 8 * sizes[tick].to_prev; ++bit) {
      Deviation d{static_cast<int>(bit % 3), true, tick, bit / 8,
                  static_cast<std::uint8_t>(1u << bit % 8)};
      EXPECT_EQ(trials.aborts(d, 1), 1u) << d;
    }
  }
}

// The selective failure of a check of the S-box's input and output alone: an
// error in e shows exactly when the S-box's input is not 0. Here it always shows.
TEST(DeviationsOfAes, AnErrorInTheInverseShowsWhateverTheInput) {
  for (const std::uint8_t input : {0, 1, 77}) {
    const CheckedProtocol protocol = {
        "aes-chosen", 176, [input](Rep3Protocol& c, SharedBytes secret) {
          return [](Rep3Protocol& cc, SharedBytes keys, std::uint8_t value) -> Task<SharedBytes> {
            // S-box inputs of the first round are `value`: the block is it + round key 0.
            SharedBytes block = keys.slice(0, 16);
            xor_public(block, cc.rep3.party(), Bytes(16, value));
            SharedBytes out = co_await cc.aes.encrypt(keys, std::move(block));
            co_return out;
          }(c, std::move(secret), input);
        }};
    const std::size_t secrets = setting("TKDC_SECRETS", 20);
    EXPECT_EQ(Trials(protocol).aborts(Deviation{0, true, 2, 3, 0x10}, secrets), secrets)
        << int{input};
  }
}

}  // namespace
}  // namespace tkdc::test
