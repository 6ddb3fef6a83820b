// SPDX-License-Identifier: Apache-2.0
#include "storm/der.h"

#include <gtest/gtest.h>

namespace tkdc::storm {
namespace {

Bytes integer(std::int64_t v) {
  Bytes out;
  DerWriter(out).integer(v);
  return out;
}

TEST(Der, IntegersHaveTheShortestForm) {  // X.690, section 8.3
  EXPECT_EQ(integer(0), (Bytes{2, 1, 0}));
  EXPECT_EQ(integer(127), (Bytes{2, 1, 0x7f}));
  EXPECT_EQ(integer(128), (Bytes{2, 2, 0, 0x80}));
  EXPECT_EQ(integer(-1), (Bytes{2, 1, 0xff}));
  EXPECT_EQ(integer(-128), (Bytes{2, 1, 0x80}));
  EXPECT_EQ(integer(-129), (Bytes{2, 2, 0xff, 0x7f}));
  EXPECT_EQ(integer(0x7fffffff), (Bytes{2, 4, 0x7f, 0xff, 0xff, 0xff}));
}

TEST(Der, WhatIsWrittenIsReadAgain) {
  for (std::int64_t v : {INT64_MIN, INT64_C(-4096), INT64_C(0), INT64_C(255), INT64_MAX}) {
    bool failed = false;
    Bytes octets = integer(v);
    DerReader r(octets, failed);
    EXPECT_EQ(r.integer(), v);
    EXPECT_TRUE(r.empty());
    EXPECT_FALSE(failed);
  }
  Bytes out;
  DerWriter w(out);
  w.element(tag::application(11), [&] {
    w.text("TEST");
    w.time(1'700'000'000);
    w.flags(0x40810010);
    w.octets(Bytes(70'000, 7));
  });
  bool failed = false;
  DerReader r = DerReader(out, failed).inside(tag::application(11));
  EXPECT_EQ(r.text(), "TEST");
  EXPECT_EQ(r.time(), 1'700'000'000);
  EXPECT_EQ(r.flags(), 0x40810010U);
  EXPECT_EQ(r.octets().size(), 70'000U);
  r.end();
  EXPECT_FALSE(failed);
}

TEST(Der, LengthsOfEachForm) {
  for (std::size_t length : {0U, 127U, 128U, 255U, 256U, 65'535U, 65'536U}) {
    Bytes out;
    DerWriter(out).octets(Bytes(length, 1));
    std::size_t header = length < 128 ? 2 : length < 256 ? 3 : length < 65'536 ? 4 : 5;
    EXPECT_EQ(out.size(), header + length);
    bool failed = false;
    EXPECT_EQ(DerReader(out, failed).octets().size(), length);
    EXPECT_FALSE(failed);
  }
}

void refused(const Bytes& octets) {
  bool failed = false;
  EXPECT_TRUE(DerReader(octets, failed).value(tag::kOctets).empty());
  EXPECT_TRUE(failed);
}

TEST(Der, RefusesWrongLengths) {
  refused({});
  refused({4});
  refused({4, 1});                             // runs past the end
  refused({4, 0x80, 1, 0, 0});                 // indefinite
  refused({4, 0x81, 5, 1, 2, 3, 4, 5});        // not the shortest form
  refused({4, 0x82, 0, 5, 1, 2, 3, 4, 5});     // leading zero
  refused({4, 0x84, 0xff, 0xff, 0xff, 0xff});  // four gigabytes
  refused({4, 0x85, 1, 0, 0, 0, 0});           // five octets of length
  refused({4, 0x82, 1});                       // ends in the length
  refused({5, 1, 0});                          // another tag
}

TEST(Der, RefusesWrongValues) {
  bool failed = false;
  DerReader(Bytes{2, 0}, failed).integer();
  EXPECT_TRUE(failed);
  for (const Bytes& octets : {Bytes{2, 2, 0, 1}, Bytes{2, 2, 0xff, 0xff}, Bytes{2, 0},
                              Bytes{2, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0}}) {
    failed = false;
    DerReader(octets, failed).integer();
    EXPECT_TRUE(failed);
  }
  for (const char* text :
       {"20261121120000", "2026112112000xZ", "20261321120000Z", "20261100120000Z", ""}) {
    Bytes out;
    DerWriter(out).value(tag::kTime, octets_of(text));
    failed = false;
    DerReader(out, failed).time();
    EXPECT_TRUE(failed) << text;
  }
}

TEST(Der, AFailureLatches) {
  Bytes octets = {4, 9, 1, 2, 2, 1, 5};
  bool failed = false;
  DerReader r(octets, failed);
  r.octets();
  EXPECT_TRUE(r.empty());
  EXPECT_TRUE(r.inside(tag::kSequence).empty());
  EXPECT_EQ(r.integer(), 0);
  EXPECT_TRUE(failed);
}

}  // namespace
}  // namespace tkdc::storm
