// SPDX-License-Identifier: Apache-2.0
// What tkdc bench's lanes compute, and that a wrong result is found: three parties in one thread.
#include "tools/bench/workload.h"

#include "support/parties_with_ciphers.h"

namespace tkdc::bench {
namespace {

using Workloads = std::array<std::unique_ptr<BenchWorkload>, 3>;

// Cohorts 1 and 2 of a workload; `tamper` changes a result before it is opened.
Workloads run_workload(test::PartiesWithCiphers& s, const MakeWorkload& make,
                       const std::function<void(std::array<SharedBytes, 3>&)>& tamper = {}) {
  Workloads all;
  for (std::size_t p = 0; p < 3; ++p) all[p] = make(*s.net.party[p], *s.ciphers[p]);
  auto at = [&](int p) -> BenchWorkload& { return *all[static_cast<std::size_t>(p)]; };
  s.run_all(1, [&](Rep3Protocol&, int p, std::size_t) { return at(p).prepare(); });
  std::vector<std::array<SharedBytes, 3>> results(all[0]->jobs());
  for (std::uint64_t counter : {1, 2})
    s.run_all(all[0]->jobs(), [&](Rep3Protocol&, int p, std::size_t job) {
      return at(p).compute(job, counter, results[job][static_cast<std::size_t>(p)]);
    });
  if (tamper) tamper(results.back());
  s.run_all(1, [&](Rep3Protocol&, int p, std::size_t) {
    return at(p).open(2, results.back()[static_cast<std::size_t>(p)]);
  });
  return all;
}

std::vector<MakeWorkload> workloads() {
  return {ctr_workload(16, 48), ctr_workload(32, 32), sha1_workload(5), sha1_workload(33)};
}

TEST(BenchWorkload, IsAsOpenssl) {
  for (Security security : {Security::kSemiHonest, Security::kMalicious})
    for (const MakeWorkload& make : workloads()) {
      test::PartiesWithCiphers s(7, rep3_backend_scalar(), security);
      const Workloads all = run_workload(s, make);
      for (const auto& one : all) {
        auto right = one->check();
        EXPECT_TRUE(right.ok()) << right.error().message;
      }
    }
}

TEST(BenchWorkload, FindsAWrongResult) {
  // One bit of the value, in both copies of a component.
  auto tamper = [](std::array<SharedBytes, 3>& shares) {
    shares[0].component[0][3] ^= 1;
    shares[2].component[1][3] ^= 1;
  };
  for (const MakeWorkload& make : workloads()) {
    test::PartiesWithCiphers s(7);
    const Workloads all = run_workload(s, make, tamper);
    for (const auto& one : all) {
      auto wrong = one->check();
      ASSERT_FALSE(wrong.ok());
      EXPECT_NE(wrong.error().message.find("differs from OpenSSL"), std::string::npos);
    }
  }
}

TEST(BenchWorkload, OfSha1TakesTheShapeOfTheFewestBits) {
  test::PartiesWithCiphers s(7);
  const Workloads all = run_workload(s, sha1_workload(5));
  for (const auto& ciphers : s.ciphers) {
    EXPECT_EQ(ciphers->sha1.ripple_blocks(), 10u);
    EXPECT_EQ(ciphers->sha1.blocks(), 10u);
    ciphers->sha1.set_ripple_from(64);
  }
  // Else it would not be what is said to be measured.
  const std::array<std::unique_ptr<BenchWorkload>, 3> others =
      run_workload(s, [](Rep3& rep3, Rep3Protocol& c) {
        auto made = sha1_workload(5)(rep3, c);
        c.sha1.set_ripple_from(64);
        return made;
      });
  EXPECT_FALSE(others[0]->check().ok());
}

}  // namespace
}  // namespace tkdc::bench
