// SPDX-License-Identifier: Apache-2.0
// The search looks at a few places alone of each form's: so each form is laid out at each distance
// from those places, by its definition, and must be found there, once.
#include "support/keyscan/matcher.h"

#include <gtest/gtest.h>

#include <random>

namespace keyscan {
namespace {

constexpr std::size_t kPlanePhases = 33, kPhases = 14;  // more rows than from one to the next
constexpr std::size_t kLongStride = 256;

class Noise {
 public:
  Octets octets(std::size_t n) {
    Octets out(n);
    for (std::uint8_t& octet : out) octet = static_cast<std::uint8_t>(generator_());
    return out;
  }
  std::size_t below(std::size_t n) { return generator_() % n; }

 private:
  std::mt19937_64 generator_{std::random_device{}()};
};

std::vector<std::size_t> offsets(const std::vector<Hit>& hits, const std::string& form,
                                 std::size_t stride) {
  std::vector<std::size_t> out;
  for (const Hit& hit : hits)
    if (hit.form == form && hit.stride == stride) out.push_back(hit.offset);
  return out;
}

struct Shape {
  std::size_t octets, zeros;  // as many of these at the end
};

class Forms : public testing::TestWithParam<Shape> {
 protected:
  Noise noise_;
  Octets value() {
    Octets out = noise_.octets(GetParam().octets);
    std::fill(out.end() - static_cast<std::ptrdiff_t>(GetParam().zeros), out.end(), 0);
    return out;
  }
  const Value value_{"v", value()};
  const Matcher matcher_{{value_}};

  // In memory that ends where the form does, `rows` from its beginning on.
  void look(const OctetForm& form, std::size_t stride, std::size_t rows) {
    const std::size_t begin = rows * stride + noise_.below(stride);
    const std::size_t units = form.octets.size() / form.unit;
    Octets memory = noise_.octets(begin + (units - 1) * stride + form.unit);
    for (std::size_t i = 0; i < form.octets.size(); i++)
      memory[begin + i / form.unit * stride + i % form.unit] = form.octets[i];
    find(form.form, stride, memory, begin);
  }
  void look(const BitForm& form, std::size_t stride, std::size_t rows) {
    const std::size_t begin = rows * stride + noise_.below(stride);
    Octets memory = noise_.octets(begin + (form.bits.size() - 1) * stride + 1);
    const auto mask = static_cast<std::uint8_t>(1u << noise_.below(8));
    for (std::size_t j = 0; j < form.bits.size(); j++) {
      std::uint8_t& octet = memory[begin + j * stride];
      octet = static_cast<std::uint8_t>(form.bits[j] ? octet | mask : octet & ~mask);
    }
    find(form.form, stride, memory, begin);
  }
  void find(const std::string& form, std::size_t stride, Octets& memory, std::size_t begin) {
    std::vector<Hit> hits;
    matcher_.scan(memory, hits);
    EXPECT_EQ(offsets(hits, form, stride), std::vector{begin}) << form << " every " << stride;
    hits.clear();
    memory.pop_back();
    matcher_.scan(memory, hits);
    EXPECT_TRUE(offsets(hits, form, stride).empty()) << form << " that is cut off";
  }
};

TEST_P(Forms, OctetsAreFoundWhereverTheyBegin) {
  for (const OctetForm& form : octet_forms(value_.octets)) {
    const std::vector<std::size_t> packed = {form.unit};
    for (const std::size_t stride : form.strided ? octet_strides() : packed) {
      const std::size_t phases = stride < kLongStride ? kPhases : 2;
      for (std::size_t rows = 0; rows < phases && (!form.strided || stride > form.unit); rows++)
        look(form, stride, rows);
    }
  }
}

TEST_P(Forms, PlanesAreFoundWhereverTheyBegin) {
  for (const BitForm& form : bit_forms(value_.octets))
    for (const std::size_t stride : plane_strides())
      for (std::size_t rows = 0; rows < kPlanePhases; rows += stride <= 8 ? 1 : 11)
        look(form, stride, rows);
}

// Alone, and with thousands of others that fill the filters.
TEST_P(Forms, OneOfManyIsFound) {
  std::vector<Value> values;
  for (std::size_t k = 0; k < 2'000; k++)
    values.push_back({std::to_string(k), noise_.octets(16 + 4 * (k % 2))});
  values.insert(values.begin() + 700, value_);
  const Matcher many(values);
  for (std::size_t k = 0; k < 50; k++) {
    Octets memory = noise_.octets(2'000);
    std::ranges::copy(value_.octets, memory.begin() + static_cast<std::ptrdiff_t>(900 + k));
    std::vector<Hit> hits;
    many.scan(memory, hits, k % 2 == 0);
    const std::vector<Hit> wanted = {{"v", "plain", 1, 900 + k}};
    EXPECT_EQ(hits, wanted);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Forms,
                         testing::Values(Shape{16, 0}, Shape{16, 8}, Shape{20, 0}, Shape{32, 0}));

TEST(Matcher, TakesNoValueThatWouldBeFoundByChance) {
  EXPECT_THROW(Matcher({{"short", Octets(15, 7)}}), std::invalid_argument);
  EXPECT_THROW(Matcher({{"regular", Octets(16, 7)}}), std::invalid_argument);
}

}  // namespace
}  // namespace keyscan
