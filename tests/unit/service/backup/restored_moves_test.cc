// SPDX-License-Identifier: Apache-2.0
// Of two servers: a backup that was taken while keys moved into another pool.
#include <gtest/gtest.h>

#include "scratch_backup.h"
#include "service/store/move_table.h"
#include "service/store/value_table.h"

namespace tkdc {
namespace {

using RestoredMoves = ScratchBackup;

// Those of before serve, and the move is forgotten, since
// its number is given to another one where both servers gave it up. The last one that was made
// counts on.
TEST_F(RestoredMoves, WhatWasPreparedToMoveDoesNotMove) {
  fill_store();
  MoveTable& moves = *store_->moves();
  const auto next = [&](std::uint32_t number) {
    KeyRecord out = **store_->get(id_of(number));
    ++out.version;
    return out;
  };
  ASSERT_TRUE(moves.prepare_move(4, std::vector{next(1)}).ok());
  ASSERT_TRUE(store_->commit(moves.move_entry(4)).ok());
  ASSERT_TRUE(moves.prepare_move(5, std::vector{next(1), next(2)}).ok());
  const std::string path = taken();
  RestoreOptions options = restore_options();
  options.replace = true;
  auto restored = restore(path, options);
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  open();
  EXPECT_EQ(store_->prepared().value(), std::vector<KeyId>{id_of(900)}) << "a key, and no move";
  EXPECT_EQ(store_->values()->names("move/").value(), std::vector<std::string>{"move/state"});
  EXPECT_EQ(store_->moves()->last_move().value(), 4u);
  EXPECT_FALSE(store_->commit(store_->moves()->move_entry(5)).ok());
  EXPECT_EQ((*store_->get(id_of(1)))->version, 2u);
  EXPECT_EQ((*store_->get(id_of(2)))->version, 1u);
  EXPECT_TRUE(store_->moves()->prepare_move(5, std::vector{next(2)}).ok());
}

}  // namespace
}  // namespace tkdc
