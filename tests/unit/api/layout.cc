// SPDX-License-Identifier: Apache-2.0
// Prints what programs have compiled into them of the engine's headers: sizes, places of members,
// values of enumerators. tests/engine_abi.py builds and runs it.
#include <tkdc/party.h>

#include <cstdio>

using namespace tkdc;
using namespace tkdc::mpc;

#define SIZE(type) std::printf("size %s %zu align %zu\n", #type, sizeof(type), alignof(type))
#define PLACE(type, member) std::printf("place %s.%s %zu\n", #type, #member, offsetof(type, member))
#define VALUE(name) std::printf("value %s %d\n", #name, static_cast<int>(name))

#pragma GCC diagnostic ignored "-Winvalid-offsetof"

int main() {
  SIZE(Error);
  PLACE(Error, message);
  SIZE(Result<void>);
  SIZE(Result<Shares>);
  SIZE(Result<Bytes>);
  SIZE(Result<Party>);
  SIZE(Bytes);
  SIZE(ByteSpan);

  SIZE(Ring);
  VALUE(Ring::kBits);
  VALUE(Ring::kGf256);
  VALUE(Ring::kGf128);
  VALUE(Ring::kZ2_8);
  VALUE(Ring::kZ2_16);
  VALUE(Ring::kZ2_32);
  VALUE(Ring::kZ2_64);
  VALUE(Ring::kF61);
  SIZE(Shares);

  SIZE(Circuit);
  SIZE(Circuit::Port);
  PLACE(Circuit::Port, name);
  PLACE(Circuit::Port, bits);

  SIZE(Security);
  VALUE(Security::kSemiHonest);
  VALUE(Security::kMalicious);
  SIZE(Sha1Shape);
  VALUE(Sha1Shape::kByCount);
  VALUE(Sha1Shape::kFewestRounds);
  VALUE(Sha1Shape::kFewestBits);
  SIZE(Identity);
  PLACE(Identity, certificate_pem);
  PLACE(Identity, private_key_pem);
  PLACE(Identity, fingerprint);
  SIZE(PartyOptions);
  SIZE(PartyOptions::Member);
  PLACE(PartyOptions::Member, address);
  PLACE(PartyOptions::Member, fingerprint);
  PLACE(PartyOptions, index);
  PLACE(PartyOptions, members);
  PLACE(PartyOptions, identity);
  PLACE(PartyOptions, security);
  PLACE(PartyOptions, program);
  PLACE(PartyOptions, timeout_ms);
  SIZE(Term);
  PLACE(Term, out);
  PLACE(Term, left);
  PLACE(Term, right);
  SIZE(Party);
}
