// SPDX-License-Identifier: Apache-2.0
// On the stream: the labels of the first inputs; an octet 1 and the tables of a link, again and
// again; an octet 0 and the colours of the last outputs' zero-labels.
#include "tools/bench/garble_pair.h"

#include <nlohmann/json.hpp>

#include "garble/table_stream.h"
#include "tools/bench/stopwatch.h"

namespace tkdc::bench {
namespace {

using garble::TableStream;

constexpr std::uint8_t kEnd = 0, kLink = 1;

template <class T>
std::span<std::uint8_t> octets_of(std::span<T> labels) {
  return {reinterpret_cast<std::uint8_t*>(labels.data()), labels.size_bytes()};
}

Result<nlohmann::json> garble_chain(const Chain& chain, const ChainValues& values,
                                    std::size_t instances, const garble::Kernel& kernel,
                                    double seconds, BulkWriter& writer) {
  ChainGarbler side(chain, instances, kernel);
  TableStream tables(instances, kPatienceMs);
  ChainLabels labels = side.labels_of(values);
  if (auto sent = writer.write(octets_of(labels.span()), kPatienceMs); !sent) return sent.error();
  const Stopwatch watch;
  std::uint64_t links = 0;
  for (; watch.wall_s() < seconds || links == 0; ++links) {
    if (auto sent = writer.write({&kLink, 1}, kPatienceMs); !sent) return sent.error();
    side.garbler.begin(chain.schedule, side.zero.span());
    if (auto sent = tables.send(side.garbler, writer); !sent) return sent.error();
    side.zero.take_output(side.garbler);
  }
  Bytes end = side.zero.colours();
  end.insert(end.begin(), kEnd);
  if (auto sent = writer.write(end, kPatienceMs); !sent) return sent.error();
  writer.finish();
  auto done = writer.wait_finished(kPatienceMs);
  if (!done) return done.error();
  if (!*done) return fail("bench: the evaluator does not confirm the end");
  return nlohmann::json{{"links", links},
                        {"octets", writer.counters().octets},
                        {"cpu_s", watch.cpu_s()},
                        {"seconds", watch.wall_s()}};
}

Result<nlohmann::json> evaluate_chain(const Chain& chain, const ChainValues& values,
                                      std::size_t instances, const garble::Kernel& kernel,
                                      BulkReader& reader) {
  garble::Evaluator evaluator(instances, kernel);
  TableStream tables(instances, kPatienceMs);
  ChainLabels labels(chain, garble::SecretLabels(chain.input_bits() * instances));
  if (auto got = reader.read(octets_of(labels.span()), kPatienceMs); !got) return got.error();
  const Stopwatch watch;
  std::uint64_t links = 0;
  for (;; ++links) {
    std::uint8_t next = kEnd;
    if (auto got = reader.read({&next, 1}, kPatienceMs); !got) return got.error();
    if (next != kLink) break;
    evaluator.begin(chain.schedule, labels.span());
    if (auto got = tables.receive(evaluator, reader); !got) return got.error();
    labels.take_output(evaluator);
  }
  const double cpu_s = watch.cpu_s();
  Bytes zero_colours(8 * chain.chained_bytes * instances);
  if (auto got = reader.read(zero_colours, kPatienceMs); !got) return got.error();
  auto event = reader.wait(1, kPatienceMs);
  if (!event) return event.error();
  if (*event != BulkReader::Event::kEnd) return fail("bench: octets behind the chain's end");
  if (auto right = values.check(links, zero_colours, labels.colours()); !right)
    return right.error();
  return nlohmann::json{{"links", links}, {"cpu_s", cpu_s}};
}

}  // namespace

Result<PairFigures> measure_garbled_pair(const Chain& chain, std::size_t instances,
                                         const garble::Kernel& kernel, Transport transport,
                                         double seconds) {
  const ChainValues values(chain, instances);
  StreamPair pair;
  pair.transport = transport;
  auto report = run_stream_pair(
      pair,
      [&](BulkWriter& writer) {
        return garble_chain(chain, values, instances, kernel, seconds, writer);
      },
      [&](BulkReader& reader) { return evaluate_chain(chain, values, instances, kernel, reader); });
  if (!report) return report.error();
  const auto& garbler = (*report)["writer"];
  const auto& evaluator = (*report)["reader"];
  if (garbler["links"] != evaluator["links"]) return fail("bench: the evaluator has missed links");
  PairFigures figures;
  figures.ands = garbler["links"].get<std::uint64_t>() * chain.ands * instances;
  const double ands = static_cast<double>(figures.ands), wall_s = garbler["seconds"];
  figures.ands_per_s = ands / wall_s;
  figures.octets_per_s = garbler["octets"].get<double>() / wall_s;
  figures.garbler_cpu_ns = 1e9 * garbler["cpu_s"].get<double>() / ands;
  figures.evaluator_cpu_ns = 1e9 * evaluator["cpu_s"].get<double>() / ands;
  return figures;
}

}  // namespace tkdc::bench
