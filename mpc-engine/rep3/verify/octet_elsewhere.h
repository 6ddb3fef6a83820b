// SPDX-License-Identifier: Apache-2.0
// The vectors of a batch while a device has them; and how the CPU gets them back from a device
// that has failed: from the rows, which are kept for that, and the folds so far.
#pragma once

#include "rep3/verify/inner_product.h"
#include "rep3/verify/octet_device.h"

namespace tkdc {

// The batch on its device, and the rows that made it.
class OctetSource {
 public:
  using Element = Gf64Field::Element;
  static constexpr std::size_t kChallengeBytes = 5 * Gf64Field::kBytes;  // a point, gamma
  virtual ~OctetSource() = default;
  virtual OctetBatch& batch() = 0;
  // x and y again, from the rows.
  virtual void lift_again(const std::uint8_t* challenge, Element* x, Element* y) = 0;
};

class OctetsOnDevice final : public FactorsElsewhere<Gf64Field> {
 public:
  OctetsOnDevice(std::unique_ptr<OctetSource> source, const std::uint8_t* challenge,
                 std::size_t products, SecretPool& pool)
      : source_(std::move(source)), pool_(pool), products_(products), left_(products) {
    std::copy_n(challenge, OctetSource::kChallengeBytes, challenge_.begin());
  }

  bool points(int n, std::size_t stride, Element* out) override {
    return n == OctetBatch::kVariables && batch().points_of_parts(stride, out);
  }
  bool fold(int n, std::size_t stride, const Element* at) override {
    if (n != OctetBatch::kVariables || !batch().fold(stride, at)) return false;
    Fold& done = folds_.emplace_back();
    done.stride = stride;
    std::copy_n(at, kParts, done.at);
    left_ = stride;
    return true;
  }
  void bring(ElementArray<Gf64Field>& x, ElementArray<Gf64Field>& y, std::size_t more) override {
    x = ElementArray<Gf64Field>(left_ + more, pool_);
    y = ElementArray<Gf64Field>(left_ + more, pool_);
    if (batch().fetch(left_, x.data(), y.data())) return;
    // Padding before a fold is below its number of parts.
    x = ElementArray<Gf64Field>(products_ + kParts + more, pool_);
    y = ElementArray<Gf64Field>(products_ + kParts + more, pool_);
    source_->lift_again(challenge_.data(), x.data(), y.data());
    std::size_t size = products_;
    for (const Fold& fold : folds_) {
      for (; size < kParts * fold.stride; ++size) x[size] = y[size] = 0;
      Gf64Field::fold(OctetBatch::kVariables, fold.stride, x.data(), y.data(), fold.at);
      size = fold.stride;
    }
  }

 private:
  static constexpr std::size_t kParts = std::size_t{1} << OctetBatch::kVariables;
  static_assert(InnerProductCheck<Gf64Field>::kVeryMany <= OctetBatch::kMostFetched);
  struct Fold {
    std::size_t stride;
    Element at[kParts];
  };
  OctetBatch& batch() { return source_->batch(); }

  std::unique_ptr<OctetSource> source_;
  SecretPool pool_;
  const std::size_t products_;
  std::size_t left_;  // elements that the vectors have
  std::array<std::uint8_t, OctetSource::kChallengeBytes> challenge_;
  std::vector<Fold> folds_;
};

}  // namespace tkdc
