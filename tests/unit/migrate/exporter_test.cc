// SPDX-License-Identifier: Apache-2.0
// Which handles an export asks for, and which keys its end leaves without use.
#include "migrate/exporter.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tkdc::migrate {
namespace {

tkdc_wire_key key_at(std::uint8_t id, std::uint8_t installation = 1) {
  tkdc_wire_key out{};
  std::memset(out.key_id, id, sizeof out.key_id);
  std::memset(out.installation, installation, sizeof out.installation);
  out.kvno = id;
  out.enctype = 18;
  return out;
}

EntryKeys entry(const std::string& name, std::initializer_list<std::uint8_t> has,
                std::vector<tkdc_wire_key> remembers) {
  EntryKeys out;
  out.name = name;
  for (const std::uint8_t id : has) {
    StoredKey& key = out.keys.emplace_back();
    key.is_handle = true;
    key.handle = key_at(id);
  }
  out.remembered = std::move(remembers);
  return out;
}

// 2 is kept and remembered; 9 was made by another installation.
HandleSurvey found() {
  HandleSurvey out;
  add_entry(out, entry("a@A.TEST", {5, 2}, {key_at(2), key_at(1), key_at(9, 2)}));
  add_entry(out, entry("b@A.TEST", {}, {key_at(4)}));
  add_entry(out, entry("c@A.TEST", {}, {}));
  return out;
}

std::vector<int> first_octets(const std::vector<ExportKey>& keys) {
  std::vector<int> out;
  for (const ExportKey& key : keys) out.push_back(key.id[0]);
  return out;
}

TEST(Export, AsksForEachHandleOnce) {
  const HandleSurvey survey = found();
  EXPECT_FALSE(survey.mixed);
  EXPECT_EQ(survey.names, std::vector<std::string>{"a@A.TEST"});
  EXPECT_EQ(survey.remembering, std::vector<std::string>{"b@A.TEST"});
  const std::vector<ExportKey> all = keys_to_request(survey, true);
  EXPECT_EQ(first_octets(all), (std::vector<int>{1, 2, 4, 5}));
  EXPECT_EQ(all[2].principal, "b@A.TEST");
  EXPECT_EQ(all[2].kvno, 4u);
  EXPECT_EQ(first_octets(keys_to_request(survey, false)), (std::vector<int>{2, 5}));
}

TEST(Export, ItsEndLeavesRememberedHandlesWithoutUse) {
  ExportRequest request;
  request.installation.fill(1);
  request.keys = keys_to_request(found(), false);
  std::vector<int> ids;
  for (const tkdc_wire_key& key : keys_to_destroy(found(), request)) ids.push_back(key.key_id[0]);
  EXPECT_EQ(ids, (std::vector<int>{2, 5, 2, 1, 4}));
}

}  // namespace
}  // namespace tkdc::migrate
