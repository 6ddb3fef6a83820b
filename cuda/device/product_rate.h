// SPDX-License-Identifier: Apache-2.0
// How fast a device multiplies in GF(2^64), for tkdc bench: one product after the other by
// multiplications of integers, as the check of malicious mode does, and bit-sliced, 32 at once.
#pragma once

#include "cuda/device/driver.h"

namespace tkdc::cuda {

struct ProductRateOptions {
  std::size_t products = std::size_t{1} << 20;  // operands and results stay in an H200's L2 cache
  double seconds = 0.5;
};

// Products in a second. Error: of the device, or that a product is wrong.
struct ProductRate {
  double by_integers = 0, bit_sliced = 0;
};
Result<ProductRate> measure_products(Driver& driver, const ProductRateOptions& options = {});

}  // namespace tkdc::cuda
