// SPDX-License-Identifier: Apache-2.0
// What is left behind of secrets: on the stack, and in memory that goes back to the allocator.
#include <cstdlib>
#include <cstring>
#include <new>

#include "lut/aes.h"
#include "lut/lut_parties.h"
#include "support/own_stack.h"

namespace tkdc::lut {
namespace {

// Octets for which memory is looked through when this thread gives it back.
thread_local std::span<const std::uint8_t> watched_for;
thread_local int given_back = 0;

}  // namespace
}  // namespace tkdc::lut

// SecretVector does not come by here: it wipes. Inlined, g++ takes them for a mismatched pair.
[[gnu::noinline]] void* operator new(std::size_t octets) {
  void* out = std::malloc(octets == 0 ? 1 : octets);
  if (out == nullptr) throw std::bad_alloc();
  return out;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t octets) noexcept {
  const auto of = tkdc::lut::watched_for;
  if (!of.empty() && memory != nullptr && memmem(memory, octets, of.data(), of.size()) != nullptr)
    ++tkdc::lut::given_back;
  std::free(memory);
}

namespace tkdc::lut {
namespace {

TEST(LutLeftBehind, NoStatesOfAesOnTheStack) {
  OwnStack stack;
  Labels blocks(16), round_keys(176), seen;
  std::mt19937_64 generator(1);
  for (Labels* all : {&blocks, &round_keys})
    for (Label& one : *all) one = {generator(), generator()};
  const Substitute substitute = [&](std::span<Label> octets) -> Result<void> {
    seen.assign(octets.begin(), octets.end());
    return {};
  };
  stack.run([&] { EXPECT_TRUE(encrypt(substitute, round_keys, blocks)); });
  ASSERT_EQ(seen.size(), 16u);
  for (const Label& one : seen) EXPECT_FALSE(stack.has(one));
  stack.run([&] {
    Label state[16];
    std::copy(seen.begin(), seen.end(), state);
    asm volatile("" : : "r"(state) : "memory");
  });
  EXPECT_TRUE(stack.has(seen[0])) << "the control: states would have been found";
}

// The garbler's shares of 1, 2, 3 … are these; the evaluator goes before it has them.
TEST(LutLeftBehind, NoSharesOfOutputsInFreedMemory) {
  Bytes shares(32);
  for (std::size_t k = 0; k < shares.size(); ++k) shares[k] = static_cast<std::uint8_t>(k + 1);
  const auto counted = [&](const auto& body) {
    given_back = 0;
    watched_for = std::span(shares).first(16);
    body();
    watched_for = {};
    return given_back;
  };
  EXPECT_EQ(counted([&] { Bytes copy(shares); }), 1) << "the control";
  int left = 1;
  const Outcome outcome = with_dealers(
      [&](Dealer& dealer) -> Result<void> {
        Labels octets;
        for (const std::uint8_t one : shares) octets.push_back(dealer.multiple(one));
        left = counted([&] { EXPECT_FALSE(output(dealer, octets)); });
        return {};
      },
      [](Dealer& dealer) -> Result<void> {
        auto checked = dealer.check();
        return checked ? dealer.session().end("for a test") : checked;
      });
  EXPECT_EQ(left, 0);
}

}  // namespace
}  // namespace tkdc::lut
