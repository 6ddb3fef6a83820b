// SPDX-License-Identifier: Apache-2.0
// A line in the journal, and an event for the audit log, when the windows of sealing that this
// server refuses change, whoever asked for it: taken from its administrator, learned from a peer,
// lifted, over. Main thread.
#pragma once

#include <functional>
#include <string>

#include "service/sealing/revocations.h"

namespace tkdc {

class RevocationWatch {
 public:
  // `say`: a line for people, and the event.
  using Say = std::function<void(const std::string& line, const std::string& event)>;
  explicit RevocationWatch(Say say) : say_(std::move(say)) {}

  // What is in force now. The first call says what was in force before the start.
  void look(const RevocationState& state);

 private:
  Say say_;
  RevocationState known_;
};

}  // namespace tkdc
