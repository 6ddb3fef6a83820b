// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/product_rate.h"

#include <chrono>
#include <random>

#include "cuda/device/memory.h"
#include "cuda/device/work.h"
#include "rep3/verify/gf64.h"

namespace tkdc::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTimes = 16;          // between two waits
constexpr std::size_t kGroup = 32;  // products in planes
constexpr std::size_t kPlanes = 64;
constexpr int kWays = 2;  // by integers, in planes

// Operands in both forms, and what the device makes of them.
class Products {
 public:
  Products(Driver& driver, std::size_t count)
      : count_(count), device_(driver, Arena::Where::kDevice),
        pinned_(driver, Arena::Where::kPinned) {}

  Result<void> prepare(Driver& driver) {
    const std::size_t octets = count_ * sizeof(Element);
    for (Arena* arena : {&device_, &pinned_}) {
      arena->plan(sizeof(Tick));
      for (int part = 0; part < 3 * kWays; ++part) arena->plan(octets);
      arena->plan(kTasks);
      if (auto done = arena->allocate(); !done) return done;
    }
    tick_ = device_.take<Tick>(sizeof(Tick));
    pinned_.take<Tick>(sizeof(Tick));
    for (auto& way : part_)
      for (Part& part : way)
        part = {device_.take<std::uint8_t>(octets), pinned_.take<std::uint8_t>(octets)};
    tasks_ = Mirror(pinned_.take<std::uint8_t>(kTasks), device_.take<std::uint8_t>(kTasks), kTasks);
    auto queue = driver.make_queue();
    if (!queue) return queue.error();
    queue_ = std::move(*queue);
    return fill();
  }

  Result<void> multiply(int way, int launches) {
    tasks_.clear();
    Work work(tick_);
    const ProductTask task{part_[way][0].device, part_[way][1].device, part_[way][2].device};
    for (int k = 0; k < launches; ++k)
      work.launch(tasks_, way == 0 ? Kernel::kCheckProduct : Kernel::kCheckProductOfPlanes, task,
                  way == 0 ? count_ : count_ / kGroup);
    work.copy_in(tasks_);
    work.submit(*queue_);
    return queue_->finish();
  }

  // The first, the last and some between.
  Result<void> check(int way) {
    if (auto done = multiply(way, 1); !done) return done;
    Work work(tick_);
    work.copy_out(part_[way][2].pinned, part_[way][2].device, count_ * sizeof(Element));
    work.submit(*queue_);
    if (auto done = queue_->finish(); !done) return done;
    for (std::size_t k = 0; k < count_; k += k + kGroup < count_ ? kGroup + 1 : 1)
      if (get(way, 2, k) != gf64::multiply_portable(get(way, 0, k), get(way, 1, k)))
        return fail("bench: the device's product in GF(2^64) differs from the CPU's");
    return {};
  }

 private:
  static constexpr std::size_t kTasks = 256 * kTimes;
  struct Part {
    std::uint8_t *device = nullptr, *pinned = nullptr;
  };

  Result<void> fill() {
    std::mt19937_64 rng(1);
    Work work(tick_);
    for (std::size_t way = 0; way < kWays; ++way)
      for (std::size_t side = 0; side < 2; ++side) {
        auto* const words = reinterpret_cast<Element*>(part_[way][side].pinned);
        for (std::size_t k = 0; k < count_; ++k) words[k] = rng();
        work.copy_in(part_[way][side].device, part_[way][side].pinned, count_ * sizeof(Element));
      }
    work.submit(*queue_);
    return queue_->finish();
  }

  Element get(int way, int part, std::size_t k) const {
    const std::uint8_t* const octets = part_[way][part].pinned;
    if (way == 0) return reinterpret_cast<const Element*>(octets)[k];
    const auto* const planes = reinterpret_cast<const Word*>(octets) + k / kGroup * kPlanes;
    Element e = 0;
    for (std::size_t bit = 0; bit < kPlanes; ++bit)
      e |= Element{planes[bit] >> k % kGroup & 1u} << bit;
    return e;
  }

  const std::size_t count_;
  Arena device_, pinned_;
  Tick* tick_ = nullptr;
  Part part_[kWays][3];  // operands, results
  Mirror tasks_;
  std::unique_ptr<Queue> queue_;  // goes first: it waits for what is under way
};

Result<double> rate_of(Products& products, int way, const ProductRateOptions& options) {
  if (auto done = products.check(way); !done) return done.error();
  const auto begin = Clock::now();
  for (std::size_t times = kTimes;; times += kTimes) {
    if (auto done = products.multiply(way, kTimes); !done) return done.error();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (seconds >= options.seconds) return static_cast<double>(times * options.products) / seconds;
  }
}

}  // namespace

Result<ProductRate> measure_products(Driver& driver, const ProductRateOptions& options) {
  if (options.products == 0 || options.products % kGroup != 0)
    return fail("bench: the number of products must be a multiple of 32");
  Products products(driver, options.products);
  if (auto done = products.prepare(driver); !done) return done.error();
  ProductRate rate;
  for (auto [way, out] : {std::pair(0, &rate.by_integers), std::pair(1, &rate.bit_sliced)}) {
    auto measured = rate_of(products, way, options);
    if (!measured) return measured.error();
    *out = *measured;
  }
  return rate;
}

}  // namespace tkdc::cuda
