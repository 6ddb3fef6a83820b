// SPDX-License-Identifier: Apache-2.0
#include "service/store/key_count.h"

#include <algorithm>
#include <memory>

#include "service/store/lmdb.h"

namespace tkdc {
namespace {

constexpr unsigned kTablesAtMost = 16;

struct CloseEnvironment {
  void operator()(MDB_env* env) const { mdb_env_close(env); }
};
using Environment = std::unique_ptr<MDB_env, CloseEnvironment>;

// A table that was never made is empty.
int entries(MDB_txn* txn, const char* table, std::size_t& sum) {
  MDB_dbi dbi = 0;
  MDB_stat stat{};
  int rc = mdb_dbi_open(txn, table, 0, &dbi);
  if (rc == MDB_NOTFOUND) return 0;
  if (rc == 0) rc = mdb_stat(txn, dbi, &stat);
  sum += stat.ms_entries;
  return rc;
}

}  // namespace

Result<std::size_t> count_keys(const std::string& folder) {
  MDB_env* opened = nullptr;
  int rc = mdb_env_create(&opened);
  const Environment env(opened);
  if (rc == 0) rc = mdb_env_set_maxdbs(env.get(), kTablesAtMost);
  if (rc == 0) rc = mdb_env_open(env.get(), folder.c_str(), MDB_RDONLY, 0600);
  std::size_t sum = 0, dropped = 0;  // these are among the committed ones
  if (rc == 0) {
    LmdbTxn txn(env.get(), MDB_RDONLY);
    rc = txn.begun();
    for (const char* table : {"committed", "committed 2", "prepared"})
      if (rc == 0) rc = entries(txn.get(), table, sum);
    if (rc == 0) rc = entries(txn.get(), "dropped", dropped);
  }
  if (rc != 0) return fail("no store can be read in " + folder + ": " + mdb_strerror(rc));
  return sum - std::min(sum, dropped);
}

}  // namespace tkdc
