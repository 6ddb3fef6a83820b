// SPDX-License-Identifier: Apache-2.0
// What bodies of circuits are written with, of circuit/: included by each of them.
#pragma once

#include "circuit/arithmetic.h"

namespace tkdc::circuits {

using circuit::Adder;
using circuit::Bits;
using circuit::BitSpan;
using circuit::Context;
using circuit::Word;

}  // namespace tkdc::circuits
