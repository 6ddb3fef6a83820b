// SPDX-License-Identifier: Apache-2.0
// SEAL and OPEN of enctypes 17 and 18 at a ticket's length, from end to end: both servers have the
// key's record stored, an agent deals message and pad and takes the answer, and libkrb5 has the
// key.
#include "pair/stored_enctype.h"

namespace tkdc::pair {
namespace {

constexpr std::size_t kPlainBytes = 249, kOverheadBytes = 28;

// Two servers, the agent's part, and libkrb5.
class PairEnctype : public testing::TestWithParam<std::uint32_t>, protected StoredEnctype {
 protected:
  PairEnctype() : StoredEnctype(GetParam()) {}

  // The circuit `name` of what the record holds, `confounder` bits that nobody knows, and the
  // agent's message. The agent's answer.
  Bytes compute_for_agent(const std::string& name, std::size_t confounder, const Bytes& message) {
    const PairCircuit circuit(
        circuit::schedule_of(with_pad(circuits::record(*circuits::find_named(name)))));
    std::mt19937_64 generator(1);
    const Bits pad = random_bits(generator, circuit.schedule.output_bits.size());
    Bits secret = bits_of(message);
    secret.insert(secret.end(), pad.begin(), pad.end());
    std::array<Dealt, 2> dealt = deal_input(secret, Label{}, draw_coin());
    Bits answers[2];
    const auto server = [&](std::size_t p) {
      return [&, p](Session& session) -> Result<void> {
        MemoryPosition position;
        auto reserved = reserve(session, pools()[p], position, 1);
        auto held = reserved ? bridge(session, *reserved, record[p], kKeyName) : reserved.error();
        if (!held) return held.error();
        auto prepared = prepared_for(session, circuit);
        if (!prepared) return prepared.error();
        const auto of_ke = ke(*held), of_ki = ki(*held);
        if (!of_ke || !of_ki) return fail("the record is too short");
        dealt[p].session = session.id();
        auto received = get_dealt(put_dealt(dealt[p]), secret.size());
        if (!received) return received.error();
        Inputs inputs(std::move(*received));
        inputs.held(*of_ke).held(*of_ki).random(confounder).dealt(secret.size());
        auto answer = compute(session, *prepared, inputs);
        if (!answer) return answer.error();
        answers[p] = std::move(*answer);
        return {};
      };
    };
    const Outcome outcome = with_sessions(server(0), server(1), 0, {}, {});
    EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
    auto taken = output_of_both(answers[0], answers[1], pad);
    answers[1][7] ^= 1;
    EXPECT_FALSE(output_of_both(answers[0], answers[1], pad).ok())
        << "a server that answers wrongly";
    return taken ? packed(*taken) : Bytes();
  }
};

TEST_P(PairEnctype, SealsATicketThatLibkrb5Opens) {
  const Bytes plain = drawn_octets(kPlainBytes);
  const Bytes sealed =
      compute_for_agent("seal" + number + ":" + std::to_string(kPlainBytes), 128, plain);
  ASSERT_EQ(sealed.size(), kPlainBytes + kOverheadBytes);
  EXPECT_EQ(whole.open(kUsage, sealed), plain);
}

TEST_P(PairEnctype, OpensATicketThatLibkrb5Sealed) {
  const Bytes plain = drawn_octets(kPlainBytes), sealed = whole.seal(kUsage, plain);
  const std::string name = "open" + number + ":" + std::to_string(sealed.size());
  const Bytes answer = compute_for_agent(name, 0, sealed);
  ASSERT_EQ(answer.size(), 1 + kPlainBytes);
  EXPECT_EQ(answer[0], 1);  // it holds
  EXPECT_EQ(Bytes(answer.begin() + 1, answer.end()), plain);
}

INSTANTIATE_TEST_SUITE_P(Enctypes, PairEnctype, testing::Values(17u, 18u));

}  // namespace
}  // namespace tkdc::pair
