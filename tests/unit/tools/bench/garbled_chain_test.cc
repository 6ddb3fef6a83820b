// SPDX-License-Identifier: Apache-2.0
// Chains of tkdc bench garble: right ends are taken, wrong ones and other lengths are not.
#include "tools/bench/garbled_chain.h"

#include <gtest/gtest.h>

namespace tkdc::bench {
namespace {

constexpr std::uint64_t kLinks = 3;

struct Ends {
  Bytes zero, colours;
};

Ends run(const Chain& chain, const ChainValues& values, std::size_t instances) {
  ChainGarbler side(chain, instances, garble::fastest_kernel());
  garble::Evaluator evaluator(instances);
  ChainLabels labels = side.labels_of(values);
  std::vector<Bytes> tables(instances, Bytes(1 << 20));
  for (std::uint64_t link = 0; link < kLinks; ++link) {
    std::vector<std::uint8_t*> to;
    for (Bytes& one : tables) to.push_back(one.data());
    const std::vector<const std::uint8_t*> from(to.begin(), to.end());
    side.garbler.begin(chain.schedule, side.zero.span());
    evaluator.begin(chain.schedule, labels.span());
    const std::size_t octets = side.garbler.garble(to, tables[0].size());
    EXPECT_EQ(evaluator.evaluate(from, octets), octets);
    EXPECT_TRUE(evaluator.done());
    side.zero.take_output(side.garbler);
    labels.take_output(evaluator);
  }
  return {side.zero.colours(), labels.colours()};
}

TEST(GarbledChain, OnlyTheRightEndIsTaken) {
  for (const Chain& chain : make_chains())
    for (const std::size_t instances : {std::size_t{1}, garble::kSideBySide}) {
      const ChainValues values(chain, instances), others(chain, instances);
      const Ends ends = run(chain, values, instances);
      EXPECT_TRUE(values.check(kLinks, ends.zero, ends.colours).ok()) << chain.name;
      EXPECT_FALSE(values.check(kLinks + 1, ends.zero, ends.colours).ok());
      EXPECT_FALSE(others.check(kLinks, ends.zero, ends.colours).ok());
      EXPECT_FALSE(values.check(kLinks, ends.zero, ByteSpan(ends.colours).first(8)).ok());
      for (std::size_t k = 0; k < ends.colours.size(); k += 7) {
        Bytes wrong = ends.colours;
        wrong[k] ^= 1;
        EXPECT_FALSE(values.check(kLinks, ends.zero, wrong).ok());
      }
    }
}

}  // namespace
}  // namespace tkdc::bench
