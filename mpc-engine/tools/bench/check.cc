// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/check.h"

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>

#include "cuda/device/check.h"
#include "cuda/device/gpu.h"
#include "cuda/device/product_rate.h"
#include "rep3/unit/aes/sbox_claims.h"
#include "rep3/unit/bits/bit_claims.h"
#include "rep3/verify/octet_check.h"
#include "tools/bench/device.h"

namespace tkdc::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Product = InnerProductCheck<Gf64Field>;

double since(Clock::time_point& last) {
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - last).count();
  last = now;
  return seconds;
}

// One batch's claims, always the same ones.
class Batch {
 public:
  explicit Batch(const CheckBench& bench)
      : shape_(bench.claims == Claims::kSboxes ? sbox_claim_shape() : bits::bit_claim_shape(1)) {
    const bool bits = bench.claims == Claims::kBits;
    const std::size_t per_block = shape_.factors.size() * gf64::kLanes * (bits ? 8 : 1);
    const std::size_t lanes_per_block =
        gf64::kLanes * (bits ? gf64::kBitSlots : gf64::kVertices) / shape_.slots;
    blocks_ = (bench.products + per_block - 1) / per_block;
    products_ = blocks_ * per_block;
    lanes_ = blocks_ * lanes_per_block;
    std::mt19937_64 rng(1);
    octets_.resize(2 * shape_.rows * lanes_);
    for (std::uint8_t& octet : octets_) octet = static_cast<std::uint8_t>(rng());
  }
  std::size_t products() const { return products_; }

  std::vector<std::unique_ptr<ClaimRows>> recorded() const {
    ClaimRows::Rows rows{};
    for (std::size_t c = 0; c < 2; ++c)
      for (std::size_t r = 0; r < shape_.rows; ++r)
        rows[c][r] = octets_.data() + (c * shape_.rows + r) * lanes_;
    std::vector<std::unique_ptr<ClaimRows>> claims;
    claims.push_back(std::make_unique<ClaimRows>(shape_));
    claims.back()->append(lanes_, rows);
    return claims;
  }

 private:
  const ClaimShape& shape_;
  std::size_t blocks_ = 0, products_ = 0, lanes_ = 0;
  SecretVector octets_;
};

// All folds but the last, which needs the other parties.
void fold_all(Product& product, std::mt19937_64& rng, Bytes& course) {
  for (product.begin_fold(); !product.last(); product.begin_fold()) {
    Bytes sent(product.message_bytes()), challenge(product.challenge_bytes());
    product.points_sent(sent.data());
    for (std::uint8_t& octet : challenge) octet = static_cast<std::uint8_t>(rng());
    product.take_points(sent.data(), sent.data());
    product.fold(challenge.data());
    course.insert(course.end(), sent.begin(), sent.end());
  }
}

// Once more; false: the device did not take it.
bool add_course(OctetDevice* device, const Batch& batch, OctetShapes& shapes, CheckCost& cost) {
  constexpr std::uint8_t kSeed[OctetCheck::kSeedBytes] = {1};
  SecretPool pool;
  std::mt19937_64 rng(2);
  auto claims = batch.recorded();
  auto last = Clock::now();
  auto on_device = OctetCheck::begin(device, claims);
  if (device != nullptr && on_device == nullptr) return false;
  auto check = std::make_unique<OctetCheck>(std::move(claims), kSeed, shapes, std::move(on_device));
  Bytes course(check->message_bytes());
  check->points(course.data());
  cost.points_s += since(last);
  std::uint8_t challenge[OctetCheck::kChallengeBytes];
  for (std::uint8_t& octet : challenge) octet = static_cast<std::uint8_t>(rng());
  Product product;
  OctetCheck::fold(std::move(check), course.data(), course.data(), challenge, product, pool);
  cost.lift_s += since(last);
  fold_all(product, rng, course);
  cost.fold_s += since(last);
  cost.course = std::move(course);
  return true;
}

struct CheckArguments {
  CheckBench bench;
  std::string backend = "cpu";
  bool json = false;
};

const char* name_of(Claims claims) { return claims == Claims::kSboxes ? "S-boxes" : "bits"; }

void print(const CheckArguments& arguments, const CheckBench& bench, const std::string& by,
           const CheckCost& cost) {
  auto ns = [&](double seconds) { return 1e9 * seconds / static_cast<double>(cost.products); };
  const nlohmann::json line = {{"claims", name_of(bench.claims)},
                               {"by", by},
                               {"products", cost.products},
                               {"points_ns", ns(cost.points_s)},
                               {"lift_ns", ns(cost.lift_s)},
                               {"fold_ns", ns(cost.fold_s)},
                               {"checked", true}};
  if (arguments.json)
    std::cout << line.dump() << "\n";
  else
    std::cout << name_of(bench.claims) << " by " << by << ": " << cost.products
              << " products, each " << line["points_ns"] << " ns at the points, " << line["lift_ns"]
              << " lifted, " << line["fold_ns"] << " folded\n";
}

void print(const CheckArguments& arguments, const std::string& by, const cuda::ProductRate& rate) {
  if (arguments.json)
    std::cout << nlohmann::json{{"claims", "none"},
                                {"by", by},
                                {"gf64_products_per_s_by_integers", rate.by_integers},
                                {"gf64_products_per_s_bit_sliced", rate.bit_sliced}}
                     .dump()
              << "\n";
  else
    std::cout << "products in GF(2^64) by " << by << ": " << rate.by_integers << "/s by integers, "
              << rate.bit_sliced << "/s bit-sliced\n";
}

// Both kinds of claims; the device, if there is one, must send what the CPU does.
Result<void> compare(const CheckArguments& arguments, cuda::Device* device) {
  for (Claims claims : {Claims::kSboxes, Claims::kBits}) {
    CheckBench bench = arguments.bench;
    bench.claims = claims;
    auto cpu = measure_check(nullptr, bench);
    if (!cpu) return cpu.error();
    print(arguments, bench, std::string("cpu, ") + gf64::kernels().name, *cpu);
    if (device == nullptr) continue;
    cuda::DeviceChecks checks(*device, 1);
    auto there = measure_check(&checks, bench);
    if (!there) return there.error();
    if (!device->health.did_all()) return fail("bench: " + device->health.why());
    if (there->course != cpu->course)
      return fail("bench: the device's check differs from the CPU's");
    print(arguments, bench, device->driver->name(), *there);
  }
  return {};
}

int bench_check(const CheckArguments& arguments) {
  std::unique_ptr<cuda::Device> device;
  if (arguments.backend == "cuda") {
    auto gpu = cuda::open_gpu({0, true});
    if (!gpu) return refuse_bench(gpu.error().message, kNoDevice);
    device = std::make_unique<cuda::Device>(std::move(*gpu));
    auto rate = cuda::measure_products(*device->driver, {.seconds = arguments.bench.seconds});
    if (!rate) return refuse_bench(rate.error().message);
    print(arguments, device->driver->name(), *rate);
  }
  auto done = compare(arguments, device.get());
  return done ? 0 : refuse_bench(done.error().message);
}

}  // namespace

Result<CheckCost> measure_check(OctetDevice* device, const CheckBench& bench) {
  const Batch batch(bench);
  OctetShapes shapes;
  CheckCost cost;
  cost.products = batch.products();
  double times = 0;
  do {
    if (!add_course(device, batch, shapes, cost))
      return fail("bench: the device did not take a batch of " + std::to_string(cost.products) +
                  " products");
    ++times;
  } while (cost.points_s + cost.lift_s + cost.fold_s < bench.seconds);
  for (double* seconds : {&cost.points_s, &cost.lift_s, &cost.fold_s}) *seconds /= times;
  return cost;
}

void add_check(CLI::App& bench, int& exit_status) {
  auto arguments = std::make_shared<CheckArguments>();
  CLI::App* sub = bench.add_subcommand("check", "what verifying costs a party in malicious mode");
  sub->add_option("--backend", arguments->backend, "cpu: in one thread; cuda: on GPU 0 too")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  sub->add_option("--products", arguments->bench.products,
                  "of a batch: one for an AES block and round, or for 16 bits")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 22));
  sub->add_option("--seconds", arguments->bench.seconds, "how long each")
      ->check(CLI::Range(0.01, 60.0));
  sub->add_flag("--json", arguments->json, "a JSON object on a line for each");
  sub->footer("Example: 1,000,000 products at once:\n  tkdc bench check --products 1000000");
  sub->callback([arguments, &exit_status] { exit_status = bench_check(*arguments); });
}

}  // namespace tkdc::bench
