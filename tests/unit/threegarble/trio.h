// SPDX-License-Identifier: Apache-2.0
// Three servers in one thread, from a seed: what is sent ahead, and the job in a lane's ticks.
// Hooks see and change every message.
#pragma once

#include <gtest/gtest.h>

#include "circuit/plain.h"
#include "circuit/recorder.h"
#include "link/memory_bulk_stream.h"
#include "statements.h"
#include "support/three_parties.h"
#include "threegarble/run.h"

namespace tkdc::threegarble {

using test::ThreeLanes;

constexpr std::size_t kM1 = 0, kM2 = 1, kM3 = 2;  // the ticks in which they travel

// What each garbler sends E ahead.
struct Ahead {
  Bytes from_a, from_b;
};

// Two octets of ANDs, XORs and NOTs of two octets; bit 7 of the second is constant.
inline circuit::Circuit small_circuit() {
  circuit::Recorder c;
  const auto x = c.input("x", 8), y = c.input("y", 8);
  circuit::Bits<circuit::Recorder> first, second;
  for (std::size_t k = 0; k < 8; ++k)
    first.push_back(c.xor_of(c.and_of(x[k], y[k]), x[(k + 1) % 8]));
  for (std::size_t k = 0; k < 7; ++k)
    second.push_back(c.not_of(c.and_of(first[k], c.xor_of(y[(k + 3) % 8], first[k + 1]))));
  second.push_back(c.constant(true));
  c.output("first", circuit::BitSpan<circuit::Recorder>(first));
  c.output("second", circuit::BitSpan<circuit::Recorder>(second));
  return c.finish();
}

inline Bytes in_the_clear(const circuit::Circuit& circuit, ByteSpan input) {
  circuit::Plain plain;
  const circuit::SecretSlices in = circuit::slices_of(input);
  const auto out = apply(plain, circuit, circuit::BitSpan<circuit::Plain>(in.data(), in.size()));
  const SecretVector octets = circuit::octets_of(out, 0);
  return {octets.begin(), octets.end()};
}

class Trio {
 public:
  explicit Trio(std::uint64_t seed) : lanes(seed, Security::kMalicious) {
    for (int p = 0; p < 3; ++p) {
      keys.push_back(lanes.keys_of(p));
      by.push_back(&garble::fastest_kernel());
    }
  }

  // Tasks may refer to what goes first.
  ~Trio() {
    for (auto& lane : lanes.lane) lane->drop_tasks();
  }

  static int party_of(Role role, std::uint64_t n) {
    return (evaluator_of(n) + static_cast<int>(role)) % 3;
  }
  Seat seat(int party) const {
    const auto at = static_cast<std::size_t>(party);
    return {party, &keys[at], by[at]};
  }
  Seat seat_of(Role role, std::uint64_t n) const { return seat(party_of(role, n)); }
  static InstanceId id_of(const Shape& shape, std::uint64_t n) { return {0, shape.digest, n}; }

  // A server's own, made when it is first asked for: with its keys and kernel as they are then.
  LaneSide& side(int party) {
    std::unique_ptr<LaneSide>& one = sides_[party];
    if (one) return *one;
    const auto at = static_cast<std::size_t>(party);
    PairwiseKeys own;
    std::copy_n(keys[at].mine.data(), own.mine.size(), own.mine.data());
    std::copy_n(keys[at].next.data(), own.next.size(), own.next.data());
    auto joined = LaneSide::join(*lanes.lane[party], 0, std::move(own), plan, *by[at]);
    EXPECT_TRUE(joined.ok());
    one = std::move(*joined);
    return *one;
  }
  // What a server holds that has admitted this, whatever the others say: it hears its own words.
  static Admitted admitted(const JobTag& tag, const SharedBytes& input) {
    Statements own(0, tag, input);
    EXPECT_EQ(own.hear(own.to_prev(), own.to_next()), Statements::kAdmit);
    return std::move(*std::move(own).settle(Statements::kAdmit, Statements::kAdmit));
  }

  // What comes to E, and what garblers keep.
  ReceivedTables ahead(const Shape& shape, std::uint64_t n, std::optional<Instance> (&kept)[3]) {
    const InstanceId id = id_of(shape, n);
    Ahead sent;
    for (const Role role : {Role::kGarblerA, Role::kGarblerB}) {
      MemoryBulkStream stream = make_memory_bulk_stream("a garbler", "E", options(shape));
      auto garbled = send_tables(seat_of(role, n), shape, id, *stream.writer, 0);
      EXPECT_TRUE(garbled.ok());
      Bytes& to = role == Role::kGarblerA ? sent.from_a : sent.from_b;
      to.resize(*stream.reader->available());
      EXPECT_TRUE(stream.reader->read(to, 0).ok());
      kept[party_of(role, n)] = std::move(*garbled);
    }
    if (change_ahead) change_ahead(sent);
    MemoryBulkStream a = make_memory_bulk_stream("A", "E", options(shape)),
                     b = make_memory_bulk_stream("B", "E", options(shape));
    EXPECT_TRUE(a.writer->write(sent.from_a, 0).ok() && b.writer->write(sent.from_b, 0).ok());
    auto received = receive_tables(shape, id, *a.reader, *b.reader, 0);
    EXPECT_TRUE(received.ok());
    EXPECT_EQ(a.reader->buffered() + b.reader->buffered(), 0u);
    return std::move(*received);
  }
  // Whether E finds nothing wrong.
  bool prepare(const Shape& shape, std::uint64_t n) {
    const int e = party_of(Role::kEvaluator, n);
    ReceivedTables received = ahead(shape, n, instances);
    if (unchecked) {
      instances[e] =
          CheckedTables{received.id, std::move(received.all), std::move(received.mask_labels)};
      return true;
    }
    auto checked = check_tables(seat(e), shape, std::move(received));
    const bool good = checked.ok() && checked->has_value();
    if (good) instances[e] = std::move(**checked);
    return good;
  }

  // One job with the instances that are prepared; each party has its own tag and input, and each
  // holds it for admitted.
  Result<void> run_job(const Shape& shape, const std::array<JobTag, 3>& tags,
                       const std::array<SharedBytes, 3>& inputs) {
    outcomes = {};
    return lanes.run([&](int p) { return keep(shape, tags, inputs, p); });
  }
  // With admission before it. Instances stay where it is refused.
  Result<void> admit_and_run(const Shape& shape, const std::array<JobTag, 3>& tags,
                             const std::array<SharedBytes, 3>& inputs) {
    outcomes = {};
    refused = {};
    return lanes.run([&](int p) { return keep_admitted(shape, tags, inputs, p); });
  }
  Result<void> run_job(const Shape& shape, const JobTag& tag, ByteSpan input) {
    return run_job(shape, {tag, tag, tag}, lanes.share(input));
  }
  // The result, if all three came to an end.
  std::optional<Bytes> result() const {
    std::array<SharedBytes, 3> shares;
    for (std::size_t p = 0; p < 3; ++p) {
      if (outcomes[p].ending != Ending::kDone) return std::nullopt;
      shares[p] = outcomes[p].share;
    }
    EXPECT_TRUE(ThreeLanes::consistent(shares));
    return ThreeLanes::rebuild(shares);
  }
  // From the beginning to the end.
  std::optional<Bytes> compute(const Shape& shape, std::uint64_t n, ByteSpan input) {
    if (!prepare(shape, n) || !run_job(shape, JobTag{n, 0, 1, {}, {}}, input)) return std::nullopt;
    return result();
  }

  ThreeLanes lanes;
  std::vector<PairwiseKeys> keys;
  std::vector<const garble::Kernel*> by;
  LaneSide::Plan plan;
  std::optional<Instance> instances[3];
  std::array<Outcome, 3> outcomes;
  std::array<bool, 3> refused{};
  std::function<void(Ahead&)> change_ahead;
  bool unchecked = false;  // a control: E takes T as it comes

 private:
  static BulkOptions options(const Shape& shape) {
    BulkOptions options;
    options.ring_bytes = std::size_t{1} << std::bit_width(shape.all_bytes + 4096);
    return options;
  }
  Task<void> keep(const Shape& shape, const std::array<JobTag, 3>& tags,
                  const std::array<SharedBytes, 3>& inputs, int p) {
    const auto at = static_cast<std::size_t>(p);
    outcomes[at] =
        co_await run(side(p), shape, std::move(*instances[p]), admitted(tags[at], inputs[at]));
  }
  Task<void> keep_admitted(const Shape& shape, const std::array<JobTag, 3>& tags,
                           const std::array<SharedBytes, 3>& inputs, int p) {
    const auto at = static_cast<std::size_t>(p);
    std::optional<Admitted> job = co_await admit(*lanes.lane[p], 0, tags[at], inputs[at]);
    refused[at] = !job;
    if (!job) co_return;
    outcomes[at] = co_await run(side(p), shape, std::move(*instances[p]), std::move(*job));
  }

  std::unique_ptr<LaneSide> sides_[3];
};

// What each party has to have of the result: y_e = ρ, y_{e+2} the colours of zero-labels, y_{e+1}
// the rest. `n` is prepared.
inline std::array<SecretVector, 3> right_components(Trio& trio, const Shape& shape, std::uint64_t n,
                                                    const Bytes& result) {
  const int a = Trio::party_of(Role::kGarblerA, n);
  const auto e = static_cast<std::size_t>(evaluator_of(n));
  std::array<SecretVector, 3> y;
  y[e] = mask_of(trio.seat_of(Role::kEvaluator, n), shape, Trio::id_of(shape, n));
  y[(e + 2) % 3] = garblers_component(shape, std::get<GarbledInstance>(*trio.instances[a]));
  SecretVector& rest = y[(e + 1) % 3];
  rest.assign(result.begin(), result.end());
  xor_octets(rest, y[e]);
  xor_octets(rest, y[(e + 2) % 3]);
  return y;
}

inline Bytes random_octets(std::size_t bytes) {
  Bytes out(bytes);
  if (bytes > 0) randombytes_buf(out.data(), out.size());
  return out;
}

inline Shape shape_for(const circuit::Circuit& circuit) {
  auto shape = shape_of(circuit);
  EXPECT_TRUE(shape.ok()) << (shape.ok() ? "" : shape.error().message);
  return std::move(*shape);
}

}  // namespace tkdc::threegarble
