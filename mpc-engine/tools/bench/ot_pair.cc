// SPDX-License-Identifier: Apache-2.0
// After the setup, an octet 1 and rows_at_once OTs, again and again; an octet 0, some OTs more, and
// the receiver's share of them in the clear, which the sender compares.
#include "tools/bench/ot_pair.h"

#include <nlohmann/json.hpp>

#include "ot/base_ot.h"
#include "ot/random_ot.h"
#include "tools/bench/stopwatch.h"

namespace tkdc::bench {
namespace {

using garble::Label;
using ot::Channel;
using ot::Labels;

constexpr std::uint8_t kEnd = 0, kMore = 1;
constexpr std::size_t kCompared = 5000;
const Bytes kContext = {'b', 'e', 'n', 'c', 'h'};

template <class Role>
Result<nlohmann::json> run_side(const OtRun& run, Role& role, Channel& channel, bool leads) {
  const Stopwatch setup;
  if (auto made = role.set_up(); !made) return made.error();
  nlohmann::json out = {{"setup_s", setup.wall_s()}, {"setup_cpu_s", setup.cpu_s()}};
  const Stopwatch watch;
  std::uint64_t ots = 0;
  for (std::uint8_t more = kMore;; ots += run.rows_at_once) {
    if (leads) more = watch.wall_s() < run.seconds || ots == 0 ? kMore : kEnd;
    if (auto agreed = leads ? channel.write({&more, 1}) : channel.read({&more, 1}); !agreed)
      return agreed.error();
    if (more == kEnd) break;
    if (auto done = role.extend(run.rows_at_once); !done) return done.error();
  }
  out["seconds"] = watch.wall_s();
  out["cpu_s"] = watch.cpu_s();
  out["ots"] = ots;
  out["sent"] = channel.sent();
  if (auto right = role.compare(); !right) return right.error();
  return out;
}

class SenderRole {
 public:
  SenderRole(const OtRun& run, Channel& channel) : run_(run), channel_(channel) {}

  Result<void> set_up() {
    Label delta;
    randombytes_buf(&delta, sizeof delta);
    delta.low |= 1;
    std::vector<std::uint8_t> choices;
    for (std::size_t c = 0; c < ot::kColumns; ++c) choices.push_back(ot::base_choice(delta, c));
    Labels keys(ot::kColumns);
    if (auto got = ot::receive_base(channel_, kContext, choices, keys); !got) return got;
    auto made = ot::ExtensionSender::create(channel_, kContext, delta, keys, run_.options);
    if (!made) return made.error();
    extension_ = std::move(*made);
    return {};
  }
  Result<void> extend(std::size_t rows) {
    if (run_.form == OtForm::kCorrelated) return extension_->extend(rows, [](auto) {});
    return ot::send_random(channel_, *extension_, rows, [](auto, auto) {});
  }
  Result<void> compare() {
    Labels zero, one;
    const auto keep = [&](auto of_zero, auto of_one) {
      zero.insert(zero.end(), of_zero.begin(), of_zero.end());
      one.insert(one.end(), of_one.begin(), of_one.end());
    };
    if (auto done = ot::send_random(channel_, *extension_, kCompared, keep); !done) return done;
    Labels rows(kCompared), keys(kCompared);
    if (auto got = channel_.read_all(std::span(rows)); !got) return got;
    if (auto got = channel_.read_all(std::span(keys)); !got) return got;
    for (std::size_t j = 0; j < kCompared; ++j)
      if (keys[j] != (rows[j].colour() == 0 ? zero[j] : one[j]))
        return fail("bench: an OT's keys do not fit");
    return {};
  }

 private:
  const OtRun& run_;
  Channel& channel_;
  std::unique_ptr<ot::ExtensionSender> extension_;
};

class ReceiverRole {
 public:
  ReceiverRole(const OtRun& run, Channel& channel) : run_(run), channel_(channel) {}

  Result<void> set_up() {
    Labels zero(ot::kColumns), one(ot::kColumns);
    if (auto sent = ot::send_base(channel_, kContext, zero, one); !sent) return sent;
    auto made = ot::ExtensionReceiver::create(channel_, kContext, zero, one, run_.options);
    if (!made) return made.error();
    extension_ = std::move(*made);
    return {};
  }
  Result<void> extend(std::size_t rows) {
    if (run_.form == OtForm::kCorrelated) return extension_->extend(rows, [](auto) {});
    return ot::receive_random(channel_, *extension_, rows, [](auto, auto) {});
  }
  Result<void> compare() {
    Labels rows, keys;
    const auto keep = [&](auto of_rows, auto of_keys) {
      rows.insert(rows.end(), of_rows.begin(), of_rows.end());
      keys.insert(keys.end(), of_keys.begin(), of_keys.end());
    };
    if (auto done = ot::receive_random(channel_, *extension_, kCompared, keep); !done) return done;
    if (auto sent = channel_.write_all(std::span<const Label>(rows)); !sent) return sent;
    return channel_.write_all(std::span<const Label>(keys));
  }

 private:
  const OtRun& run_;
  Channel& channel_;
  std::unique_ptr<ot::ExtensionReceiver> extension_;
};

template <class Role>
Result<nlohmann::json> run_role(const OtRun& run, bool leads, BulkWriter& out, BulkReader& in) {
  Channel channel(out, in, kPatienceMs);
  Role role(run, channel);
  auto report = run_side(run, role, channel, leads);
  return finished(std::move(report), out, in);
}

}  // namespace

Result<OtFigures> measure_ot(const OtRun& run) {
  StreamPair pair;
  pair.transport = run.transport;
  pair.options.ring_bytes = std::size_t{2} << 20;
  auto report = run_duplex_pair(
      pair,
      [&](BulkWriter& out, BulkReader& in) { return run_role<SenderRole>(run, true, out, in); },
      [&](BulkWriter& out, BulkReader& in) { return run_role<ReceiverRole>(run, false, out, in); });
  if (!report) return report.error();
  const auto &sender = (*report)["first"], &receiver = (*report)["second"];
  OtFigures figures;
  figures.ots = sender["ots"].get<std::uint64_t>();
  const double ots = static_cast<double>(figures.ots);
  figures.ots_per_s = ots / sender["seconds"].get<double>();
  figures.sender_cpu_ns = 1e9 * sender["cpu_s"].get<double>() / ots;
  figures.receiver_cpu_ns = 1e9 * receiver["cpu_s"].get<double>() / ots;
  figures.octets = (sender["sent"].get<double>() + receiver["sent"].get<double>()) / ots;
  figures.setup_ms = 1e3 * sender["setup_s"].get<double>();
  figures.setup_cpu_ms =
      1e3 * (sender["setup_cpu_s"].get<double>() + receiver["setup_cpu_s"].get<double>());
  return figures;
}

}  // namespace tkdc::bench
