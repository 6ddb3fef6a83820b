// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/lut_modes.h"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "lut/norm_tables.h"
#include "lut/shares.h"
#include "lut/string_product.h"
#include "lut/tables.h"

namespace tkdc::bench {
namespace {

constexpr std::size_t kKey = 16;

// Of AES-LT and AES-T16.
Result<lut::Tables> make_tables(lut::Dealer& dealer, std::size_t lookups, bool expanded,
                                std::type_identity<lut::Tables>) {
  auto tables = lut::Tables::make(dealer, lut::aes_sbox(), lookups);
  if (tables && expanded) tables->expand();
  return tables;
}
Result<lut::NormTables> make_tables(lut::Dealer& dealer, std::size_t lookups, bool,
                                    std::type_identity<lut::NormTables>) {
  return lut::NormTables::make(dealer, lookups);
}

// Malicious, by tables that look octets up.
template <class Tables>
class LookupTables final : public LutMode {
 public:
  explicit LookupTables(lut::Dealer& dealer) : dealer_(dealer) {}

  Result<void> set_key(ByteSpan shares) override {
    auto masks = lut::InputMasks::make(dealer_, kKey);
    if (!masks) return masks.error();
    auto key = masks->input(dealer_, shares);
    if (!key) return key.error();
    auto tables =
        make_tables(dealer_, lut::schedule_lookups(kKey), true, std::type_identity<Tables>());
    if (!tables) return tables.error();
    tables_.emplace(std::move(*tables));
    auto keys = lut::expand_key(dealer_, substitute(), *key);
    if (!keys) return keys.error();
    keys_ = std::move(*keys);
    return dealer_.check();
  }
  Result<void> ahead(std::size_t blocks, bool expanded) override {
    tables_.reset();
    auto masks = lut::InputMasks::make(dealer_, blocks * lut::kBlockOctets);
    if (!masks) return masks.error();
    masks_.emplace(std::move(*masks));
    auto tables = make_tables(dealer_, blocks * lut::block_lookups(kKey), expanded,
                              std::type_identity<Tables>());
    if (!tables) return tables.error();
    tables_.emplace(std::move(*tables));
    return {};
  }
  std::size_t kept_octets() const override { return tables_->octets() + masks_->octets(); }
  Result<void> encrypt(MutableByteSpan blocks) override {
    auto states = masks_->input(dealer_, blocks);
    if (!states) return states.error();
    if (auto done = lut::encrypt(substitute(), keys_, *states); !done) return done;
    auto out = lut::output(dealer_, *states);
    if (!out) return out.error();
    std::copy(out->begin(), out->end(), blocks.begin());
    return {};
  }

 private:
  lut::Substitute substitute() {
    return [this](std::span<lut::Label> octets) { return tables_->look_up(dealer_, octets); };
  }
  lut::Dealer& dealer_;
  std::optional<Tables> tables_;
  std::optional<lut::InputMasks> masks_;
  lut::Labels keys_;
};

class SharedTables final : public LutMode {
 public:
  explicit SharedTables(lut::Dealer& dealer) : dealer_(dealer) {}

  Result<void> set_key(ByteSpan shares) override {
    auto tables = lut::ShareTables::make(dealer_, lut::aes_sbox(), lut::schedule_lookups(kKey));
    if (!tables) return tables.error();
    auto keys = lut::expand_key_shares(dealer_, *tables, shares);
    if (!keys) return keys.error();
    keys_ = std::move(*keys);
    return {};
  }
  // They are expanded always: that takes less time than the rest.
  Result<void> ahead(std::size_t blocks, bool) override {
    tables_.reset();
    auto tables =
        lut::ShareTables::make(dealer_, lut::aes_sbox(), blocks * lut::block_lookups(kKey));
    if (!tables) return tables.error();
    tables_.emplace(std::move(*tables));
    return {};
  }
  std::size_t kept_octets() const override { return tables_->octets(); }
  Result<void> encrypt(MutableByteSpan blocks) override {
    if (auto done = lut::encrypt_shares(dealer_, *tables_, keys_, blocks); !done) return done;
    return dealer_.exchange(blocks);
  }

 private:
  lut::Dealer& dealer_;
  std::optional<lut::ShareTables> tables_;
  SecretVector keys_;
};

template <class Mode>
std::unique_ptr<LutMode> made(lut::Dealer& dealer) {
  return std::make_unique<Mode>(dealer);
}

const std::vector<LutModeInfo>& built() {
  static constexpr std::size_t kOnline = 16 + 160 + 16,
                               kNorm = 3 * lut::NormTables::kLabels * lut::kLabelBytes;
  static const std::vector<LutModeInfo> all = {
      {"AES-LT", true, true, 10, kOnline, 4 * 160 * lut::kPlaces * lut::kLabelBytes,
       lut::kSessionBound, made<LookupTables<lut::Tables>>},
      {"AES-T16", true, false, 30, kOnline + 2 * 160, 4 * 160 * kNorm, lut::kSessionBound,
       made<LookupTables<lut::NormTables>>},
      {"AES-LT", false, false, 10, 160 + 16, 2 * 160 * lut::kPlaces, 0, made<SharedTables>},
  };
  return all;
}

}  // namespace

const std::vector<std::string>& lut_mode_names() {
  static const std::vector<std::string> names = {"AES-LT",  "AES-BD",  "AES-RP",  "AES-T16",
                                                 "3DES-LT", "3DES-PV", "3DES-Raw"};
  return names;
}

Result<LutModeInfo> find_lut_mode(const std::string& name, bool malicious, unsigned parties) {
  std::string there;
  for (const LutModeInfo& one : built()) {
    if (parties == 2 && one.name == name && one.malicious == malicious) return one;
    there += std::string(there.empty() ? "" : ", ") + one.name +
             (one.malicious ? " malicious" : " semi-honest");
  }
  return fail("bench: " + name + (malicious ? ", malicious" : ", semi-honest") + " between " +
              std::to_string(parties) + " parties is not built; what is, between two: " + there);
}

}  // namespace tkdc::bench
