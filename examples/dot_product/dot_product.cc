// SPDX-License-Identifier: Apache-2.0
// Three threads, each a party, without TLS: party 0 brings quantities, party 1 prices. All see the
// total, in Z/2^64, and whether it is below party 1's limit; nobody sees more. Products in Z/2^n
// are for parties that keep to the protocol (docs/api.md says why).
#include <tkdc/party.h>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace tkdc::mpc;

template <class T>
T need(tkdc::Result<T> result) {
  if (result.ok()) return std::move(result).value();
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

Shares from(Party& party, int owner, const std::vector<std::uint64_t>& values) {
  return need(party.share(owner, Ring::kZ2_64, values.size(), encode(Ring::kZ2_64, values)));
}

void compute(Party party) {
  Shares quantities = from(party, 0, {3, 0, 12, 7});  // others' arguments are not read
  Shares prices = from(party, 1, {1'999, 250, 80, 4'400});
  Shares limit = from(party, 1, {40'000});
  Shares total = need(party.dot(quantities, prices));
  Shares below = need(party.less_than(total, limit));
  const std::uint64_t sum = decode(Ring::kZ2_64, need(party.open(total))).front();
  const bool cheap = need(party.open(below)).front() != 0;
  party.leave();
  if (party.index() == 2) std::printf("total %lu\nbelow the limit %d\n", sum, cheap ? 1 : 0);
}

int main() {
  auto parties = need(Party::in_process(Security::kSemiHonest));
  std::vector<std::thread> threads;
  for (Party& party : parties) threads.emplace_back(compute, std::move(party));
  for (std::thread& thread : threads) thread.join();
}
