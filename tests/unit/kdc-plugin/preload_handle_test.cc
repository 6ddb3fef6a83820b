// SPDX-License-Identifier: Apache-2.0
// Which keys libtkdc-k5.so takes for handles: those that were given out in this process, however
// often they were copied. A key that a message brought is none, whatever its octets.
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <utility>

#include "base/hex.h"
#include "preload_fixture.h"
#include "sample_key.h"

extern "C" {
#include "derivation.h"
}

namespace tkdc::test {

inline int lines_logged = 0;

}  // namespace tkdc::test

// The library's lines end here.
extern "C" void syslog(int, const char*, ...) { ++tkdc::test::lines_logged; }

namespace tkdc::test {
namespace {

constexpr krb5_keyusage kReplyUsage = 3;
constexpr const char* kTellStamp = "TKDC_TEST_TELL_STAMP";

using Use = krb5_error_code (*)(krb5_context, const krb5_keyblock&);

char text[256] = "octets";
char room[512];

krb5_data data_of(unsigned octets) { return {KV5M_DATA, octets, text}; }

krb5_enc_data sealed_of(krb5_enctype enctype) {
  krb5_enc_data out{};
  out.enctype = enctype;
  out.ciphertext = {KV5M_DATA, 64, text};
  return out;
}

struct Scattered {
  krb5_crypto_iov iov[3] = {{KRB5_CRYPTO_TYPE_HEADER, {KV5M_DATA, 16, room}},
                            {KRB5_CRYPTO_TYPE_DATA, {KV5M_DATA, 16, room + 16}},
                            {KRB5_CRYPTO_TYPE_TRAILER, {KV5M_DATA, 24, room + 32}}};
};

struct Summed {
  krb5_crypto_iov iov[2] = {{KRB5_CRYPTO_TYPE_DATA, {KV5M_DATA, 16, text}},
                            {KRB5_CRYPTO_TYPE_CHECKSUM, {KV5M_DATA, 12, room}}};
};

// As an authentication context holds a subkey.
template <typename Do>
krb5_error_code with_key(krb5_context context, const krb5_keyblock& block, Do use) {
  krb5_key key = nullptr;
  krb5_error_code code = krb5_k_create_key(context, &block, &key);
  if (code != 0) return code;
  code = use(key);
  krb5_k_free_key(context, key);
  return code;
}

krb5_error_code encrypt(krb5_context context, const krb5_keyblock& key) {
  const krb5_data input = data_of(16);
  krb5_enc_data out{};
  out.ciphertext = {KV5M_DATA, sizeof room, room};
  return krb5_c_encrypt(context, &key, kReplyUsage, nullptr, &input, &out);
}

krb5_error_code encrypt_k(krb5_context context, const krb5_keyblock& block) {
  return with_key(context, block, [&](krb5_key key) {
    const krb5_data input = data_of(16);
    krb5_enc_data out{};
    out.ciphertext = {KV5M_DATA, sizeof room, room};
    return krb5_k_encrypt(context, key, kReplyUsage, nullptr, &input, &out);
  });
}

krb5_error_code decrypt(krb5_context context, const krb5_keyblock& key) {
  const krb5_enc_data sealed = sealed_of(key.enctype);
  krb5_data out{KV5M_DATA, sizeof room, room};
  return krb5_c_decrypt(context, &key, kReplyUsage, nullptr, &sealed, &out);
}

krb5_error_code decrypt_k(krb5_context context, const krb5_keyblock& block) {
  return with_key(context, block, [&](krb5_key key) {
    const krb5_enc_data sealed = sealed_of(block.enctype);
    krb5_data out{KV5M_DATA, sizeof room, room};
    return krb5_k_decrypt(context, key, kReplyUsage, nullptr, &sealed, &out);
  });
}

template <auto entry>
krb5_error_code scattered(krb5_context context, const krb5_keyblock& key) {
  Scattered s;
  return entry(context, &key, kReplyUsage, nullptr, s.iov, std::size(s.iov));
}

template <auto entry>
krb5_error_code scattered_k(krb5_context context, const krb5_keyblock& block) {
  return with_key(context, block, [&](krb5_key key) {
    Scattered s;
    return entry(context, key, kReplyUsage, nullptr, s.iov, std::size(s.iov));
  });
}

krb5_error_code checksum(krb5_context context, const krb5_keyblock& key) {
  const krb5_data input = data_of(16);
  krb5_checksum sum{};
  const krb5_error_code code = krb5_c_make_checksum(context, 0, &key, kReplyUsage, &input, &sum);
  krb5_free_checksum_contents(context, &sum);
  return code;
}

krb5_error_code checksum_k(krb5_context context, const krb5_keyblock& block) {
  return with_key(context, block, [&](krb5_key key) {
    const krb5_data input = data_of(16);
    krb5_checksum sum{};
    const krb5_error_code code = krb5_k_make_checksum(context, 0, key, kReplyUsage, &input, &sum);
    krb5_free_checksum_contents(context, &sum);
    return code;
  });
}

krb5_error_code checksum_iov(krb5_context context, const krb5_keyblock& key) {
  Summed s;
  return krb5_c_make_checksum_iov(context, 0, &key, kReplyUsage, s.iov, std::size(s.iov));
}

krb5_error_code checksum_iov_k(krb5_context context, const krb5_keyblock& block) {
  return with_key(context, block, [&](krb5_key key) {
    Summed s;
    return krb5_k_make_checksum_iov(context, 0, key, kReplyUsage, s.iov, std::size(s.iov));
  });
}

// The verifications: "does not hold" is an error here.
krb5_error_code unless(krb5_boolean valid, krb5_error_code code) {
  return code != 0 || valid ? code : KRB5KRB_AP_ERR_BAD_INTEGRITY;
}

krb5_error_code verify(krb5_context context, const krb5_keyblock& key) {
  const krb5_data input = data_of(16);
  const krb5_checksum sum{KV5M_CHECKSUM, CKSUMTYPE_HMAC_SHA1_96_AES256, 12,
                          reinterpret_cast<krb5_octet*>(room)};
  krb5_boolean valid = FALSE;
  const krb5_error_code code =
      krb5_c_verify_checksum(context, &key, kReplyUsage, &input, &sum, &valid);
  return unless(valid, code);
}

krb5_error_code verify_k(krb5_context context, const krb5_keyblock& block) {
  return with_key(context, block, [&](krb5_key key) {
    const krb5_data input = data_of(16);
    const krb5_checksum sum{KV5M_CHECKSUM, CKSUMTYPE_HMAC_SHA1_96_AES256, 12,
                            reinterpret_cast<krb5_octet*>(room)};
    krb5_boolean valid = FALSE;
    const krb5_error_code code =
        krb5_k_verify_checksum(context, key, kReplyUsage, &input, &sum, &valid);
    return unless(valid, code);
  });
}

krb5_error_code verify_iov(krb5_context context, const krb5_keyblock& key) {
  Summed s;
  krb5_boolean valid = FALSE;
  const krb5_error_code code = krb5_c_verify_checksum_iov(
      context, CKSUMTYPE_HMAC_SHA1_96_AES256, &key, kReplyUsage, s.iov, std::size(s.iov), &valid);
  return unless(valid, code);
}

krb5_error_code verify_iov_k(krb5_context context, const krb5_keyblock& block) {
  return with_key(context, block, [&](krb5_key key) {
    Summed s;
    krb5_boolean valid = FALSE;
    const krb5_error_code code = krb5_k_verify_checksum_iov(
        context, CKSUMTYPE_HMAC_SHA1_96_AES256, key, kReplyUsage, s.iov, std::size(s.iov), &valid);
    return unless(valid, code);
  });
}

struct Operation {
  const char* name;
  Use use;
  std::size_t answer_bytes;  // of `bytes`; 0: the answer has no body
};

// Each asks the agent once with a handle.
constexpr Operation kOperations[] = {
    {"c_encrypt", encrypt, 44},
    {"k_encrypt", encrypt_k, 44},
    {"c_decrypt", decrypt, 36},
    {"k_decrypt", decrypt_k, 36},
    {"c_encrypt_iov", scattered<krb5_c_encrypt_iov>, 44},
    {"k_encrypt_iov", scattered_k<krb5_k_encrypt_iov>, 44},
    {"c_decrypt_iov", scattered<krb5_c_decrypt_iov>, 16},
    {"k_decrypt_iov", scattered_k<krb5_k_decrypt_iov>, 16},
    {"c_make_checksum", checksum, 12},
    {"k_make_checksum", checksum_k, 12},
    {"c_make_checksum_iov", checksum_iov, 12},
    {"k_make_checksum_iov", checksum_iov_k, 12},
    {"c_verify_checksum", verify, 0},
    {"k_verify_checksum", verify_k, 0},
    {"c_verify_checksum_iov", verify_iov, 0},
    {"k_verify_checksum_iov", verify_iov_k, 0},
};

krb5_keyblock* known_key() {
  static Octets octets(32, 0x21);
  static krb5_keyblock key{KV5M_KEYBLOCK, 18, 32, octets.data()};
  return &key;
}

// As an armor key is made of a subkey and a session key, a challenge's of armor and a user's key.
krb5_error_code combine(krb5_context context, const krb5_keyblock& first,
                        const krb5_keyblock& second, Octets* out) {
  krb5_keyblock* made = nullptr;
  const krb5_error_code code =
      krb5_c_fx_cf2_simple(context, &first, "one", &second, "another", &made);
  if (code == 0 && out) out->assign(made->contents, made->contents + made->length);
  krb5_free_keyblock(context, made);
  return code;
}

krb5_error_code derive(krb5_context context, const krb5_keyblock& key, Octets* out) {
  const krb5_data pepper = data_of(6);
  krb5_keyblock* made = nullptr;
  const krb5_error_code code = krb5_c_derive_prfplus(context, &key, &pepper, ENCTYPE_NULL, &made);
  if (code == 0 && out) out->assign(made->contents, made->contents + made->length);
  krb5_free_keyblock(context, made);
  return code;
}

krb5_error_code prf(krb5_context context, const krb5_keyblock& key) {
  krb5_data input = data_of(6), out{KV5M_DATA, 16, room};
  return krb5_c_prf(context, &key, &input, &out);
}

krb5_error_code prf_k(krb5_context context, const krb5_keyblock& block) {
  return with_key(context, block, [&](krb5_key key) {
    krb5_data input = data_of(6), out{KV5M_DATA, 16, room};
    return krb5_k_prf(context, key, &input, &out);
  });
}

krb5_error_code prfplus(krb5_context context, const krb5_keyblock& key) {
  const krb5_data input = data_of(6);
  krb5_data out{KV5M_DATA, 16, room};
  return krb5_c_prfplus(context, &key, &input, &out);
}

// Formed like what fx_cf2 gives out.
Octets derived_imitation() {
  const tkdc_wire_key key = sample_key();
  tkdc_derivation by{};
  by.kind = TKDC_DERIVE_CF2;
  by.enctype = 18;
  by.known_half_bytes = 32;
  by.pepper_bytes = 7;
  Octets octets(TKDC_DERIVED_HANDLE_MAX_BYTES);
  octets.resize(tkdc_derived_encode(octets.data(), &key, &by));
  return octets;
}

class Handles : public Preload {
 protected:
  void expect_no_handle(const Octets& octets, const std::string& what) {
    const Key key(octets);
    agent().answer_with({TKDC_STATUS_OK, bytes_of(16)});
    for (const Operation& operation : kOperations) {
      const krb5_error_code code = operation.use(context, key.block);
      EXPECT_NE(code, 0) << what << ", " << operation.name;
      EXPECT_NE(code, KRB5KDC_ERR_SVC_UNAVAILABLE) << "only this request fails, and at once";
    }
    const Key real(handle());
    Octets made;
    EXPECT_NE(combine(context, key.block, *known_key(), &made), 0) << what;
    EXPECT_NE(combine(context, *known_key(), key.block, &made), 0) << what;
    EXPECT_NE(combine(context, key.block, key.block, &made), 0) << what;
    EXPECT_NE(combine(context, key.block, real.block, &made), 0) << what;
    EXPECT_NE(derive(context, key.block, &made), 0) << what;
    EXPECT_TRUE(made.empty()) << what;
    for (const Use use : {prf, prf_k, prfplus}) {
      const krb5_error_code code = use(context, key.block);
      EXPECT_NE(code, 0) << what;
      EXPECT_NE(code, KRB5_PROG_KEYTYPE_NOSUPP) << what << ": taken for one that exists as shares";
    }
    EXPECT_TRUE(agent().asked().empty()) << what;
  }

  void expect_asks(const Operation& operation, const krb5_keyblock& key) {
    Answer answer;
    if (operation.answer_bytes) answer.body = bytes_of(operation.answer_bytes);
    agent().answer_with(answer);
    EXPECT_EQ(operation.use(context, key), 0) << operation.name;
    EXPECT_EQ(agent().asked().size(), 1u) << operation.name;
  }
};

// The control of everything below: what is refused there works here.
TEST_F(Handles, OnesGivenOutAreTakenEverywhere) {
  const Key key(handle());
  krb5_keyblock* copy = nullptr;
  ASSERT_EQ(krb5_copy_keyblock(context, &key.block, &copy), 0);
  for (const Operation& operation : kOperations) {
    expect_asks(operation, key.block);
    expect_asks(operation, *copy);
  }
  krb5_free_keyblock(context, copy);
  EXPECT_EQ(combine(context, *known_key(), key.block, nullptr), 0);
  EXPECT_EQ(derive(context, key.block, nullptr), 0);
  EXPECT_EQ(prf(context, key.block), KRB5_PROG_KEYTYPE_NOSUPP);
}

TEST_F(Handles, ImitationsAreTakenNowhere) {
  expect_no_handle(imitation(), "a handle's fields");
  expect_no_handle(derived_imitation(), "a derived handle's fields");
  Octets stamped = imitation();
  std::memset(stamped.data() + TKDC_HANDLE_STAMP_AT, 0x33, TKDC_HANDLE_STAMP_BYTES);
  expect_no_handle(stamped, "with a stamp that was guessed");
}

TEST_F(Handles, AStampIsGoodForItsHandleOnly) {
  const Octets good = handle();
  for (std::size_t i = 0; i < good.size(); ++i) {
    Octets changed = good;
    changed[i] ^= 1;
    const Key key(changed);
    EXPECT_NE(encrypt(context, key.block), 0) << "octet " << i;
  }
  EXPECT_TRUE(agent().asked().empty());
  Octets shorter(good.begin(), good.end() - 1), longer = good;
  longer.push_back('x');
  expect_no_handle(shorter, "an octet too few");
  expect_no_handle(longer, "an octet too many");
  Octets derived = derived_imitation();
  std::memcpy(derived.data() + TKDC_HANDLE_STAMP_AT, good.data() + TKDC_HANDLE_STAMP_AT,
              TKDC_HANDLE_STAMP_BYTES);
  expect_no_handle(derived, "a handle's stamp on a derived one");
}

TEST_F(Handles, DerivedOnesAreGivenOutHere) {
  const Key key(handle());
  Octets challenge, cookie;
  ASSERT_EQ(combine(context, *known_key(), key.block, &challenge), 0);
  ASSERT_EQ(derive(context, key.block, &cookie), 0);
  for (const Octets& made : {challenge, cookie}) {
    const Key derived(made);
    for (const Operation& operation : kOperations)
      if (operation.answer_bytes) expect_asks(operation, derived.block);
    EXPECT_EQ(derive(context, derived.block, nullptr), KRB5_PROG_KEYTYPE_NOSUPP);
    agent().answer_with({});
    for (std::size_t i = 0; i < made.size(); ++i) {
      Octets changed = made;
      changed[i] ^= 1;
      const Key other(changed);
      EXPECT_NE(encrypt(context, other.block), 0) << "octet " << i;
    }
    EXPECT_TRUE(agent().asked().empty()) << "neither known half nor pepper can be another";
  }
}

// Whoever sends them can send many.
TEST_F(Handles, ImitationsAreLoggedOnceInAWhile) {
  const Key key(imitation());
  const int before = lines_logged;
  for (int i = 0; i < 1'000; ++i) EXPECT_NE(encrypt(context, key.block), 0);
  EXPECT_LE(lines_logged, before + 1);
  EXPECT_GE(lines_logged, 1);
}

// Not even one whose maker is unknown: a keytab is for real keys.
TEST_F(Handles, NoneIsWrittenToAKeytab) {
  krb5_keytab keytab = nullptr;
  ASSERT_EQ(krb5_kt_resolve(context, "MEMORY:tkdc", &keytab), 0);
  for (const Octets& octets : {handle(), imitation(), derived_imitation()}) {
    const Key key(octets);
    krb5_keytab_entry entry{};
    entry.key = key.block;
    EXPECT_EQ(krb5_kt_add_entry(context, keytab, &entry), KRB5_KT_NOWRITE);
  }
  krb5_kt_close(context, keytab);
}

// Workers of krb5kdc have handles that their parent was given.
TEST_F(Handles, AChildKnowsItsParentsHandles) {
  const Octets parents = handle();
  const pid_t child = ::fork();
  if (child == 0) {
    Octets plain(parents.size());
    const tkdc_preload_config config{"/none", true, 1};
    const bool good = tkdc_preload_api.configure(context, &config) == 0 &&
                      tkdc_preload_api.unstamp(parents.data(), parents.size(), plain.data()) &&
                      plain == imitation() && handle() == parents;
    ::_exit(good ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Run by the next test, in a process of its own.
TEST_F(Handles, AStampIsToldToTheNextTest) {
  if (std::getenv(kTellStamp)) std::printf("\nhandle %s\n", to_hex(handle()).c_str());
}

TEST_F(Handles, HandlesOfAnotherProcessMeanNothing) {
  char self[4096] = {};
  ASSERT_GT(::readlink("/proc/self/exe", self, sizeof self - 1), 0);
  const std::string command = std::string(kTellStamp) + "=1 '" + self +
                              "' --gtest_filter=Handles.AStampIsToldToTheNextTest";
  FILE* output = ::popen(command.c_str(), "r");
  ASSERT_NE(output, nullptr);
  char line[1024], told[1024] = {};
  while (std::fgets(line, sizeof line, output)) std::sscanf(line, "handle %1000s", told);
  ASSERT_EQ(::pclose(output), 0);
  const std::string others = told, own = to_hex(handle());
  ASSERT_EQ(others.size(), own.size());
  const std::size_t stamp_at = 2 * TKDC_HANDLE_STAMP_AT;
  EXPECT_EQ(others.substr(0, stamp_at), own.substr(0, stamp_at)) << "the control: the same handle";
  EXPECT_NE(others.substr(stamp_at), own.substr(stamp_at));
}

}  // namespace
}  // namespace tkdc::test
