// SPDX-License-Identifier: Apache-2.0
// Tables of one way for jobs of any length: batches, as they were made, of which the oldest serves
// first. A lookup that no batch has alone takes of two, by six messages instead of three. Both
// parties make and take alike, so batches end at the same octet at both.
//
// Each table serves once (stock.h). A batch that has served goes, and its memory with it. It cannot
// be copied or moved.
//
// One thread. Secret: labels. Error: the session's; another session, or not enough tables, before a
// word is said.
#pragma once

#include <deque>

#include "lut/norm_tables.h"

namespace tkdc::lut {

class TableQueue final : public SboxTables {
 public:
  TableQueue(const pair::Session& session, SboxWay way) : session_(session.id()), way_(way) {}
  TableQueue(const TableQueue&) = delete;
  TableQueue& operator=(const TableQueue&) = delete;

  // A batch of so many more.
  Result<void> make(Dealer& dealer, std::size_t count);

  SboxWay way() const override { return way_; }
  std::size_t left() const;
  Result<void> fits(const pair::Session& session, std::size_t count) const override;
  // Of memory: whole batches.
  std::size_t octets() const;
  Result<void> look_up(Dealer& dealer, std::span<Label> octets) override;

 private:
  Result<void> is_of(const pair::Session& session) const;

  const Label session_;
  const SboxWay way_;
  std::deque<NormTables> batches_;
};

}  // namespace tkdc::lut
