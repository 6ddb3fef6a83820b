// SPDX-License-Identifier: Apache-2.0
// libzmq hands a frame to its I/O thread by means that ThreadSanitizer cannot
// see: the sender marks it before, and whoever frees it after.
#pragma once

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#define TKDC_HAND_OVER(p) __tsan_release(p)
#define TKDC_TAKE_OVER(p) __tsan_acquire(p)
#else
#define TKDC_HAND_OVER(p) static_cast<void>(p)
#define TKDC_TAKE_OVER(p) static_cast<void>(p)
#endif
