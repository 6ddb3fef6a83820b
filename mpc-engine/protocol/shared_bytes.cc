// SPDX-License-Identifier: Apache-2.0
#include "protocol/shared_bytes.h"

namespace tkdc {

SharedBytes::SharedBytes() = default;
SharedBytes::SharedBytes(std::size_t bytes) : component{SecretVector(bytes), SecretVector(bytes)} {}
SharedBytes::SharedBytes(const SharedBytes& other) = default;
SharedBytes::SharedBytes(SharedBytes&& other) noexcept = default;
SharedBytes& SharedBytes::operator=(const SharedBytes& other) = default;
SharedBytes& SharedBytes::operator=(SharedBytes&& other) noexcept = default;
SharedBytes::~SharedBytes() = default;

void SharedBytes::append(const SharedBytes& tail) {
  for (int c = 0; c < 2; ++c)
    component[c].insert(component[c].end(), tail.component[c].begin(), tail.component[c].end());
}

SharedBytes SharedBytes::slice(std::size_t offset, std::size_t bytes) const {
  assert(offset + bytes <= size());
  SharedBytes piece(bytes);
  for (int c = 0; c < 2; ++c)
    if (bytes > 0) std::memcpy(piece.component[c].data(), component[c].data() + offset, bytes);
  return piece;
}

void SharedBytes::resize(std::size_t bytes) {
  for (SecretVector& c : component) c.resize(bytes);
}

}  // namespace tkdc
