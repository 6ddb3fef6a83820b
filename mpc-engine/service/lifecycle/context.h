// SPDX-License-Identifier: Apache-2.0
// What an operation on keys works with, besides its request.
#pragma once

#include <functional>

#include "lane/lane.h"
#include "protocol/protocol.h"
#include "service/lifecycle/share_alarm.h"
#include "service/lifecycle/share_macs.h"
#include "service/lifecycle/staged.h"
#include "service/store/store.h"

namespace tkdc {

struct ManagementContext {
  Protocol& protocol;
  Lane& lane;  // where the servers agree on what is stored
  StagedKeys& staged;
  Store& store;
  ShareMacs* macs;    // null: records get none
  ShareAlarm& alarm;  // what an audit finds
  std::uint64_t created_at_s;
  const KeyRecord* record;  // EQUAL: the bound key's; lives as long as the job
  struct {
    bool kept;  // what is removed is dropped first
    // GIVE_BACK: what two administrators have approved is done.
    const std::function<void(const KeyId&)>& given_back;
  } dropped;
};

}  // namespace tkdc
