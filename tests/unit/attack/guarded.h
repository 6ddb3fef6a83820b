// SPDX-License-Identifier: Apache-2.0
// Whether this program compares what servers decided, or is the control that leaves it out
// (without_agreement.cc).
#pragma once

namespace tkdc {

#ifdef TKDC_WITHOUT_AGREEMENT
inline constexpr bool kGuarded = false;
#else
inline constexpr bool kGuarded = true;
#endif

}  // namespace tkdc
