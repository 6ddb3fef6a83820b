// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sodium.h>

// libzmq is not built with ThreadSanitizer: what its threads do through libc
// is not ours to judge. Our own hand-overs are annotated in zmq_link.cc.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "ignore_noninstrumented_modules=1"; }

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (sodium_init() < 0) return 1;
  return RUN_ALL_TESTS();
}
