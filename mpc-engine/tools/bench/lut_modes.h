// SPDX-License-Identifier: Apache-2.0
// The modes of tkdc bench lut behind one face: what is made ahead for some blocks, and what they
// take then.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lut/dealer.h"

namespace tkdc::bench {

class LutMode {
 public:
  virtual ~LutMode() = default;
  // The key of which these are shares; its schedule, where the cipher has one.
  virtual Result<void> set_key(ByteSpan shares) = 0;
  // For so many blocks that come next.
  virtual Result<void> ahead(std::size_t blocks, bool expanded) = 0;
  virtual std::size_t kept_octets() const = 0;  // of what ahead() made
  // Shares of blocks become ciphertext, the same at both.
  virtual Result<void> encrypt(MutableByteSpan blocks) = 0;
};

struct BlockCipher {
  const char* name;  // OpenSSL's, one block by itself
  std::size_t key, block;
};

struct LutModeInfo {
  std::string name;
  BlockCipher cipher;
  bool malicious;
  bool expands;                     // whether tables may be kept unexpanded
  unsigned rounds;                  // of openings, a block's
  std::size_t octets_while_making;  // of memory, for a block at a party
  double log2_failure;              // of a session, of all its batches
  std::function<std::unique_ptr<LutMode>(lut::Dealer&)> make;
};

// Error: names what is built, if this is not.
Result<LutModeInfo> find_lut_mode(const std::string& name, bool malicious, unsigned parties);
// The paper's modes and ours.
const std::vector<std::string>& lut_mode_names();

}  // namespace tkdc::bench
