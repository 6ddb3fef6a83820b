// SPDX-License-Identifier: Apache-2.0
// Bit-sliced AES in 64-bit words: the reference of the plane layout.
#include "rep3/unit/aes/plane_cohort.inl"

namespace tkdc {
namespace {

struct Word64 {
  std::uint64_t v = 0;
  static Word64 load(const std::uint8_t* p) {
    Word64 w;
    std::memcpy(&w.v, p, sizeof w.v);
    return w;
  }
  void store(std::uint8_t* p) const { std::memcpy(p, &v, sizeof v); }
  friend Word64 operator&(Word64 a, Word64 b) { return {a.v & b.v}; }
  friend Word64 operator^(Word64 a, Word64 b) { return {a.v ^ b.v}; }
};

}  // namespace

const Rep3Backend& rep3_backend_planes() {
  static const PlaneBackend<Word64> backend("scalar");
  return backend;
}

}  // namespace tkdc
