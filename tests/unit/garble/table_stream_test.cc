// SPDX-License-Identifier: Apache-2.0
// Tables over a bulk stream: rings of any size, streams that break.
#include "garble/table_stream.h"

#include <thread>

#include "garbled.h"
#include "link/memory_bulk_stream.h"

namespace tkdc::garble {
namespace {

using circuit::Schedule;
using circuit::schedule_of;

constexpr int kPatienceMs = 20'000;

struct Sides {
  Sides(std::size_t instances, const Schedule& schedule)
      : garbler(spans_of(seeds_of(5, instances))), evaluator(instances),
        zero(garbler.draw_inputs(circuit::Circuit::total(schedule.inputs))) {
    begin(schedule);
  }
  // All inputs 0.
  void begin(const Schedule& schedule) {
    garbler.begin(schedule, zero.span());
    evaluator.begin(schedule, zero.span());
  }
  Garbler garbler;
  Evaluator evaluator;
  SecretLabels zero;
};

TEST(TableStream, CarriesCircuitsThroughRingsOfAnySize) {
  const circuit::Circuit circuit = circuit::circuit_named("aes128");
  const Schedule schedule = schedule_of(circuit);
  circuit::Plain c;
  const auto expected = circuit::apply(
      c, circuit, circuit::BitSpan<circuit::Plain>(circuit::Bits<circuit::Plain>(256, 0)));
  for (const std::size_t instances : {std::size_t{1}, kSideBySide})
    for (const std::size_t ring : {std::size_t{1000}, std::size_t{70'000}, std::size_t{1} << 20}) {
      Sides sides(instances, schedule);
      MemoryBulkStream stream = make_memory_bulk_stream("garbler", "evaluator", {ring, 30'000});
      std::thread garbling([&] {
        TableStream tables(instances, kPatienceMs);
        for (int round = 0; round < 3; ++round) {
          if (round > 0) sides.garbler.begin(schedule, sides.zero.span());
          EXPECT_TRUE(tables.send(sides.garbler, *stream.writer).ok());
        }
        stream.writer->finish();
      });
      TableStream tables(instances, kPatienceMs);
      for (int round = 0; round < 3; ++round) {
        if (round > 0) sides.evaluator.begin(schedule, sides.zero.span());
        EXPECT_TRUE(tables.receive(sides.evaluator, *stream.reader).ok());
      }
      garbling.join();
      EXPECT_TRUE(sides.evaluator.done());
      for (std::size_t k = 0; k < 128; ++k)
        for (std::size_t s = 0; s < instances; ++s)
          EXPECT_EQ(sides.evaluator.output(k, s),
                    sides.garbler.output(k, s) ^ sides.garbler.delta(s).where(expected[k] & 1));
      EXPECT_LE(stream.reader->counters().most_buffered, ring);
      auto event = stream.reader->wait(1, kPatienceMs);
      ASSERT_TRUE(event.ok());
      EXPECT_EQ(*event, BulkReader::Event::kEnd);
    }
}

TEST(TableStream, AStreamThatBreaksIsAnErrorAtBothEnds) {
  const Schedule schedule = schedule_of(circuit::circuit_named("aes128"));
  Sides sides(1, schedule);
  MemoryBulkStream stream = make_memory_bulk_stream("garbler", "evaluator", {1000, 30'000});
  std::thread garbling([&] {
    auto sent = TableStream(1, kPatienceMs).send(sides.garbler, *stream.writer);
    ASSERT_FALSE(sent.ok());
    EXPECT_NE(sent.error().message.find("evaluator"), std::string::npos);
  });
  Bytes some(500);
  EXPECT_TRUE(stream.reader->read(some, kPatienceMs).ok());
  stream.reader->abort("no more");
  garbling.join();
  EXPECT_FALSE(TableStream(1, kPatienceMs).receive(sides.evaluator, *stream.reader).ok());
}

// Also where the ring holds all of the tables, and nobody would have to wait for it.
TEST(TableStream, NothingIsTakenOfAStreamThatWasAborted) {
  const Schedule schedule = schedule_of(circuit::circuit_named("add64"));
  Sides sides(1, schedule);
  MemoryBulkStream stream = make_memory_bulk_stream("garbler", "evaluator");
  ASSERT_TRUE(TableStream(1, kPatienceMs).send(sides.garbler, *stream.writer).ok());
  ASSERT_TRUE(stream.reader->wait(1, kPatienceMs).ok());
  stream.reader->abort("no more");
  EXPECT_FALSE(TableStream(1, kPatienceMs).receive(sides.evaluator, *stream.reader).ok());

  Sides others(1, schedule);
  MemoryBulkStream gone = make_memory_bulk_stream("garbler", "evaluator");
  gone.writer->abort("no more");
  EXPECT_FALSE(TableStream(1, kPatienceMs).send(others.garbler, *gone.writer).ok());
}

TEST(TableStream, TablesThatEndTooEarlyAreAnError) {
  const Schedule schedule = schedule_of(circuit::circuit_named("add64"));
  Sides sides(1, schedule);
  MemoryBulkStream stream = make_memory_bulk_stream("garbler", "evaluator");
  Bytes some(500);
  EXPECT_TRUE(stream.writer->write(some, kPatienceMs).ok());
  stream.writer->finish();
  auto got = TableStream(1, kPatienceMs).receive(sides.evaluator, *stream.reader);
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.error().message.find("too early"), std::string::npos);
  EXPECT_FALSE(sides.evaluator.done());
}

TEST(TableStream, AnEvaluatorThatDoesNotReadMakesTheGarblerWait) {
  const Schedule schedule = schedule_of(circuit::circuit_named("aes128"));
  Sides sides(1, schedule);
  MemoryBulkStream stream = make_memory_bulk_stream("garbler", "evaluator", {40'000, 0});
  auto sent = TableStream(1, 50).send(sides.garbler, *stream.writer);
  ASSERT_FALSE(sent.ok());
  EXPECT_LE(stream.writer->counters().most_buffered, 40'000u);
  EXPECT_LT(sides.garbler.tweak(), 2u * 3000);
}

}  // namespace
}  // namespace tkdc::garble
