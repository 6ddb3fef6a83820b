// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/sha2/sha2.h"

#include "rep3/unit/sha2/compression.h"

namespace tkdc {

using sha2::Compression;
using sha2::Wide;

namespace {

using bits::column;
using bits::load_be;
using bits::store_be;

constexpr std::size_t kStateWords = 8, kBlockWords = 16;

// Octets of a limb in a big-endian word: the lower limb stands behind.
template <int L>
constexpr std::size_t offset_of(std::size_t word, std::size_t limb) {
  return 4 * (L * word + L - 1 - limb);
}

// Words of one instance's octets, and back.
template <int L, class Container>
void load(Container& words, const SharedBytes& octets, std::size_t instance) {
  for (std::size_t k = 0; k < words.size(); ++k)
    for (std::size_t i = 0; i < L; ++i)
      for (int c = 0; c < 2; ++c)
        column(words[k].limb[i], c)[instance] =
            load_be(octets.component[c].data() + offset_of<L>(k, i));
}
template <int L>
void store(const std::array<Wide<L>, kStateWords>& words, SharedBytes& octets,
           std::size_t instance) {
  for (std::size_t k = 0; k < words.size(); ++k)
    for (std::size_t i = 0; i < L; ++i)
      for (int c = 0; c < 2; ++c)
        store_be(octets.component[c].data() + offset_of<L>(k, i),
                 column(words[k].limb[i], c)[instance]);
}

}  // namespace

struct Sha2::Submit {
  Sha2& sha2;
  Request request;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> h) {
    request.awaiter = h;
    sha2.pending_.push_back(request);
  }
  void await_resume() {}
};

Sha2::Sha2(Rep3& rep3, const HashFunction& hash) : rep3_(rep3), hash_(hash) {
  rep3_.lane.add_gatherer([this] { return gather(); });
}

bool Sha2::gather() {
  if (pending_.empty()) return false;
  if (at_work_ > 0 && rep3_.lane.rounds() % kStartEveryRounds != 0) return false;
  ++at_work_;
  if (is_256())
    rep3_.lane.spawn(run<1>(std::move(pending_)));
  else
    rep3_.lane.spawn(run<2>(std::move(pending_)));
  pending_.clear();
  return true;
}

Task<SharedBytes> Sha2::compress(SharedBytes state, SharedBytes blocks) {
  const std::size_t each = hash_.block_bytes;
  assert(state.size() == hash_.state_bytes && blocks.size() != 0 && blocks.size() % each == 0);
  for (std::size_t at = 0; at < blocks.size(); at += each) {
    const SharedBytes block = blocks.slice(at, each);
    Submit one = {*this, {&state, &block, nullptr}};
    co_await one;
  }
  co_return state;
}

template <int L>
Task<void> Sha2::run(std::vector<Request> requests) {
  const std::size_t count = requests.size();
  std::array<Wide<L>, kStateWords> state;
  state.fill(Wide<L>(count));
  std::vector<Wide<L>> block(kBlockWords, Wide<L>(count));
  for (std::size_t n = 0; n < count; ++n) {
    load<L>(state, *requests[n].state, n);
    load<L>(block, *requests[n].block, n);
  }
  auto compression = std::make_unique<Compression<L>>(rep3_, std::move(state), std::move(block));
  co_await compression->run();
  for (std::size_t n = 0; n < count; ++n) {
    store<L>(compression->state(), *requests[n].state, n);
    rep3_.lane.ready(requests[n].awaiter);
  }
  blocks_done_ += count;
  --at_work_;
}

}  // namespace tkdc
