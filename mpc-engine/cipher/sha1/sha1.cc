// SPDX-License-Identifier: Apache-2.0
#include "cipher/sha1/sha1.h"

#include <array>

#include "cipher/sha1/adder.h"

namespace tkdc {
namespace {

using sha1::Adder;
using sha1::Column;
using sha1::Field;
using sha1::Words;

constexpr int kSteps = 80;

std::uint32_t step_constant(int t) {
  constexpr std::uint32_t kConstants[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
  return kConstants[t / 20];
}

void add_public(Words& w, int party, std::uint32_t value) {
  int c = constant_component(party);
  if (c < 0) return;
  for (std::uint32_t& word : c == 0 ? w.x : w.y) word ^= value;
}

// x + y + z = sum + 2 carry, carry = maj(x, y, z) = x ^ (x ^ y)(x ^ z).
struct CarrySave {
  Words sum, carry;  // carry is not shifted yet

  void add_field(std::vector<Field>& fields, const Words& x, const Words& y, const Words& z) {
    sum = x ^ y ^ z;
    carry = Words(x.instances());
    fields.emplace_back(0, 30, carry);
    sha1::add_linear(fields.back().terms, x);
    sha1::add_product(fields.back().terms, x ^ y, x ^ z);
  }
  // With a public third summand: maj(x, y, k) = x y ^ k (x ^ y).
  void add_field(std::vector<Field>& fields, int party, const Words& x, const Words& y,
                 std::uint32_t k) {
    sum = x ^ y;
    carry = Words(x.instances());
    fields.emplace_back(0, 30, carry);
    sha1::add_linear(fields.back().terms, sha1::map(sum, [k](std::uint32_t v) { return v & k; }));
    sha1::add_product(fields.back().terms, x, y);
    add_public(sum, party, k);
  }
};

// One cohort of compressions in progress.
class Compression {
 public:
  Compression(Rep3& rep3, std::array<Words, 5> state, std::vector<Words> block)
      : rep3_(rep3), initial_(state), v_(std::move(state)), schedule_(std::move(block)) {
    for (int t = 16; t < kSteps; ++t)
      schedule_.push_back(sha1::rotl(at(t - 3) ^ at(t - 8) ^ at(t - 14) ^ at(t - 16), 1));
  }

  Task<void> run() {
    std::vector<Field> fields;
    begin_next(fields, 0, v_);
    co_await sha1::send(rep3_, fields);
    fields.clear();
    combine_next(fields);
    co_await sha1::send(rep3_, fields);
    for (int t = 0; t < kSteps; ++t) co_await step(t);
    co_await add_initial();
  }

  const std::array<Words, 5>& state() const { return v_; }

 private:
  const Words& at(int t) const { return schedule_[static_cast<std::size_t>(t)]; }

  // f(b, c, d) of step t: FIPS 180-4, section 4.1.1. Parity is linear and sends nothing.
  void choose(std::vector<Field>& fields, int t, const std::array<Words, 5>& v) {
    const auto& [a, b, c, d, e] = v;
    f_linear_ = t >= 20 && t < 40 ? true : t >= 60;
    f_ = f_linear_ ? b ^ c ^ d : Words(b.instances());
    if (f_linear_) return;
    fields.emplace_back(0, 31, f_);
    if (t < 20) {  // Ch = d ^ b (c ^ d)
      sha1::add_linear(fields.back().terms, d);
      sha1::add_product(fields.back().terms, b, c ^ d);
    } else {  // Maj = b ^ (b ^ c)(b ^ d)
      sha1::add_linear(fields.back().terms, b);
      sha1::add_product(fields.back().terms, b ^ c, b ^ d);
    }
  }

  // What step t needs besides a: f and e + W + K in carry-save form, then their sum in it.
  void begin_next(std::vector<Field>& fields, int t, const std::array<Words, 5>& v) {
    choose(fields, t, v);
    early_.add_field(fields, rep3_.party(), v[4], at(t), step_constant(t));
  }
  void combine_next(std::vector<Field>& fields) {
    next_.add_field(fields, f_, early_.sum, sha1::shl(early_.carry, 1));
  }

  Task<void> step(int t) {
    const bool more = t + 1 < kSteps;
    auto& [a, b, c, d, e] = v_;
    // The next step's b, c, d, e are known already; its a is not used by f.
    std::array<Words, 5> following = {Words(), a, sha1::rotl(b, 30), c, d};
    std::vector<Field> fields;
    CarrySave last;
    last.add_field(fields, sha1::rotl(a, 5), next_.sum, sha1::shl(next_.carry, 1));
    // `fields` points into early_, f_ and last, which stay where they are.
    if (more) begin_next(fields, t + 1, following);
    co_await sha1::send(rep3_, fields);
    Adder adder;
    adder.start(last.sum, sha1::shl(last.carry, 1));
    for (int k = 1; k <= Adder::kLayers; ++k) {
      std::vector<Field> layer;
      adder.add_fields(k, layer);
      if (k == 1 && more) combine_next(layer);
      co_await sha1::send(rep3_, layer);
      adder.finish_layer(k);
    }
    following[0] = adder.sum();
    v_ = std::move(following);
  }

  Task<void> add_initial() {
    std::array<Adder, 5> adders;
    for (std::size_t k = 0; k < 5; ++k) adders[k].start(v_[k], initial_[k]);
    for (int layer = 1; layer <= Adder::kLayers; ++layer) {
      std::vector<Field> fields;
      for (Adder& adder : adders) adder.add_fields(layer, fields);
      co_await sha1::send(rep3_, fields);
      for (Adder& adder : adders) adder.finish_layer(layer);
    }
    for (std::size_t k = 0; k < 5; ++k) v_[k] = adders[k].sum();
  }

  Rep3& rep3_;
  std::array<Words, 5> initial_, v_;
  std::vector<Words> schedule_;
  bool f_linear_ = false;
  Words f_;
  CarrySave early_, next_;
};

std::uint32_t load_be(const std::uint8_t* p) {
  return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | p[3];
}
void store_be(std::uint8_t* p, std::uint32_t v) {
  for (int k = 0; k < 4; ++k) p[k] = static_cast<std::uint8_t>(v >> (24 - 8 * k));
}

}  // namespace

struct Sha1::Submit {
  Sha1& sha1;
  Request request;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> h) {
    request.awaiter = h;
    sha1.pending_.push_back(request);
  }
  void await_resume() {}
};

Sha1::Sha1(Rep3& rep3) : rep3_(rep3) {
  rep3_.add_gatherer([this] { return gather(); });
}

bool Sha1::gather() {
  if (pending_.empty()) return false;
  if (running_ > 0 && rep3_.rounds() % kStartEveryRounds != 0) return false;
  ++running_;
  rep3_.spawn(run(std::move(pending_)));
  pending_.clear();
  return true;
}

Task<SharedBytes> Sha1::compress(SharedBytes state, SharedBytes block) {
  assert(state.size() == kSha1StateBytes && block.size() == kSha1BlockBytes);
  co_await Submit{*this, {&state, &block, nullptr}};
  co_return state;
}

Task<void> Sha1::run(std::vector<Request> requests) {
  const std::size_t count = requests.size();
  std::array<Words, 5> state;
  std::vector<Words> block(16, Words(count));
  state.fill(Words(count));
  auto column = [](Words& w, int c) -> Column& { return c == 0 ? w.x : w.y; };
  for (std::size_t n = 0; n < count; ++n)
    for (int c = 0; c < 2; ++c) {
      for (std::size_t k = 0; k < 5; ++k)
        column(state[k], c)[n] = load_be(requests[n].state->component[c].data() + 4 * k);
      for (std::size_t k = 0; k < 16; ++k)
        column(block[k], c)[n] = load_be(requests[n].block->component[c].data() + 4 * k);
    }
  Compression compression(rep3_, std::move(state), std::move(block));
  co_await compression.run();
  std::array<Words, 5> out = compression.state();
  for (std::size_t n = 0; n < count; ++n) {
    for (int c = 0; c < 2; ++c)
      for (std::size_t k = 0; k < 5; ++k)
        store_be(requests[n].state->component[c].data() + 4 * k, column(out[k], c)[n]);
    rep3_.ready(requests[n].awaiter);
  }
  blocks_done_ += count;
  --running_;
}

SharedBytes Sha1::initial() const {
  constexpr std::uint32_t kInitial[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
                                         0xc3d2e1f0};
  std::uint8_t octets[kSha1StateBytes];
  for (int k = 0; k < 5; ++k) store_be(octets + 4 * k, kInitial[k]);
  return share_public(rep3_.party(), octets);
}

Task<SharedBytes> Sha1::finish(SharedBytes state, SharedBytes data, std::size_t hashed_before) {
  const std::size_t bytes = data.size();
  const std::size_t padded = (bytes + 9 + 63) / 64 * 64;
  data.resize(padded);
  Bytes padding(padded - bytes, 0);
  padding[0] = 0x80;
  const std::uint64_t bits = 8 * (std::uint64_t{hashed_before} + bytes);
  for (std::size_t k = 0; k < 8; ++k)
    padding[padding.size() - 1 - k] = static_cast<std::uint8_t>(bits >> 8 * k);
  xor_public(data, rep3_.party(), padding, bytes);
  for (std::size_t offset = 0; offset < padded; offset += 64)
    state = co_await compress(std::move(state), data.slice(offset, 64));
  co_return state;
}

}  // namespace tkdc
