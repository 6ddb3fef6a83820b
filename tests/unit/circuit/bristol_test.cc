// SPDX-License-Identifier: Apache-2.0
// Bristol Fashion: round trips, known answers, and text that is refused.
#include "circuit/bristol.h"

#include "random_circuit.h"

namespace tkdc::circuit {
namespace {

// x AND NOT y, and x; a copy, a constant, and an XOR that nobody needs.
constexpr std::string_view kSmall =
    "5 7\n"
    "2 1 1\n"
    "2 1 1\n"
    "\n"
    "1 1 1 2 INV\n"
    "1 1 1 3 EQ\n"
    "2 1 2 3 4 XOR\n"
    "1 1 0 6 EQW\n"
    "2 1 0 2 5 AND\n";

TEST(Bristol, ReadsEachKindOfGate) {
  const auto circuit = read_bristol(kSmall);
  ASSERT_TRUE(circuit.ok()) << circuit.error().message;
  EXPECT_EQ(circuit->inputs, (std::vector<Port>{{"in0", 1}, {"in1", 1}}));
  EXPECT_EQ(circuit->outputs, (std::vector<Port>{{"out0", 1}, {"out1", 1}}));
  EXPECT_EQ(counts_of(*circuit), (GateCounts{1, 1, 1, 1}));
  Plain c;
  const Bits<Plain> x = {0b0011, 0b0101};
  EXPECT_EQ(apply(c, *circuit, BitSpan<Plain>(x)), (Bits<Plain>{0b0010, 0b0011}));
}

TEST(Bristol, RoundTripsRandomCircuits) {
  std::mt19937_64 generator(23);
  Plain c;
  for (int round = 0; round < 1000; ++round) {
    Circuit circuit = random_circuit(generator);
    const auto again = read_bristol(write_bristol(circuit));
    ASSERT_TRUE(again.ok()) << again.error().message;
    const Bits<Plain> x = random_slices(generator, circuit.input_bits());
    ASSERT_EQ(apply(c, *again, BitSpan<Plain>(x)), apply(c, circuit, BitSpan<Plain>(x)));
    ASSERT_EQ(again->gates, circuit.gates);
    ASSERT_EQ(again->output_wires, circuit.output_wires);
  }
}

Bytes run_read(const char* name, std::initializer_list<Bytes> inputs) {
  const auto circuit = read_bristol(write_bristol(circuit_named(name)));
  EXPECT_TRUE(circuit.ok());
  std::vector<SecretSlices> slices;
  for (const Bytes& one : inputs) slices.push_back(slices_of(ByteSpan(one)));
  return bytes_of(evaluate(schedule_of(*circuit), slices)[0], 0);
}

// FIPS 197, appendix C.1; FIPS 180-4's "abc".
TEST(Bristol, AesAndSha256GiveKnownAnswersAfterIt) {
  const Bytes keys = run_read("aes128-expand", {octets("000102030405060708090a0b0c0d0e0f")});
  EXPECT_EQ(to_hex(run_read("aes128-encrypt", {keys, octets("00112233445566778899aabbccddeeff")})),
            "69c4e0d86a7b0430d8cdb78070b4c55a");
  Bytes block = octets("61626380");
  block.resize(64);
  block[63] = 24;
  EXPECT_EQ(
      to_hex(run_read(
          "sha256",
          {octets("6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19"), block})),
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Bristol, RefusesEveryTruncation) {
  // Without its last line end the text is whole.
  for (std::size_t bytes = 0; bytes + 1 < kSmall.size(); ++bytes)
    EXPECT_FALSE(read_bristol(kSmall.substr(0, bytes)).ok()) << bytes;
  EXPECT_TRUE(read_bristol(kSmall.substr(0, kSmall.size() - 1)).ok());
}

std::string changed(std::string_view from, std::string_view to) {
  std::string text(kSmall);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Bristol, SaysInWhichLineWhatIsWrong) {
  const std::tuple<std::string, const char*, const char*> cases[] = {
      {changed("2 1 0 2 5 AND", "2 1 0 7 5 AND"), "line 9: ", "'7' is more than the 6"},
      {changed("2 1 0 2 5 AND", "2 1 0 2 7 AND"), "line 9: ", "'7' is more than the 6"},
      {changed("2 1 0 2 5 AND", "2 1 0 5 5 AND"), "line 9: ", "wire 5 is used before"},
      {changed("2 1 0 2 5 AND", "2 1 0 2 4 AND"), "line 9: ", "wire 4 is defined already"},
      {changed("2 1 0 2 5 AND", "2 1 0 2 1 AND"), "line 9: ", "wire 1 is defined already"},
      {changed("2 1 0 2 5 AND", "2 1 0 2 5 NAND"), "line 9: ", "unknown gate 'NAND'"},
      {changed("2 1 0 2 5 AND", "2 1 0 2 5"), "line 9: ", "unknown gate '5'"},
      {changed("2 1 0 2 5 AND", "2 1 0 5 AND"), "line 9: ", "expected '2 1 a b out AND'"},
      {changed("2 1 0 2 5 AND", "1 1 0 2 5 AND"), "line 9: ", "expected '2 1 a b out AND'"},
      {changed("2 1 0 2 5 AND", "2 2 0 2 5 AND"), "line 9: ", "expected '2 1 a b out AND'"},
      {changed("2 1 0 2 5 AND", "2 1 -1 2 5 AND"), "line 9: ", "'-1' is no wire"},
      {changed("2 1 0 2 5 AND", "2 1 0x 2 5 AND"), "line 9: ", "'0x' is no wire"},
      {changed("2 1 0 2 5 AND", "2 1 99999999999999999999999 2 5 AND"), "line 9: ", "more than"},
      {changed("1 1 1 2 INV", "2 1 1 0 2 INV"), "line 5: ", "expected '1 1 a out INV'"},
      {changed("1 1 1 3 EQ", "1 1 2 3 EQ"), "line 6: ", "'2' is more than the 1"},
      {changed("1 1 0 6 EQW", "1 1 6 6 EQW"), "line 8: ", "wire 6 is used before"},
      {changed("5 7", "5"), "line 1: ", "numbers of gates and of wires"},
      {changed("5 7", "five 7"), "line 1: ", "'five' is no number of gates"},
      {changed("5 7", "5 8"), "line 2: ", "8 wires are not the inputs' 2"},
      {changed("5 7", "5 6"), "line 2: ", "6 wires are not the inputs' 2"},
      {changed("5 7", "60000000 60000002"), "line 1: ", "more gates than a text of"},
      {changed("5 7", "99999999999999999999 7"), "line 1: ", "more than the 67108864"},
      {changed("5 7", "18446744073709551615 7"), "line 1: ", "more than the 67108864"},
      {changed("5 7", "5 18446744073709551615"), "line 1: ", "more than the"},
      {changed("2 1 1\n2", "2 1\n2"), "line 2: ", "expected 2 widths"},
      {changed("2 1 1\n2", "2 1 0\n2"), "line 2: ", "a value of no bits"},
      {changed("2 1 1\n2", "2 4194304 1\n2"), "line 2: ", "more than the 0 allowed"},
      {changed("2 1 1\n2", "2 18446744073709551615 1\n2"), "line 2: ", "more than the 4194304"},
      {changed("2 1 1\n2", "5000 1 1\n2"), "line 2: ", "more than the 4096"},
      {changed("2 1 1\n\n", "2 1 9\n\n"), "line 3: ", "more output bits than wires"},
      {std::string(kSmall) + "2 1 0 1 6 XOR\n", "line 10: ", "more lines than gates"}};
  for (const auto& [text, line, what] : cases) {
    const auto circuit = read_bristol(text);
    ASSERT_FALSE(circuit.ok()) << what;
    EXPECT_EQ(circuit.error().message.rfind(line, 0), 0u) << circuit.error().message;
    EXPECT_NE(circuit.error().message.find(what), std::string::npos) << circuit.error().message;
  }
}

TEST(Bristol, TakesWhatOthersWrite) {
  std::string text(kSmall);
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
    text.replace(at, 1, "\r\n");
  EXPECT_TRUE(read_bristol(text).ok());
  EXPECT_TRUE(read_bristol(changed("1 1 1 2 INV", "\n 1  1 1\t2 INV ")).ok());
}

TEST(Bristol, SurvivesAnyChangedLetter) {
  std::mt19937_64 generator(29);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < kSmall.size(); ++at)
    for (const char letter : std::string_view("\0\n 0179-xXA\xff", 12)) {
      std::string text(kSmall);
      text[at] = letter;
      const auto circuit = read_bristol(text);
      if (circuit.ok())
        EXPECT_TRUE(is_sound(*circuit));
      else
        ++refused;
    }
  EXPECT_GT(refused, 500u);
}

}  // namespace
}  // namespace tkdc::circuit
