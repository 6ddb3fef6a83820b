// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/lut_modes.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "lut/aes_powers.h"
#include "lut/des_circuit.h"
#include "lut/des_polynomials.h"
#include "lut/des_tables.h"
#include "lut/norm_tables.h"
#include "lut/shares.h"
#include "lut/string_product.h"
#include "lut/tables.h"

namespace tkdc::bench {
namespace {

constexpr BlockCipher kAes = {"AES-128-ECB", 16, 16}, kDes = {"DES-EDE3-ECB", 24, 8};

Result<lut::Tables> make_tables(lut::Dealer& dealer, std::size_t lookups, bool expanded) {
  auto tables = lut::Tables::make(dealer, lut::aes_sbox(), lookups);
  if (tables && expanded) tables->expand();
  return tables;
}
Result<lut::NormTables> make_norms(lut::Dealer& dealer, std::size_t lookups, bool) {
  return lut::NormTables::make(dealer, lookups);
}
template <lut::Powers powers>
Result<lut::PowerBoxes> make_powers(lut::Dealer& dealer, std::size_t lookups, bool) {
  return lut::PowerBoxes::make(dealer, powers, lookups);
}

template <auto make>
using MadeBy = std::remove_cvref_t<decltype(*make(std::declval<lut::Dealer&>(), 0, true))>;

// AES, malicious, by what one of the above makes.
template <auto make>
class AesMode final : public LutMode {
 public:
  explicit AesMode(lut::Dealer& dealer) : dealer_(dealer) {}

  Result<void> set_key(ByteSpan shares) override {
    auto masks = lut::InputMasks::make(dealer_, kAes.key);
    if (!masks) return masks.error();
    auto key = masks->input(dealer_, shares);
    if (!key) return key.error();
    auto tables = make(dealer_, lut::schedule_lookups(kAes.key), true);
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
    auto tables = make(dealer_, blocks * lut::block_lookups(kAes.key), expanded);
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
  std::optional<MadeBy<make>> tables_;
  std::optional<lut::InputMasks> masks_;
  lut::Labels keys_;
};

// Triple DES, malicious.
template <class Boxes>
class DesMode final : public LutMode {
 public:
  explicit DesMode(lut::Dealer& dealer) : dealer_(dealer) {}

  Result<void> set_key(ByteSpan shares) override {
    auto masks = lut::BitMasks::make(dealer_, kDes.key);
    if (!masks) return masks.error();
    auto key = masks->input(dealer_, shares);
    if (!key) return key.error();
    key_ = std::move(*key);
    lut::standard_order(key_);
    return {};
  }
  Result<void> ahead(std::size_t blocks, bool expanded) override {
    boxes_.reset();
    auto masks = lut::BitMasks::make(dealer_, blocks * kDes.block);
    if (!masks) return masks.error();
    masks_.emplace(std::move(*masks));
    auto boxes = Boxes::make(dealer_, blocks * lut::kDesLookups);
    if (!boxes) return boxes.error();
    boxes_.emplace(std::move(*boxes));
    if constexpr (requires { boxes_->expand(); })
      if (expanded) boxes_->expand();
    return {};
  }
  std::size_t kept_octets() const override { return boxes_->octets() + masks_->octets(); }
  Result<void> encrypt(MutableByteSpan blocks) override {
    auto states = masks_->input(dealer_, blocks);
    if (!states) return states.error();
    lut::standard_order(*states);
    const lut::SubstituteSix substitute = [this](std::span<const lut::Label> in,
                                                 std::span<lut::Label> out) {
      return boxes_->substitute(dealer_, in, out);
    };
    if (auto done = lut::encrypt_des(substitute, key_, *states); !done) return done;
    auto out = lut::output(dealer_, lut::octets_of_des(*states));
    if (!out) return out.error();
    std::copy(out->begin(), out->end(), blocks.begin());
    return {};
  }

 private:
  lut::Dealer& dealer_;
  std::optional<Boxes> boxes_;
  std::optional<lut::BitMasks> masks_;
  lut::Labels key_;
};

class SharedTables final : public LutMode {
 public:
  explicit SharedTables(lut::PairDealer& dealer) : dealer_(dealer) {}

  Result<void> set_key(ByteSpan shares) override {
    auto tables = lut::ShareTables::make(dealer_, lut::aes_sbox(), lut::schedule_lookups(kAes.key));
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
        lut::ShareTables::make(dealer_, lut::aes_sbox(), blocks * lut::block_lookups(kAes.key));
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
  lut::PairDealer& dealer_;
  std::optional<lut::ShareTables> tables_;
  SecretVector keys_;
};

template <class Mode>
std::unique_ptr<LutMode> made(lut::Dealer& dealer) {
  return std::make_unique<Mode>(dealer);
}
std::unique_ptr<LutMode> made_for_two(lut::Dealer& dealer) {
  return std::make_unique<SharedTables>(dynamic_cast<lut::PairDealer&>(dealer));
}

// Octets at a party while a block's are made: `labels` kept of each lookup, four times over.
constexpr std::size_t making(std::size_t lookups, std::size_t labels) {
  return 4 * lookups * labels * lut::kLabelBytes;
}

const std::vector<LutModeInfo>& built() {
  constexpr std::size_t kLookups = lut::block_lookups(kAes.key), kSix = lut::kDesLookups,
                        kTriple = 3, kBits = 8;
  using lut::Powers;
  static const std::vector<LutModeInfo> all = {
      {"AES-LT", kAes, true, true, 10, making(kLookups, lut::kPlaces), lut::kSessionBound,
       made<AesMode<make_tables>>},
      {"AES-BD", kAes, true, false, 50, making(kLookups, 6 * kTriple + 2 * kBits),
       lut::kSessionBound, made<AesMode<make_powers<Powers::kAllSquares>>>},
      {"AES-RP", kAes, true, false, 70, making(kLookups, 4 * kTriple + 4 * kBits),
       lut::kSessionBound, made<AesMode<make_powers<Powers::kShortChain>>>},
      {"AES-T16", kAes, true, false, 30, making(kLookups, 3 * lut::NormTables::kLabels),
       lut::kSessionBound, made<AesMode<make_norms>>},
      {"3DES-LT", kDes, true, true, 46, making(kSix, 256), lut::kSessionBound,
       made<DesMode<lut::DesTables>>},
      {"3DES-PV", kDes, true, false, 230, making(kSix, 3 * kTriple + 3 * kBits), lut::kSessionBound,
       made<DesMode<lut::DesByPolynomials>>},
      {"3DES-Raw", kDes, true, false, 138, making(kSix, kTriple * lut::DesByCircuit::kAnds),
       lut::kSessionBound, made<DesMode<lut::DesByCircuit>>},
      {"AES-LT", kAes, false, false, 10, 2 * kLookups * lut::kPlaces, 0, made_for_two},
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
    // Without MACs there are but two.
    if (parties > 2 && !one.malicious) continue;
    if (one.name == name && one.malicious == malicious) return one;
    there += std::string(there.empty() ? "" : ", ") + one.name +
             (one.malicious ? " malicious" : " semi-honest");
  }
  return fail("bench: " + name + (malicious ? ", malicious" : ", semi-honest") + " among " +
              std::to_string(parties) + " parties is not built; what is: " + there);
}

}  // namespace tkdc::bench
