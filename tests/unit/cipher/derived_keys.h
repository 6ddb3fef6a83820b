// SPDX-License-Identifier: Apache-2.0
// A long-term key with everything that is derived from it for one usage, at all parties of a
// protocol. Operations are a party's, on its share.
#pragma once

#include <memory>

#include "cipher/rfc8009.h"
#include "support/protocol_parties.h"

namespace tkdc::test {

struct DerivedKeys : ProtocolParties {
  DerivedKeys(std::uint64_t seed, ByteSpan base)
      : ProtocolParties(seed), key(base.begin(), base.end()) {}
  virtual ~DerivedKeys() = default;

  virtual Task<SharedBytes> seal(Protocol& c, std::size_t party, SharedBytes plain) = 0;
  virtual Task<std::optional<SharedBytes>> open(Protocol& c, std::size_t party,
                                                SharedBytes sealed) = 0;
  virtual Task<SharedBytes> mac(Protocol& c, std::size_t party, SharedBytes data) = 0;
  virtual Task<SharedBytes> prf(Protocol& c, std::size_t party, const SharedBytes& in) = 0;
  // What the PRF begins with.
  virtual const Shares& base() const = 0;

  SecretVector key;
  Shares ke, ki, kc;
};

class Rfc3962Keys final : public DerivedKeys {
 public:
  Rfc3962Keys(std::uint64_t seed, ByteSpan base, std::uint32_t usage)
      : DerivedKeys(seed, base), base_of_(expand(key)) {
    for (auto [kind, out] : {std::pair{DerivedKey::kEncryption, &ke},
                             {DerivedKey::kIntegrity, &ki},
                             {DerivedKey::kChecksum, &kc}})
      *out = shares_of([&, kind = kind](Protocol& c, int p) {
        return derive(c, base_of_[static_cast<std::size_t>(p)], key.size(), usage, kind);
      });
  }
  Task<SharedBytes> seal(Protocol& c, std::size_t party, SharedBytes plain) override {
    return rfc3962_seal(c, ke[party], ki[party], std::move(plain));
  }
  Task<std::optional<SharedBytes>> open(Protocol& c, std::size_t party,
                                        SharedBytes sealed) override {
    return rfc3962_open(c, ke[party], ki[party], std::move(sealed));
  }
  Task<SharedBytes> mac(Protocol& c, std::size_t party, SharedBytes data) override {
    return hmac_sha1_96(c, kc[party], std::move(data));
  }
  Task<SharedBytes> prf(Protocol& c, std::size_t party, const SharedBytes& in) override {
    return rfc3962_prf(c, base_of_[party], key.size(), in);
  }
  const Shares& base() const override { return base_of_; }

 private:
  static Task<SharedBytes> derive(Protocol& c, const SharedBytes& round_keys, std::size_t key_bytes,
                                  std::uint32_t usage, DerivedKey kind) {
    std::vector<Bytes> constants(1, derivation_constant(usage, kind));
    auto derived = co_await derive_keys(c, round_keys, key_bytes, std::move(constants));
    if (kind == DerivedKey::kEncryption) {
      co_return co_await aes_expand_key(c, std::move(derived.front()));
    }
    co_return co_await hmac_pad_states(c, kSha1, std::move(derived.front()));
  }

  Shares base_of_;
};

class Rfc8009Keys final : public DerivedKeys {
 public:
  Rfc8009Keys(std::uint64_t seed, ByteSpan base, std::uint32_t usage)
      : DerivedKeys(seed, base), enctype(rfc8009_of(key.size())) {
    const Shares shares = share(key);
    base_of_ = states_of(shares);
    auto derived = [&](DerivedKey kind, std::size_t bytes) {
      return shares_of([&](Protocol& c, int p) {
        return rfc8009_kdf(c, enctype, base_of_[static_cast<std::size_t>(p)],
                           derivation_constant(usage, kind), SharedBytes(), bytes);
      });
    };
    raw_ke = derived(DerivedKey::kEncryption, enctype.key_bytes);
    raw_ki = derived(DerivedKey::kIntegrity, enctype.mac_key_bytes);
    raw_kc = derived(DerivedKey::kChecksum, enctype.mac_key_bytes);
    ke = shares_of(
        [&](Protocol& c, int p) { return aes_expand_key(c, raw_ke[static_cast<std::size_t>(p)]); });
    ki = states_of(raw_ki);
    kc = states_of(raw_kc);
  }
  Task<SharedBytes> seal(Protocol& c, std::size_t party, SharedBytes plain) override {
    return rfc8009_seal(c, enctype, ke[party], ki[party], std::move(plain));
  }
  Task<std::optional<SharedBytes>> open(Protocol& c, std::size_t party,
                                        SharedBytes sealed) override {
    return rfc8009_open(c, enctype, ke[party], ki[party], std::move(sealed));
  }
  Task<SharedBytes> mac(Protocol& c, std::size_t party, SharedBytes data) override {
    return rfc8009_mac(c, enctype, kc[party], std::move(data));
  }
  Task<SharedBytes> prf(Protocol& c, std::size_t party, const SharedBytes& in) override {
    return rfc8009_prf(c, enctype, base_of_[party], in);
  }
  const Shares& base() const override { return base_of_; }

  const Rfc8009& enctype;
  Shares raw_ke, raw_ki, raw_kc;

 private:
  Shares states_of(const Shares& mac_key) {
    return shares_of([&](Protocol& c, int p) {
      return hmac_pad_states(c, enctype.hash, mac_key[static_cast<std::size_t>(p)]);
    });
  }

  Shares base_of_;
};

// Of enctype 17 to 20.
inline std::unique_ptr<DerivedKeys> derive_all(std::uint32_t enctype, std::uint64_t seed,
                                               ByteSpan base, std::uint32_t usage) {
  if (enctype <= 18) return std::make_unique<Rfc3962Keys>(seed, base, usage);
  return std::make_unique<Rfc8009Keys>(seed, base, usage);
}

}  // namespace tkdc::test
