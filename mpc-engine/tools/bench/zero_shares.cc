// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/zero_shares.h"

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cuda/device/gpu.h"
#include "cuda/device/zero_rate.h"
#include "rep3/zero_stream.h"
#include "tools/bench/device.h"

namespace tkdc::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct ZeroArguments {
  std::string backend = "cpu";
  double seconds = 0.5;
  bool json = false;
};

constexpr ZeroGenerator kGenerators[] = {ZeroGenerator::kAesCtr, ZeroGenerator::kChaCha20};
// A party's messages for an AES-128 block: 18 bits for each of 16 S-boxes in each of 10 rounds.
constexpr double kBlockBytes = 18.0 / 8 * 16 * 10;
constexpr std::size_t kPieceBytes = 16 * 1024;  // what a lane makes at once, in the cache

void print_rate(const ZeroArguments& arguments, ZeroGenerator generator, const std::string& by,
                double bytes_per_s) {
  const double ns_per_block = 1e9 * kBlockBytes / bytes_per_s;
  if (arguments.json)
    std::cout << nlohmann::json{{"zero_shares", zero_generator_name(generator)},
                                {"by", by},
                                {"bytes_per_s", bytes_per_s},
                                {"ns_per_aes128_block", ns_per_block}}
                     .dump()
              << "\n";
  else
    std::cout << zero_generator_name(generator) << " by " << by << ": " << bytes_per_s
              << " bytes/s, " << ns_per_block << " ns for an AES-128 block\n";
}

double on_cpu(ZeroStream& stream, double seconds) {
  SecretVector out(kPieceBytes);
  const auto begin = Clock::now();
  for (std::size_t pieces = 0;;) {
    for (int k = 0; k < 64; ++k, ++pieces) stream.next(out.data(), out.size());
    const double passed = std::chrono::duration<double>(Clock::now() - begin).count();
    if (passed >= seconds) return static_cast<double>(pieces * kPieceBytes) / passed;
  }
}

int bench_zero_shares(const ZeroArguments& arguments) {
  if (arguments.backend == "cuda") {
    auto gpu = cuda::open_gpu({0, true});
    if (!gpu) return refuse_bench(gpu.error().message, kNoDevice);
    for (ZeroGenerator generator : kGenerators) {
      cuda::ZeroRateOptions options;
      options.seconds = arguments.seconds;
      auto rate = cuda::measure_zero_shares(**gpu, generator, options);
      if (!rate) return refuse_bench(rate.error().message);
      print_rate(arguments, generator, (*gpu)->name(), *rate);
    }
  }
  SecretBuffer mine(32), next(32);
  randombytes_buf(mine.data(), mine.size());
  randombytes_buf(next.data(), next.size());
  for (ZeroGenerator generator : kGenerators) {
    auto stream = make_zero_stream({mine.span(), next.span(), kRatchetBytes, generator});
    print_rate(arguments, generator, std::string("cpu, ") + stream->name(),
               on_cpu(*stream, arguments.seconds));
  }
  return 0;
}

}  // namespace

void add_zero_shares(CLI::App& bench, int& exit_status) {
  auto arguments = std::make_shared<ZeroArguments>();
  CLI::App* sub = bench.add_subcommand("zero-shares", "both generators of zero-shares");
  sub->add_option("--backend", arguments->backend, "cpu: in one thread; cuda: on GPU 0 too")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  sub->add_option("--seconds", arguments->seconds, "how long each")->check(CLI::Range(0.01, 60.0));
  sub->add_flag("--json", arguments->json, "a JSON object on a line for each");
  sub->footer("Example: each for a second:\n  tkdc bench zero-shares --seconds 1");
  sub->callback([arguments, &exit_status] { exit_status = bench_zero_shares(*arguments); });
}

}  // namespace tkdc::bench
