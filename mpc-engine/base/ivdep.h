// SPDX-License-Identifier: Apache-2.0
// Before a loop: no iteration needs what another one has written. clang finds out by itself.
#pragma once

#if defined(__clang__)
#define TKDC_IVDEP
#else
#define TKDC_IVDEP _Pragma("GCC ivdep")
#endif
