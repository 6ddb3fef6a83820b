// SPDX-License-Identifier: Apache-2.0
// Admission before m1: copies that differ end the job alone, and nothing of it leaves; verdicts
// that are told differently are in the course; and what a garbler does with an agent's difference
// where admission is left out (a control).
#include <type_traits>

#include "trio.h"

namespace tkdc::threegarble {
namespace {

const circuit::Circuit kSmall = small_circuit();

// run() takes an Admitted, which by_owner() alone makes, and which serves once.
static_assert(!std::is_default_constructible_v<Admitted> && !std::is_aggregate_v<Admitted>);
static_assert(!std::is_constructible_v<Admitted, JobTag, SharedBytes>);
static_assert(!std::is_constructible_v<Admitted, const JobTag&, SharedBytes>);
static_assert(!std::is_copy_constructible_v<Admitted> && !std::is_copy_assignable_v<Admitted>);
static_assert(std::is_invocable_v<decltype(run), LaneSide&, const Shape&, Instance, Admitted>);
static_assert(!std::is_invocable_v<decltype(run), LaneSide&, const Shape&, Instance, SharedBytes>);

TEST(Admission, LetsAJobThroughThatAllHoldAlike) {
  const Shape shape = shape_for(kSmall);
  for (std::uint64_t n = 0; n < 6; ++n) {
    Trio trio(n);
    ASSERT_TRUE(trio.prepare(shape, n));
    const Bytes input = random_octets(2);
    const JobTag tag;
    ASSERT_TRUE(trio.admit_and_run(shape, {tag, tag, tag}, trio.lanes.share(input)).ok());
    EXPECT_EQ(trio.result(), in_the_clear(kSmall, input));
  }
}

// Each copy of each component, each bit: the job ends alone, at all three, before m1.
TEST(Admission, CopiesThatDifferEndTheJobAloneAndNothingLeaves) {
  const Shape shape = shape_for(kSmall);
  for (std::uint64_t n = 0; n < 3; ++n)
    for (std::size_t p = 0; p < 3; ++p)
      for (const std::size_t component : {0u, 1u})
        for (std::size_t bit = 0; bit < 16; ++bit) {
          Trio trio(bit);
          ASSERT_TRUE(trio.prepare(shape, n));
          auto inputs = trio.lanes.share(random_octets(2));
          inputs[p].component[component][bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
          const JobTag tag;
          int packets = 0;
          trio.lanes.record = [&](int, const SecretVector&, const SecretVector&) { ++packets; };
          ASSERT_TRUE(trio.admit_and_run(shape, {tag, tag, tag}, inputs).ok());
          EXPECT_EQ(trio.refused, (std::array{true, true, true}));
          EXPECT_EQ(packets, 6);  // statements and verdicts
          // The lane goes on, with the same instance.
          const Bytes input{3, 7};
          ASSERT_TRUE(trio.admit_and_run(shape, {tag, tag, tag}, trio.lanes.share(input)).ok());
          EXPECT_EQ(trio.result(), in_the_clear(kSmall, input));
        }
}

// Each holder compares, and by itself: it takes neither neighbour's word, nor the caller's.
TEST(Admission, TakesBothStatementsAndAllVerdicts) {
  const auto made = [] {
    SharedBytes input(2);
    input.component[1] = SecretVector(2, 9);
    return Statements(0, JobTag(), std::move(input));
  };
  const auto heard = [&](bool prev, bool next) {
    Statements one = made();
    const SecretVector other(kDigestBytes, 1);
    return one.hear(prev ? one.to_prev() : other, next ? one.to_next() : other);
  };
  EXPECT_EQ(heard(true, true), Statements::kAdmit);
  EXPECT_EQ(heard(false, true), Statements::kRefuse);
  EXPECT_EQ(heard(true, false), Statements::kRefuse);
  EXPECT_EQ(made().hear(Bytes(), Bytes()), Statements::kRefuse);
  // Nothing was heard.
  EXPECT_FALSE(made().settle(Statements::kAdmit, Statements::kAdmit).has_value());
  for (const auto& [prev, next] : {std::pair{0, 1}, {1, 0}, {2, 1}, {1, 0xff}}) {
    Statements one = made();
    ASSERT_EQ(one.hear(one.to_prev(), one.to_next()), Statements::kAdmit);
    EXPECT_FALSE(std::move(one)
                     .settle(static_cast<std::uint8_t>(prev), static_cast<std::uint8_t>(next))
                     .has_value());
  }
}

// What is public of the job is in the statements.
TEST(Admission, JobsThatDifferAreRefused) {
  const Shape shape = shape_for(kSmall);
  for (std::size_t told = 0; told < 3; ++told)
    for (int field = 0; field < 4; ++field) {
      Trio trio(told);
      std::array<JobTag, 3> tags;
      if (field == 0) tags[told].job = 1;
      if (field == 1) tags[told].attempt = 1;
      if (field == 2) tags[told].mode = 1;
      if (field == 3) tags[told].about[31] = 1;
      ASSERT_TRUE(trio.admit_and_run(shape, tags, trio.lanes.share(Bytes(2, 1))).ok());
      EXPECT_EQ(trio.refused, (std::array{true, true, true}));
    }
}

// One that says "yes" to one and "no" to the other: their courses differ, and so does D_pub. The
// next handshake compares courses (session/course_tail.h).
TEST(Admission, SplitVerdictsAreInTheCourse) {
  const Shape shape = shape_for(kSmall);
  for (std::size_t liar = 0; liar < 3; ++liar)
    for (const bool to_next : {false, true}) {
      Trio trio(liar);
      ASSERT_TRUE(trio.prepare(shape, 0));
      std::size_t packets = 0;
      trio.lanes.tamper = [&](int p, SecretVector& prev, SecretVector& next) {
        if (packets++ / 3 != 1 || p != static_cast<int>(liar)) return;
        (to_next ? next : prev)[0] = Statements::kRefuse;
      };
      const JobTag tag;
      EXPECT_FALSE(trio.admit_and_run(shape, {tag, tag, tag}, trio.lanes.share(Bytes{1, 2})).ok());
      for (const Outcome& outcome : trio.outcomes) EXPECT_EQ(outcome.ending, Ending::kBurned);
      const auto course = [&](std::size_t p) { return trio.lanes.lane[p % 3]->course().tail(); };
      EXPECT_TRUE(contradict(course(liar + 1), course(liar + 2)));
    }
}

// ---- an agent gives E another x_e (or x_{e+1}) than the honest garbler; the other garbler knows

struct Collusion {
  Trio trio{5};
  Shape shape = shape_for(kSmall);
  Bytes input = random_octets(2);
  std::array<SharedBytes, 3> inputs = trio.lanes.share(input);

  Collusion(std::uint64_t n, Role liar, const Bytes& difference) {
    EXPECT_TRUE(trio.prepare(shape, n));
    const Role honest = liar == Role::kGarblerA ? Role::kGarblerB : Role::kGarblerA;
    const auto e = static_cast<std::size_t>(Trio::party_of(Role::kEvaluator, n));
    xor_octets(inputs[e].component[component_with(Role::kEvaluator, honest)], difference);
    // In the liar's m1: the colours that it tells of the other's wires, the last octets.
    auto packets = std::make_shared<std::size_t>(0);
    trio.lanes.tamper = [=, this](int p, SecretVector& prev, SecretVector& next) {
      const std::size_t message = (*packets)++;
      SecretVector& m1 = liar == Role::kGarblerA ? prev : next;
      if (p != Trio::party_of(liar, n) || message / 3 != tick || m1.size() < 2) return;
      for (std::size_t k = 0; k < 2; ++k) m1[m1.size() - 2 + k] ^= difference[k];
    };
  }
  std::size_t tick = 0;  // in which m1 goes
};

// m1's checks hold one garbler's words against the other's and E's own copy: they fit.
TEST(Admission, ControlWithoutItAGarblerHidesAnAgentsDifference) {
  for (std::uint64_t n = 0; n < 3; ++n)
    for (const Role liar : {Role::kGarblerA, Role::kGarblerB}) {
      Collusion made(n, liar, {0x21, 0x80});
      const JobTag tag;
      ASSERT_TRUE(made.trio.run_job(made.shape, {tag, tag, tag}, made.inputs).ok());
      EXPECT_EQ(made.trio.result(), in_the_clear(kSmall, made.input));
    }
}

TEST(Admission, FindsAnAgentsDifferenceThatAGarblerKnows) {
  for (std::uint64_t n = 0; n < 3; ++n)
    for (const Role liar : {Role::kGarblerA, Role::kGarblerB}) {
      Collusion made(n, liar, {0x21, 0x80});
      made.tick = 2;
      const JobTag tag;
      ASSERT_TRUE(made.trio.admit_and_run(made.shape, {tag, tag, tag}, made.inputs).ok());
      EXPECT_EQ(made.trio.refused, (std::array{true, true, true}));
    }
}

// ---- copies that differ after admission: no agent's doing

TEST(Copies, ThatDifferAfterAdmissionLatchBothGarblers) {
  const Shape shape = shape_for(kSmall);
  for (std::uint64_t n = 0; n < 3; ++n)
    for (const Role role : {Role::kGarblerA, Role::kGarblerB})
      for (std::size_t bit = 0; bit < 16; ++bit) {
        Trio trio(bit);
        ASSERT_TRUE(trio.prepare(shape, n));
        auto inputs = trio.lanes.share(random_octets(2));
        const auto p = static_cast<std::size_t>(Trio::party_of(role, n));
        const std::size_t component =
            component_with(role, role == Role::kGarblerA ? Role::kGarblerB : Role::kGarblerA);
        inputs[p].component[component][bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
        const JobTag tag;
        EXPECT_FALSE(trio.run_job(shape, {tag, tag, tag}, inputs).ok());
        for (int q = 0; q < 3; ++q) {
          // The garblers say which it is.
          const std::string why = trio.lanes.lane[q]->deviation().value_or("");
          EXPECT_NE(why.find(role_of(q, n) == Role::kEvaluator ? "wrongly" : "copy of an input"),
                    std::string::npos)
              << why;
          EXPECT_EQ(trio.outcomes[static_cast<std::size_t>(q)].ending, Ending::kBurned);
        }
      }
}

// A garbler that says so of copies that do not differ, having spoilt its m1: no way to end jobs
// again and again.
TEST(Copies, ThatAGarblerOnlySaysDifferLatchTheHonest) {
  const Shape shape = shape_for(kSmall);
  for (std::uint64_t n = 0; n < 3; ++n)
    for (const Role liar : {Role::kGarblerA, Role::kGarblerB}) {
      Trio trio(n);
      ASSERT_TRUE(trio.prepare(shape, n));
      std::size_t packets = 0;
      trio.lanes.tamper = [&](int p, SecretVector& prev, SecretVector& next) {
        const std::size_t tick = packets++ / 3;
        if (p != Trio::party_of(liar, n) || tick > 1) return;
        // m1 to E; then the component's digest to the other garbler.
        const bool is_a = liar == Role::kGarblerA;
        SecretVector& packet = (is_a == (tick == 0)) ? prev : next;
        packet.back() ^= 1;
      };
      const JobTag tag;
      EXPECT_FALSE(trio.run_job(shape, {tag, tag, tag}, trio.lanes.share(Bytes{1, 2})).ok());
      for (int p = 0; p < 3; ++p)
        if (p != Trio::party_of(liar, n)) {
          EXPECT_TRUE(trio.lanes.lane[p]->deviation().has_value());
        }
    }
}

// The other two components: E holds them against what garblers say, and whoever lied is one of
// three.
TEST(Copies, OfEvaluatorsComponentsThatDifferEndTheLane) {
  const Shape shape = shape_for(kSmall);
  for (std::uint64_t n = 0; n < 3; ++n)
    for (const std::size_t component : {0u, 1u})
      for (std::size_t bit = 0; bit < 16; ++bit) {
        Trio trio(bit);
        ASSERT_TRUE(trio.prepare(shape, n));
        auto inputs = trio.lanes.share(random_octets(2));
        const auto e = static_cast<std::size_t>(Trio::party_of(Role::kEvaluator, n));
        inputs[e].component[component][bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
        const JobTag tag;
        EXPECT_FALSE(trio.run_job(shape, {tag, tag, tag}, inputs).ok());
      }
}

}  // namespace
}  // namespace tkdc::threegarble
