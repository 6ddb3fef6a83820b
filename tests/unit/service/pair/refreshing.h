// SPDX-License-Identifier: Apache-2.0
// Two servers that refresh their keys, and what a thief has of them.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>

#include "service/operation/keys.h"
#include "service/pair/pair_blocks.h"
#include "service/pair/pair_pools.h"
#include "service/store/kept_values.h"
#include "service/store/move_table.h"
#include "service/store/refresh_table.h"
#include "support/krb5_client.h"
#include "two_services.h"

namespace tkdc {

using test::Krb5Client;

class PairRefreshTest : public testing::Test {
 protected:
  using Dump = std::set<Bytes>;  // of 16 octets each

  static TwoServices::Job mac_of(const KeyRef& ref) {
    return {TKDC_OP_MAC, ref, 56, {}, random_octets(4)};
  }
  // ---- sessions, one after the other, as servers make them
  void begin_session() {
    two.join();
    begun_with_ = refreshed(0).epoch;
    two.start_session();
  }
  void pump_until(const std::function<bool()>& what) {
    for (int k = 0; k < 12'000 && !what(); ++k) {
      if (two.is_over()) begin_session();
      if (two.is_left_alone()) two.break_link();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_TRUE(what()) << two.ended(0) << "; " << two.ended(1);
  }
  RefreshState refreshed(std::size_t p) { return two.store(p).refresh()->state(); }
  bool has_ended(std::uint32_t epoch) {
    return refreshed(0).epoch == epoch && refreshed(1).epoch == epoch;
  }
  void refresh(std::size_t p) {
    const std::uint32_t epoch = refreshed(p).epoch + 1;
    two.service(p).ask_shares(ShareTask::kRefresh);
    pump_until_it_serves(epoch);
  }
  // It ends with its session: the next one is up.
  void pump_until_it_serves(std::uint32_t epoch) {
    pump_until([&] { return has_ended(epoch); });
    pump_until([&] { return begun_with_ == epoch && two.is_up(); });
  }
  void restart() {
    two.stop();
    two.restart();
  }

  void serves(const KeyRef& ref, Krb5Client& whole) {
    const TwoServices::Job job = mac_of(ref);
    const auto out = two.ask(job);
    ASSERT_EQ(out.both(), TKDC_STATUS_OK) << out.message[0] << two.ended(0) << two.ended(1);
    EXPECT_EQ(out.output, whole.checksum(56, job.input));
  }
  KeyRecord record(std::size_t p, const KeyRef& ref) { return **two.store(p).get(ref.id); }
  std::vector<pair::Label> pools(std::size_t p) {
    PairPools of(*two.store(p).values(), p == 0 ? pair::Side::kGarbler : pair::Side::kEvaluator);
    EXPECT_TRUE(of.load().ok());
    EXPECT_FALSE(of.has_old() && !of.refreshing());
    std::vector<pair::Label> out;
    for (const PairPools::Count& one : of.counts()) out.push_back(one.id);
    return out;
  }
  pair::Label delta(std::size_t p) {
    PairPools of(*two.store(p).values(), p == 0 ? pair::Side::kGarbler : pair::Side::kEvaluator);
    EXPECT_TRUE(of.load().ok());
    return of.find(of.counts().at(0).id)->deltas.delta;
  }

  // ---- a thief
  // All that a store has, by 16 octets: records, Δ's and blocks of pools.
  Dump dump(std::size_t p, const std::vector<KeyRef>& keys) {
    Dump out;
    const auto add = [&](ByteSpan octets, std::size_t from) {
      for (; from + 16 <= octets.size(); from += 16)
        out.emplace(octets.begin() + static_cast<std::ptrdiff_t>(from),
                    octets.begin() + static_cast<std::ptrdiff_t>(from) + 16);
    };
    for (const KeyRef& ref : keys)
      for (const auto& [name, field] : record(p, ref).fields)
        for (const int c : {0, 1}) add(field.component[c], 0);
    ValueTable& values = *two.store(p).values();
    const std::vector<std::string> names = values.names("pool/").value();
    for (const std::string& name : names)
      add(**values.get(name), kept::is_head(name) ? kept::kHeadBytes - 16 : 0);
    return out;
  }
  // Whether something of the one and something of the other are a key.
  static bool make(const Dump& one, const Dump& other, const Bytes& key) {
    return std::ranges::any_of(one, [&](Bytes part) {
      for (std::size_t k = 0; k < part.size(); ++k) part[k] ^= key[k];
      return other.contains(part);
    });
  }
  std::pair<KeyRef, Bytes> draw_key(const std::string& principal) {
    KeyRef ref = two.stage(kEnctype, {});
    const auto out = two.ask({TKDC_OP_EXPORT, ref, 0, {}, {}, AgentRole::kAdmin});
    EXPECT_EQ(out.both(), TKDC_STATUS_OK);
    EXPECT_EQ(two.bind(ref, principal).both(), TKDC_STATUS_OK);
    return {ref, out.output};
  }
  // What server q reads of a key is another one, under MACs made by a Δ of the other server's.
  void forge(std::size_t q, const pair::Label& by) {
    two.store(q).read_hook = [by](KeyRecord& of) {
      SharedBytes& field = of.fields.at(field_name(56, "kc"));
      auto blocks = get_blocks(field).value();
      const pair::Label flip{5, 9};
      blocks[0].own = blocks[0].own ^ flip;
      blocks[0].mac = blocks[0].mac ^ ot::field().product(flip, by);
      field = put_blocks(blocks);
    };
  }

  // ---- a thief of memory
  // Whether the bits of a block of this record are in this process, as a session has them.
  bool is_in_memory(const KeyRecord& of) {
    const pair::Label own = get_blocks(of.fields.at(field_name(56, "kc"))).value()[0].own;
    return in_memory([&](const std::uint8_t* at, std::size_t octets) {
      constexpr std::size_t kBits = pair::kBlockBits, kEach = sizeof(pair::AuthBit);
      for (std::size_t from = 0; from + kBits * kEach <= octets; from += 16) {
        std::size_t j = 0;
        while (j < kBits && (at[from + j * kEach] & 1) == pair::bit_of(own, j)) ++j;
        if (j == kBits) return true;
      }
      return false;
    });
  }
  // Of each mapping that may be written and is no file's, as the kernel reads it.
  static bool in_memory(const std::function<bool(const std::uint8_t*, std::size_t)>& found) {
    std::ifstream maps("/proc/self/maps");
    std::ifstream memory("/proc/self/mem", std::ios::binary);
    for (std::string line; std::getline(maps, line);) {
      std::uint64_t first = 0, end = 0, inode = 0;
      char rights[5] = {};
      if (std::sscanf(line.c_str(), "%lx-%lx %4s %*s %*s %lu", &first, &end, rights, &inode) != 4)
        continue;
      if (rights[1] != 'w' || inode != 0 || end - first > std::size_t{1} << 30) continue;
      SecretVector page(end - first);  // its octets are in memory, too, until it goes
      memory.clear();
      memory.seekg(static_cast<std::streamoff>(first));
      memory.read(reinterpret_cast<char*>(page.data()), static_cast<std::streamsize>(page.size()));
      if (found(page.data(), static_cast<std::size_t>(memory.gcount()))) return true;
    }
    return false;
  }

  // Of as many users, all with this one.
  std::vector<KeyRef> make_keys(int count, const Bytes& key) {
    std::vector<KeyRef> keys;
    for (int k = 0; k < count; ++k)
      keys.push_back(two.make_key("u" + std::to_string(k) + "@R", kEnctype, key));
    return keys;
  }
  // In its store, while no session is up.
  void last_move_is(std::size_t p, std::uint32_t number) {
    Bytes state;
    Writer(state).u32(number);
    Writer(state).u32(0);
    ASSERT_TRUE(two.store(p).values()->put(std::array{NamedValue{kept::kMoveState, state}}).ok());
  }

  bool ahead = true, leads = true;
  std::chrono::milliseconds again{5000};
  std::array<std::uint64_t, 2> moves_ahead{1u << 20, 1u << 20};
  std::uint32_t begun_with_ = 0;  // the refresh epoch, of the last session
  TwoServices two{512, [this](JobServiceOptions& options) {
                    options.pair_ahead = ahead && (leads || options.party != 0);
                    options.pair_refresh_again = again;
                    options.pair_moves_ahead = moves_ahead[static_cast<std::size_t>(options.party)];
                  }};
};

}  // namespace tkdc
