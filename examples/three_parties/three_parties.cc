// SPDX-License-Identifier: Apache-2.0
// Three processes on loopback: party 0 brings an AES key and an amount, party 1 a
// block and an amount, party 2 nothing. All see the ciphertext, an HMAC and who
// has more. Usage: three_parties [first port]
#include <sys/wait.h>
#include <tkdc/party.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace tkdc::mpc;

template <class T>
T need(tkdc::Result<T> result) {
  if (result.ok()) return std::move(result).value();
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

void print(const char* name, const Bytes& value) {
  std::printf("%s", name);
  for (unsigned octet : value) std::printf("%02x", octet);
  std::printf("\n");
}

void compute(Party party) {
  const Bytes key = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};  // FIPS 197, C.1
  Bytes block(16);
  for (unsigned k = 0; k < 16; ++k) block[k] = static_cast<std::uint8_t>(0x11 * k);
  Shares k = need(party.share(0, Ring::kGf256, 16, key));  // others' arguments are not read
  Shares x = need(party.share(1, Ring::kGf256, 16, block));
  Shares y = need(party.aes_encrypt(need(party.aes_key(k)), x));
  Shares mac = need(party.hmac_sha1(k, x));
  Shares mine = need(party.share(0, Ring::kBits, 4, encode(Ring::kZ2_32, {1'000'000})));
  Shares yours = need(party.share(1, Ring::kBits, 4, encode(Ring::kZ2_32, {2'000'000})));
  Shares less = need(party.less_than(mine, yours, 4));
  const Bytes opened[] = {need(party.open(y)), need(party.open(mac)), need(party.open(less))};
  party.leave();
  if (party.index() != 2) return;
  print("aes ", opened[0]);
  print("hmac ", opened[1]);
  print("party 0 has less ", opened[2]);
}

int main(int argc, char** argv) {
  const int port = argc > 1 ? std::atoi(argv[1]) : 47'700;
  PartyOptions options;
  options.program = "three_parties 1";
  Identity identity[3];  // in life each party makes its own, and they exchange fingerprints
  for (int p = 0; p < 3; ++p) {
    identity[p] = need(make_identity("party " + std::to_string(p)));
    options.members[p] = {"127.0.0.1:" + std::to_string(port + p), identity[p].fingerprint};
  }
  while (options.index < 2 && fork() == 0) ++options.index;
  options.identity = identity[options.index];
  compute(need(Party::join(options)));
  int status = 0;
  return options.index < 2 && (wait(&status) < 0 || status != 0) ? 1 : 0;
}
