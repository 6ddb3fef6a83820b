// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/garble_memory.h"

#include <chrono>
#include <memory>

namespace tkdc::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSliceSeconds = 0.02;
constexpr std::size_t kPieceBytes = 64 * 1024;  // of each instance: stays in the second cache
constexpr std::size_t kAesBlocks = 512;         // in the first

double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// A chain with both its sides in this process.
class MemoryChain {
 public:
  MemoryChain(const Chain& chain, std::size_t instances, const garble::Kernel& kernel)
      : chain_(chain), values_(chain, instances), garbling_(chain, instances, kernel),
        evaluator_(instances, kernel), labels_(garbling_.labels_of(values_)),
        tables_(instances * kPieceBytes), figures_{chain.name, instances} {}

  void run_slice() {
    const auto start = Clock::now();
    double garbling_ns = 0, evaluating_ns = 0;
    std::uint64_t links = 0;
    while (ns_since(start) < 1e9 * kSliceSeconds || links == 0) {
      run_link(garbling_ns, evaluating_ns);
      ++links;
    }
    const double ands = static_cast<double>(links * chain_.ands * figures_.instances);
    const bool first = links_ == 0;
    links_ += links;
    figures_.ands += links * chain_.ands * figures_.instances;
    const auto keep_best = [&](double& best, double ns) {
      best = first ? ns / ands : std::min(best, ns / ands);
    };
    keep_best(figures_.garble_ns, garbling_ns);
    keep_best(figures_.evaluate_ns, evaluating_ns);
  }

  Result<MemoryFigures> figures() const {
    if (auto right = values_.check(links_, garbling_.zero.colours(), labels_.colours()); !right)
      return right.error();
    return figures_;
  }

 private:
  void run_link(double& garbling_ns, double& evaluating_ns) {
    std::array<std::uint8_t*, garble::kSideBySide> to{};
    std::array<const std::uint8_t*, garble::kSideBySide> from{};
    for (std::size_t s = 0; s < figures_.instances; ++s)
      from[s] = to[s] = tables_.data() + s * kPieceBytes;
    auto start = Clock::now();
    const auto lap = [&](double& ns) {
      const auto now = Clock::now();
      ns += std::chrono::duration<double, std::nano>(now - start).count();
      start = now;
    };
    garbling_.garbler.begin(chain_.schedule, garbling_.zero.span());
    lap(garbling_ns);
    evaluator_.begin(chain_.schedule, labels_.span());
    lap(evaluating_ns);
    while (!garbling_.garbler.done()) {
      const std::size_t octets =
          garbling_.garbler.garble(std::span(to).first(figures_.instances), kPieceBytes);
      lap(garbling_ns);
      evaluator_.evaluate(std::span(from).first(figures_.instances), octets);
      lap(evaluating_ns);
    }
    garbling_.zero.take_output(garbling_.garbler);
    lap(garbling_ns);
    labels_.take_output(evaluator_);
    lap(evaluating_ns);
  }

  const Chain& chain_;
  const ChainValues values_;
  ChainGarbler garbling_;
  garble::Evaluator evaluator_;
  ChainLabels labels_;
  Bytes tables_;
  std::uint64_t links_ = 0;
  MemoryFigures figures_;
};

}  // namespace

double aes_blocks_per_ns(const garble::Kernel& kernel) {
  garble::SecretLabels blocks(kAesBlocks);
  garble::RoundKeys keys;
  const garble::Label key{1, 2};
  garble::expand_keys(std::span(&key, 1), keys);
  double best = 0;
  const auto start = Clock::now();
  while (ns_since(start) < 1e9 * kSliceSeconds) {
    constexpr int kPasses = 64;
    const auto begin = Clock::now();
    for (int run = 0; run < kPasses; ++run) kernel.permute(keys, blocks.span());
    best = std::max(best, kPasses * kAesBlocks / ns_since(begin));
  }
  return best;
}

Result<MemoryReport> measure_garbling(const std::vector<Chain>& chains,
                                      const garble::Kernel& kernel, double seconds) {
  std::vector<std::unique_ptr<MemoryChain>> running;
  for (const std::size_t instances : {garble::kSideBySide, std::size_t{1}})
    for (const Chain& chain : chains)
      running.push_back(std::make_unique<MemoryChain>(chain, instances, kernel));
  MemoryReport report;
  const auto start = Clock::now();
  do {
    report.aes_blocks_per_ns = std::max(report.aes_blocks_per_ns, aes_blocks_per_ns(kernel));
    for (auto& one : running) one->run_slice();
  } while (ns_since(start) < 1e9 * seconds);
  for (const auto& one : running) {
    auto figures = one->figures();
    if (!figures) return figures.error();
    report.figures.push_back(*figures);
  }
  return report;
}

}  // namespace tkdc::bench
