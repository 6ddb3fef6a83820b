// SPDX-License-Identifier: Apache-2.0
// What work on all shares costs: whole engines in one process, stores in memory as
// support/scratch.h has them (docs/performance.md, "Shares"). TKDC_KEYS says how many.
#include <atomic>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <thread>

#include "shares_at_work.h"

namespace tkdc {
namespace {

// Memory of this process that is no file's: the stores' files lie in memory, too. The most while
// this lives.
class MostMemory {
 public:
  MostMemory()
      : looks_([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            most_mib_ = std::max(most_mib_.load(), now_mib());
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
          }
        }) {}
  double most_mib() const { return most_mib_; }
  static double now_mib() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("RssAnon:")) return std::atof(line.c_str() + 8) / 1024;
    return 0;
  }

 private:
  std::atomic<double> most_mib_{0};
  std::jthread looks_;
};

class SharesRate : public Shares {
 protected:
  static double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  // Keys like these under other ids: what is dealt to them is their own.
  void copy_keys(const std::vector<KeyRef>& like, std::uint32_t keys) {
    for (int p = 0; p < 3; ++p)
      for (std::uint32_t k = 0; k < keys; ++k) {
        KeyRecord record = *e_->store(p).get(like[k % like.size()].id).value();
        record.macs.reset();
        for (std::size_t at = 0; at < 4; ++at)
          record.ref.id[at] = static_cast<std::uint8_t>((k * 2654435761u) >> (8 * at));
        ASSERT_TRUE(e_->store(p).prepare(record).ok());
        ASSERT_TRUE(e_->store(p).commit(record.ref.id).ok());
      }
  }
  void begins() {
    from_s_ = seconds();
    from_cpu_ = std::clock();
  }
  // CPU time of all three; where other programs run too, it says more.
  void say(const char* what, std::uint64_t keys) {
    const double took = seconds() - from_s_, n = static_cast<double>(keys);
    const double cpu = static_cast<double>(std::clock() - from_cpu_) / CLOCKS_PER_SEC;
    std::printf("%s: %.0f keys in %.2f s, %.0f a second; %.1f us of CPU a key\n", what, n, took,
                n / took, cpu / n * 1e6);
  }

 private:
  double from_s_ = 0;
  std::clock_t from_cpu_ = 0;
};

TEST_F(SharesRate, DISABLED_HowLongItTakes) {
  const char* asked = std::getenv("TKDC_KEYS");
  const auto keys = static_cast<std::uint32_t>(asked ? std::atoi(asked) : 20'000);
  const char* often = std::getenv("TKDC_AUDITS");
  const int audits = often ? std::atoi(often) : 2;
  start();
  copy_keys(make_keys(2), keys - 2);
  new_session(true);
  begins();
  EXPECT_EQ(work(ShareTask::kDeal).dealt, keys);
  say("deal", keys);
  for (int again = 0; again < audits; ++again) {
    begins();
    EXPECT_EQ(work(ShareTask::kAudit).audited, keys);
    say("audit", keys);
  }
  begins();
  const double before_mib = MostMemory::now_mib();
  MostMemory memory;
  refresh(0);
  say("refresh", keys);
  std::printf("memory of all three: %.0f MiB before it, %.0f at most\n", before_mib,
              memory.most_mib());
  EXPECT_EQ(work(ShareTask::kAudit).audited, keys);
  expect_alarms(0, {});
}

}  // namespace
}  // namespace tkdc
