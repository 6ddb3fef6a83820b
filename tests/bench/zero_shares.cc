// SPDX-License-Identifier: Apache-2.0
// What zero-shares cost on this CPU, generator by generator in turn, so that other load falls on
// all alike: CPU time per octet, and per AES block of each party's messages.
//
//   bench-zero-shares [ROUNDS]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "rep3/zero_stream.h"

namespace {

// What Prss makes at once, in the cache; so often in a round.
constexpr std::size_t kPieceBytes = 16 * 1024, kPieces = 2048;
// A party's messages for a block: 18 bits for each of 16 S-boxes in each of 10 rounds.
constexpr double kBlockBytes = 18.0 / 8 * 16 * 10;

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tkdc;
  if (sodium_init() < 0) return 1;
  int rounds = 11;
  CLI::App app("what each generator of zero-shares costs");
  app.add_option("rounds", rounds)->check(CLI::Range(1, 1'000'000));
  CLI11_PARSE(app, argc, argv);
  SecretBuffer mine(32), next(32);
  const ZeroStreamKeys keys = {mine.span(), next.span()};
  std::vector<std::unique_ptr<ZeroStream>> streams;
  for (auto make :
       {zero_stream_vaes, zero_stream_openssl, zero_stream_chacha20_avx512, zero_stream_chacha20})
    if (auto stream = make(keys)) streams.push_back(std::move(stream));
  std::vector<std::vector<double>> ns(streams.size());
  SecretVector out(kPieceBytes);
  for (int round = 0; round < rounds; ++round)
    for (std::size_t k = 0; k < streams.size(); ++k) {
      const double before = cpu_ns();
      for (std::size_t piece = 0; piece < kPieces; ++piece)
        streams[k]->next(out.data(), out.size());
      ns[k].push_back((cpu_ns() - before) / static_cast<double>(kPieces * kPieceBytes));
    }
  std::printf("generator ns/octet ns/AES-128-block: median, least, most of %d\n", rounds);
  for (std::size_t k = 0; k < streams.size(); ++k) {
    std::ranges::sort(ns[k]);
    const double median = ns[k][ns[k].size() / 2];
    std::printf("%s %.4f %.1f %.1f %.1f\n", streams[k]->name(), median, median * kBlockBytes,
                ns[k].front() * kBlockBytes, ns[k].back() * kBlockBytes);
  }
  return 0;
}
