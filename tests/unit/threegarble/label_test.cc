// SPDX-License-Identifier: Apache-2.0
// A garbler sends labels that are none, with colours that fit. What E computes of them is noise
// that depends on E's other labels, and m2 has its digest: whoever knows all labels tries which of
// them E held, and reads x_e. An honest garbler would veto in m3, since it finds m2 wrong; this one
// says "good". What is in its way is that E holds labels against what T commits to, before it
// evaluates.
//
// Built twice: as it is, and as a control with E's check of the colours alone
// (bare_label_check.cc).
#include "garble/evaluator.h"
#include "trio.h"

namespace tkdc::threegarble {
namespace {

#ifdef TKDC_WITHOUT_COMMITMENTS
constexpr bool kChecked = false;
#else
constexpr bool kChecked = true;
#endif

constexpr std::size_t kBits = 8;

circuit::Circuit ring_of_ands() {
  circuit::Recorder c;
  const auto x = c.input("x", kBits);
  circuit::Bits<circuit::Recorder> y;
  for (std::size_t k = 0; k < kBits; ++k) y.push_back(c.and_of(x[k], x[(k + 1) % kBits]));
  c.output("y", circuit::BitSpan<circuit::Recorder>(y));
  return c.finish();
}

// A, that spoils its labels of u, and what it hears. n is 0: A is party 1.
struct Spoiler {
  Trio trio{randombytes_random()};
  Shape shape = shape_for(ring_of_ands());
  MappedVector<std::uint8_t> tables;  // A garbled them itself
  garble::SecretLabels noise{kBits};
  Bytes m2;

  Spoiler() {
    EXPECT_TRUE(trio.prepare(shape, 0));
    tables = std::get<CheckedTables>(*trio.instances[0]).all;
    std::size_t messages = 0;
    trio.lanes.tamper = [this, messages](int p, SecretVector& prev, SecretVector& next) mutable {
      const std::size_t tick = messages++ / 3;
      if (p == 0 && tick == 1) m2.assign(next.begin() + 1, next.end());
      if (p != 1) return;
      if (tick == 0) spoil(prev);
      if (tick == 2)
        for (SecretVector* m3 : {&prev, &next}) m3->at(kDigestBytes) = 1;
    };
  }
  // Under the stream, by what it adds: seven octets of each label and more, not its colour.
  void spoil(SecretVector& m1) {
    const Drawn drawn(trio.seat(1), shape, Trio::id_of(shape, 0));
    const SharedBytes& own = inputs[1];  // x_1 and x_2
    for (std::size_t k = 0; k < kBits; ++k) {
      std::uint8_t added[garble::kLabelBytes];
      randombytes_buf(added, sizeof added);
      added[0] &= 0xfe;
      const std::size_t at = kDigestBytes + kKeyBytes + k * garble::kLabelBytes;
      for (std::size_t j = 0; j < sizeof added; ++j) m1[at + j] ^= added[j];
      garble::Label label = drawn.u()[k] ^ drawn.delta().where(bit_of(own.component[0], k) ^
                                                               bit_of(own.component[1], k));
      auto* octets = reinterpret_cast<std::uint8_t*>(&label);
      for (std::size_t j = 0; j < sizeof added; ++j) octets[j] ^= added[j];
      noise.span()[k] = label;
    }
  }
  // Would E have sent this m2 if its x_0 were that?
  bool fits(std::uint8_t guess, const Digest& digest) const {
    const Drawn drawn(trio.seat(1), shape, Trio::id_of(shape, 0));
    garble::SecretLabels in(kBits), out(kBits);
    const Bytes x_e{guess};
    for (std::size_t k = 0; k < kBits; ++k)
      in.span()[k] = noise.span()[k] ^ drawn.v()[k] ^ drawn.delta().where(bit_of(x_e, k));
    garble::Evaluator evaluator(1, *trio.by[0], shape.first_gate_tweak());
    evaluator.begin(shape.schedule, in.span());
    for (std::size_t at = 0; !evaluator.done();) {
      const std::uint8_t* const from = tables.data() + at;
      at += evaluator.evaluate(std::span(&from, 1), shape.table_bytes - at);
    }
    // ρ follows from the colours that E told.
    for (std::size_t k = 0; k < kBits; ++k) {
      const garble::Label masked = evaluator.output(k) ^ drawn.rho()[k];
      out.span()[k] = masked ^ drawn.delta().where(masked.colour() ^ bit_of(m2, k));
    }
    const auto labels = out.span();
    const SecretVector told = label_digest(
        digest, {reinterpret_cast<const std::uint8_t*>(labels.data()), labels.size_bytes()});
    return std::equal(told.begin(), told.end(), m2.begin() + 1);
  }
  std::vector<std::uint8_t> guesses(const Digest& digest) const {
    std::vector<std::uint8_t> found;
    for (unsigned guess = 0; guess < 256; ++guess)
      if (fits(static_cast<std::uint8_t>(guess), digest))
        found.push_back(static_cast<std::uint8_t>(guess));
    return found;
  }
  std::array<SharedBytes, 3> inputs = trio.lanes.share(random_octets(1));
};

TEST(Commitments, KeepAGarblerFromReadingEvaluatorsShare) {
  for (int run = 0; run < 10; ++run) {
    Spoiler spoiler;
    Trio& trio = spoiler.trio;
    const JobTag tag;
    JobTag whole = tag;
    whole.course = trio.lanes.lane[1]->course().digest();
    const Digest digest = public_digest(Trio::id_of(spoiler.shape, 0), whole);
    const bool ran = trio.run_job(spoiler.shape, {tag, tag, tag}, spoiler.inputs).ok();
    const std::vector<std::uint8_t> found = spoiler.guesses(digest);
    // The two honest ones, E and B, alone.
    if (kChecked) {
      EXPECT_TRUE(found.empty());
      EXPECT_TRUE(sodium_is_zero(spoiler.m2.data(), spoiler.m2.size()));
      EXPECT_FALSE(ran);
      for (const int p : {0, 2}) EXPECT_TRUE(trio.lanes.lane[p]->deviation().has_value());
    } else {
      // In one job, and neither of them notices.
      EXPECT_EQ(found, std::vector<std::uint8_t>{spoiler.inputs[0].component[0][0]});
      for (const std::size_t p : {0u, 2u}) EXPECT_EQ(trio.outcomes[p].ending, Ending::kDone);
    }
  }
}

}  // namespace
}  // namespace tkdc::threegarble
