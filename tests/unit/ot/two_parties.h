// SPDX-License-Identifier: Apache-2.0
// Two parties in one process, a thread each, with a stream in each direction; and a wire between
// them that changes what one of them sends.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <thread>

#include "base/hex.h"
#include "base/now_public.h"
#include "link/memory_bulk_stream.h"
#include "ot/channel.h"

namespace tkdc::ot {

inline constexpr int kTestTimeoutMs = 20'000;

struct Ends {
  MemoryBulkStream stream;
  explicit Ends(const std::string& from, const std::string& to)
      : stream(make_memory_bulk_stream(from, to, options())) {}
  static BulkOptions options() {
    BulkOptions options;
    options.ring_bytes = std::size_t{8} << 20;
    return options;
  }
};

// Changes octet `at` of what a party sends by `with`; or, `at` beyond the end, nothing. `more`:
// others, that they may fit together; `rewrite`: what else becomes of octets that begin at `first`.
struct Change {
  std::uint64_t at = ~std::uint64_t{0};
  std::uint8_t with = 1;
  std::vector<std::pair<std::uint64_t, std::uint8_t>> more = {};
  std::function<void(std::uint64_t first, MutableByteSpan octets)> rewrite = {};

  // Of octets that begin at `first`.
  void apply(std::uint64_t first, MutableByteSpan octets) const {
    const auto one = [&](std::uint64_t where, std::uint8_t what) {
      if (where >= first && where < first + octets.size()) octets[where - first] ^= what;
    };
    one(at, with);
    for (const auto& [where, what] : more) one(where, what);
    if (rewrite) rewrite(first, octets);
  }
};

// Copies what `from` brings to `to`, until it ends or fails, with the change.
class Wire {
 public:
  Wire(BulkReader& from, BulkWriter& to, Change change, std::string& hash)
      : thread_([&from, &to, &hash, change] {
          crypto_generichash_state state;
          crypto_generichash_init(&state, nullptr, 0, 32);
          std::uint64_t at = 0;
          for (;;) {
            auto event = from.wait(1, kTestTimeoutMs);
            if (event && *event == BulkReader::Event::kEnd) {
              std::uint8_t digest[32];
              crypto_generichash_final(&state, digest, sizeof digest);
              hash = to_hex(digest);
              return to.finish();
            }
            if (!event || *event != BulkReader::Event::kOctets) break;
            Bytes octets(1 << 16);
            auto got = from.try_read(octets);
            if (!got) break;
            octets.resize(*got);
            now_public(octets.data(), octets.size());
            change.apply(at, octets);
            at += octets.size();
            crypto_generichash_update(&state, octets.data(), octets.size());
            if (auto sent = to.write(octets, kTestTimeoutMs); !sent) break;
          }
          to.abort("the other end has gone");
        }) {}
  ~Wire() { thread_.join(); }

 private:
  std::thread thread_;
};

using Party = std::function<Result<void>(Channel&)>;

struct Outcome {
  std::optional<std::string> error[2];  // of each party; none where it came to its end
  std::uint64_t sent[2] = {0, 0};
  std::string hash[2];  // of all octets of a party that came to its end
  bool ok() const { return !error[0] && !error[1]; }
};

// Runs both to their ends. `changed` is applied to what `cheat` sends.
inline Outcome run_parties(const Party& first, const Party& second, int cheat = 0,
                           Change change = {}) {
  Ends up("party 0", "wire"), up2("wire", "party 1"), down("party 1", "wire"),
      down2("wire", "party 0");
  Outcome outcome;
  const Change none;
  {
    Wire there(*up.stream.reader, *up2.stream.writer, cheat == 0 ? change : none, outcome.hash[0]);
    Wire back(*down.stream.reader, *down2.stream.writer, cheat == 1 ? change : none,
              outcome.hash[1]);
    const auto one = [&](int p, const Party& party, BulkWriter& out, BulkReader& in) {
      Channel channel(out, in, kTestTimeoutMs);
      if (auto done = party(channel); !done) {
        outcome.error[p] = done.error().message;
        channel.abort("the other party has given up");
      } else {
        out.finish();
      }
      outcome.sent[p] = channel.sent();
    };
    std::thread other([&] { one(1, second, *down.stream.writer, *up2.stream.reader); });
    one(0, first, *up.stream.writer, *down2.stream.reader);
    other.join();
  }
  return outcome;
}

}  // namespace tkdc::ot
