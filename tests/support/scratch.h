// SPDX-License-Identifier: Apache-2.0
// A folder of a test's own: in memory where there is such a place, because a store waits for its
// disk at each key, and how long is up to whoever else uses that disk.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <new>
#include <string>

namespace tkdc::test {

// Whoever asks for it removes it.
inline std::string make_scratch(const std::string& what) {
  const char* root = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  std::string name = std::string(root) + "/tkdc-" + what + "-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::bad_alloc();
  return name;
}

}  // namespace tkdc::test
