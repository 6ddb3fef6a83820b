// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_talk.h"

#include <algorithm>
#include <cstring>

namespace tkdc {
namespace {

constexpr const char* kNoOrder = "says what is no order: its version may be another one";

constexpr std::uint8_t kWanted = 1, kRoundKeys = 2;

void put(Writer& out, const PairStatement& statement) {
  out.u8(statement.verdict);
  out.raw(statement.opened);
  out.u8(static_cast<std::uint8_t>(statement.held));
  out.u16(statement.ready);
  const PairByTables& tables = statement.tables;
  out.u8(static_cast<std::uint8_t>((tables.wanted ? kWanted : 0) |
                                   (tables.round_keys ? kRoundKeys : 0)));
  out.u16(tables.ready);
  out.u32(tables.left.forward);
  out.u32(tables.left.inverse);
  out.u64(tables.left.bits);
}

bool get(Reader& in, PairStatement& out) {
  out.verdict = in.u8();
  in.array(out.opened);
  const std::uint8_t held = in.u8();
  out.held = static_cast<PairHeld>(held);
  out.ready = in.u16();
  const std::uint8_t flags = in.u8();
  out.tables.wanted = (flags & kWanted) != 0;
  out.tables.round_keys = (flags & kRoundKeys) != 0;
  out.tables.ready = in.u16();
  out.tables.left.forward = in.u32();
  out.tables.left.inverse = in.u32();
  out.tables.left.bits = in.u64();
  return held <= 2 && flags <= (kWanted | kRoundKeys) &&
         (out.verdict <= TKDC_STATUS_DEAL_AGAIN || out.verdict == kMissing);
}

Error unclear(const ot::Channel& channel) { return fail(channel.peer() + " " + kNoOrder); }

void put_records(Writer& out, const PairOrder& order) {
  out.raw({reinterpret_cast<const std::uint8_t*>(&order.pool), sizeof order.pool});
  out.u32(order.number);
  out.u16(static_cast<std::uint16_t>(order.records.size()));
  for (const PairOrder::Record& one : order.records) {
    out.raw(one.id);
    out.u32(one.version);
  }
}

bool get_records(Reader& in, PairOrder& out) {
  const ByteSpan pool = in.raw(sizeof out.pool);
  out.number = in.u32();
  const std::size_t count = in.u16();
  if (in.failed() || count > PairOrder::kMostRecords) return false;
  std::memcpy(&out.pool, pool.data(), sizeof out.pool);
  out.records.resize(count);
  for (PairOrder::Record& one : out.records) {
    in.array(one.id);
    one.version = in.u32();
  }
  return in.complete();
}

bool decode(ByteSpan body, PairOrder& out) {
  Reader in(body);
  switch (out.kind) {
    case PairOrder::Kind::kAlive: break;
    case PairOrder::Kind::kJob:
      out.job.agent = in.u64();
      out.job.run = in.u64();
      out.job.number = in.u64();
      if (!get(in, out.statement)) return false;
      out.made = in.u8();
      if (out.made > PairOrder::kMostMade) return false;
      break;
    case PairOrder::Kind::kPrepare:
    case PairOrder::Kind::kForget: out.circuit = in.text(PairOrder::kMostText); break;
    case PairOrder::Kind::kTables: {
      const std::uint8_t way = in.u8();
      if (way > 1) return false;
      out.way = static_cast<PairTables::Way>(way);
      break;
    }
    case PairOrder::Kind::kBridge:
    case PairOrder::Kind::kMove:
    case PairOrder::Kind::kErase: return get_records(in, out);
    case PairOrder::Kind::kEnd:
      out.number = in.u32();
      out.left = in.u8();
      break;
    default: return false;
  }
  return in.complete();
}

}  // namespace

Result<void> say(ot::Channel& channel, const PairOrder& order) {
  Bytes body, frame;
  Writer out(body), head(frame);
  if (order.kind == PairOrder::Kind::kJob) {
    out.u64(order.job.agent);
    out.u64(order.job.run);
    out.u64(order.job.number);
    put(out, order.statement);
    out.u8(order.made);
  } else if (order.is_of_pools()) {
    put_records(out, order);
  } else if (order.kind == PairOrder::Kind::kEnd) {
    out.u32(order.number);
    out.u8(order.left);
  } else if (order.kind == PairOrder::Kind::kTables) {
    out.u8(static_cast<std::uint8_t>(order.way));
  } else if (order.kind != PairOrder::Kind::kAlive) {
    out.text(order.circuit);
  }
  head.u8(static_cast<std::uint8_t>(order.kind));
  head.u16(static_cast<std::uint16_t>(body.size()));
  head.raw(body);
  return channel.write(frame);
}

Result<PairOrder> hear_order(ot::Channel& channel) {
  std::uint8_t head[3];
  if (auto got = channel.read(head); !got) return got.error();
  Reader in(head);
  PairOrder out;
  out.kind = static_cast<PairOrder::Kind>(in.u8());
  const std::size_t bytes = in.u16();
  if (bytes > PairOrder::kMostBytes) return unclear(channel);
  Bytes body(bytes);
  if (auto got = channel.read(body); !got) return got.error();
  if (!decode(body, out)) return unclear(channel);
  return out;
}

Result<void> say(ot::Channel& channel, const PairStatement& statement) {
  Bytes octets;
  Writer out(octets);
  put(out, statement);
  return channel.write(octets);
}

Result<PairStatement> hear_statement(ot::Channel& channel) {
  Bytes octets(PairStatement::kBytes);
  if (auto got = channel.read(octets); !got) return got.error();
  Reader in(octets);
  PairStatement out;
  if (!get(in, out) || !in.complete()) return unclear(channel);
  return out;
}

bool has_alike(const PairStatement& own, const PairStatement& peers) {
  return own.ready == peers.ready && own.tables.ready == peers.tables.ready &&
         own.tables.left == peers.tables.left;
}

Result<bool> both_say(ot::Channel& channel, bool own) {
  const std::uint8_t word = own ? 1 : 0;
  std::uint8_t peers = 0;
  auto done = channel.write({&word, 1});
  if (done) done = channel.read({&peers, 1});
  if (!done) return done.error();
  if (peers > 1) return unclear(channel);
  return own && peers == 1;
}

Verdict concluded(const PairStatement& own, const PairStatement& peers) {
  if (own.verdict == kMissing || peers.verdict == kMissing) return kMissing;
  if (own.verdict == peers.verdict) {
    const bool alike = own.verdict != kAdmit || own.opened == peers.opened;
    return alike ? own.verdict : Verdict{TKDC_STATUS_INCONSISTENT};
  }
  const auto counted = [](Verdict one) {
    return tkdc_status_is_refusal(one) ? Verdict{TKDC_STATUS_INCONSISTENT} : one;
  };
  return std::max(counted(own.verdict), counted(peers.verdict));
}

}  // namespace tkdc
