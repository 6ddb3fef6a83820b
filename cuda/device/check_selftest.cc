// SPDX-License-Identifier: Apache-2.0
// The check of malicious mode on a device, beside this CPU's: rows of random octets and bits, which
// make no true claims, but sums, lifts and folds all the same.
#include <algorithm>
#include <random>

#include "cuda/device/check.h"
#include "cuda/device/check_layout.h"
#include "cuda/device/selftest.h"
#include "rep3/unit/aes/sbox_claims.h"
#include "rep3/unit/bits/bit_claims.h"
#include "rep3/verify/octet_check.h"

namespace tkdc::cuda {
namespace {

using Product = InnerProductCheck<Gf64Field>;

class CheckTwin {
 public:
  CheckTwin(Device& device, std::size_t sboxes, std::size_t bits) : checks_(device, 1) {
    for (std::unique_ptr<OctetCheck>& check : check_) {
      std::vector<std::unique_ptr<ClaimRows>> claims;
      products_ = 0;
      if (sboxes > 0) claims.push_back(random_record(sbox_claim_shape(), sboxes));
      if (bits > 0) claims.push_back(random_record(tkdc::bits::bit_claim_shape(1), bits));
      auto on_device = &check == check_ ? OctetCheck::begin(&checks_, claims) : nullptr;
      check = std::make_unique<OctetCheck>(std::move(claims), kSeed, forms_, std::move(on_device));
    }
  }

  bool same() {
    const std::size_t octets = check_[0]->message_bytes();
    SecretVector sent[2];
    for (std::size_t k = 0; k < 2; ++k) {
      sent[k].resize(octets);
      check_[k]->points(sent[k].data());
    }
    if (sent[0] != sent[1]) return false;
    std::uint8_t challenge[OctetCheck::kChallengeBytes];
    for (std::uint8_t& octet : challenge) octet = static_cast<std::uint8_t>(rng_());
    Product product[2];
    for (std::size_t k = 0; k < 2; ++k)
      OctetCheck::fold(std::move(check_[k]), sent[1].data(), sent[1].data(), challenge, product[k],
                       pool_);
    FactorsElsewhere<Gf64Field>* const elsewhere = product[0].elsewhere();
    return product[0].claim == product[1].claim && elsewhere != nullptr &&
           folds_same(*elsewhere, product[1]);
  }

 private:
  static constexpr std::uint8_t kSeed[OctetCheck::kSeedBytes] = {1, 2, 3};

  // The same each time.
  std::unique_ptr<ClaimRows> random_record(const ClaimShape& shape, std::size_t lanes) {
    std::mt19937_64 rng(7);
    SecretVector octets(2 * shape.rows * lanes);
    for (std::uint8_t& octet : octets) octet = static_cast<std::uint8_t>(rng());
    ClaimRows::Rows rows{};
    for (std::size_t c = 0; c < 2; ++c)
      for (std::size_t r = 0; r < shape.rows; ++r)
        rows[c][r] = octets.data() + (c * shape.rows + r) * lanes;
    auto record = std::make_unique<ClaimRows>(shape);
    record->append(lanes, rows);
    products_ += CheckShape(*record).vector_elements();
    return record;
  }

  bool folds_same(FactorsElsewhere<Gf64Field>& elsewhere, Product& cpu) {
    constexpr int n = OctetBatch::kVariables;
    gf64::Element at[4], points[2][9];
    std::size_t stride = 0;
    for (std::size_t size = products_, fold = 0; fold < 2; ++fold, size = stride) {
      stride = size / 4 + 1;  // not whole: zeros come to the last parts
      for (std::size_t k = size; k < 4 * stride; ++k) cpu.x[k] = cpu.y[k] = 0;
      if (!elsewhere.points(n, stride, points[0])) return false;
      Gf64Field::points(n, stride, cpu.x.data(), cpu.y.data(), points[1]);
      if (!std::equal(points[0], points[0] + 9, points[1])) return false;
      for (gf64::Element& one : at) one = rng_();
      if (!elsewhere.fold(n, stride, at)) return false;
      Gf64Field::fold(n, stride, cpu.x.data(), cpu.y.data(), at);
    }
    ElementArray<Gf64Field> x, y;
    elsewhere.bring(x, y, 0);
    return std::equal(x.data(), x.data() + stride, cpu.x.data()) &&
           std::equal(y.data(), y.data() + stride, cpu.y.data());
  }

  DeviceChecks checks_;
  OctetShapes forms_;
  SecretPool pool_;
  std::mt19937_64 rng_{11};
  std::size_t products_ = 0;
  std::unique_ptr<OctetCheck> check_[2];  // on the device, on the CPU
};

// Both ways of a product.
bool products_same(Device& device, Result<void>& done) {
  constexpr std::size_t kElements = 64, kGroups = kElements / 32, kOctets = 8 * kElements;
  auto memory = device.checks.acquire({16 * kOctets, 16 * kOctets});
  if (!memory) {
    done = memory.error();
    return false;
  }
  Queue& queue = (*memory)->queue();
  auto* const pinned = static_cast<std::uint8_t*>((*memory)->pinned().memory());
  auto* const on_device = static_cast<std::uint8_t*>((*memory)->device().memory());
  Mirror mirror(pinned, on_device, 12 * kOctets);
  auto* const tick = reinterpret_cast<const Tick*>(on_device);  // nothing of it is read
  auto* const out = pinned + 12 * kOctets;
  auto* const device_out = on_device + 12 * kOctets;
  Work work(tick);
  std::mt19937_64 rng(5);
  Element in[2][kElements];
  ProductTask task[2]{};
  for (std::size_t side = 0; side < 2; ++side) {
    auto* const one_by_one = mirror.take<Element>(kElements);
    auto* const planes = mirror.take<Word>(64 * kGroups);
    std::fill_n(planes, 64 * kGroups, Word{0});
    for (std::size_t k = 0; k < kElements; ++k) {
      const Element e = in[side][k] = one_by_one[k] = rng();
      for (std::size_t bit = 0; bit < 64; ++bit)
        planes[64 * (k / 32) + bit] |= static_cast<Word>(e >> bit & 1) << k % 32;
    }
    (side == 0 ? task[0].a : task[0].b) = mirror.on_device(one_by_one);
    (side == 0 ? task[1].a : task[1].b) = mirror.on_device(planes);
  }
  for (std::size_t way = 0; way < 2; ++way) task[way].out = device_out + way * kOctets;
  work.launch(mirror, Kernel::kCheckProduct, task[0], kElements);
  work.launch(mirror, Kernel::kCheckProductOfPlanes, task[1], kGroups);
  work.copy_in(mirror);
  work.copy_out(out, device_out, 2 * kOctets);
  work.submit(queue);
  done = queue.finish();
  bool same = done.ok();
  for (std::size_t k = 0; k < kElements && same; ++k) {
    const Element right = gf64::multiply_portable(in[0][k], in[1][k]);
    Element got[2] = {};
    std::memcpy(&got[0], out + 8 * k, 8);
    for (std::size_t bit = 0; bit < 64; ++bit) {
      Word plane = 0;
      std::memcpy(&plane, out + kOctets + 4 * (64 * (k / 32) + bit), 4);
      got[1] |= Element{plane >> k % 32 & 1u} << bit;
    }
    same = got[0] == right && got[1] == right;
  }
  device.checks.give_back(std::move(*memory));
  return same;
}

}  // namespace

Result<void> check_self_test(Device& device) {
  Result<void> done;
  bool same = products_same(device, done);
  if (!done)
    return fail(device.driver->name() + " failed in its self-test: " + done.error().message);
  // Lanes of S-boxes and octets of bits: one; nine blocks and a part of one, more than a thread
  // adds up; more than a set.
  constexpr std::pair<std::size_t, std::size_t> kBatches[] = {
      {1, 0}, {0, 1}, {4700, 9300}, {512 * 65 + 1, 1024 * 65 + 1}};
  for (auto [sboxes, bits] : kBatches) same = same && CheckTwin(device, sboxes, bits).same();
  if (!device.health.did_all())
    return fail(device.driver->name() + " failed in its self-test: " + device.health.why());
  if (!same)
    return fail(device.driver->name() +
                " computes wrongly: its self-test of malicious mode's check differs from the CPU. "
                "Do not use it");
  return {};
}

}  // namespace tkdc::cuda
