// SPDX-License-Identifier: Apache-2.0
// A server that deviates: preloaded into the program as it is installed, this stands between it
// and OpenSSL. When the file that TKDC_TEST_DEVIATE names is there it takes that away, and changes
// the ends of a few messages of the next job. They are encrypted behind it, so that no link finds
// them broken: only the protocols can.
//
// The integration tests alone use it. Called by lanes' threads.
#include <dlfcn.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

namespace {

// Counted on each connection from when the file was there. By the first one changed a job is
// admitted, and its thousands of rounds are not over; one changed bit alone might stand in the
// filling of an octet.
constexpr int kFirst = 100, kChanged = 8;
// Packet's length, tick: what is behind them is a layer's.
constexpr std::size_t kHeaderBytes = 8;

std::mutex mutex;
std::map<const SSL*, int> sent;
int left = 0;
const SSL* deviating = nullptr;  // the connection of the first change: with it the session ends

bool is_due(const SSL* connection, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  const char* file = std::getenv("TKDC_TEST_DEVIATE");
  if (left == 0) {
    if (file == nullptr || ::unlink(file) != 0) return false;
    sent.clear();
    deviating = nullptr;
    left = kChanged;
  }
  // Towards the other neighbour a job says something in one tick of many, and gets nowhere near.
  if (++sent[connection] < kFirst || bytes <= kHeaderBytes) return false;
  if (deviating == nullptr) deviating = connection;
  if (connection != deviating) return false;
  --left;
  return true;
}

}  // namespace

extern "C" int SSL_write_ex(SSL* connection, const void* data, std::size_t bytes,
                            std::size_t* written) {
  using Write = int (*)(SSL*, const void*, std::size_t, std::size_t*);
  static const auto next = reinterpret_cast<Write>(::dlsym(RTLD_NEXT, "SSL_write_ex"));
  if (!is_due(connection, bytes)) return next(connection, data, bytes, written);
  const auto* octets = static_cast<const unsigned char*>(data);
  std::vector<unsigned char> changed(octets, octets + bytes);
  changed.back() ^= 0xff;
  return next(connection, changed.data(), changed.size(), written);
}
