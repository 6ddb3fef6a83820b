// SPDX-License-Identifier: Apache-2.0
#include "service/store/lmdb_tables.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/system_error.h"
#include "base/unique_fd.h"
#include "service/store/lmdb.h"

namespace tkdc {
namespace {

constexpr std::size_t kPageBytes = 4096;

// What check_room() leaves free for the calls that must not fail for want of room: LMDB writes a
// page anew to change it, and has the old one back two transactions later at the earliest.
constexpr std::size_t kReservedPages = 64;
constexpr std::size_t kTreePagesPerCommit = 8;
constexpr std::size_t kPageHeadBytes = 64;  // more than LMDB has in a page of a value

class LmdbTransaction final : public Tables::Transaction {
 public:
  using Table = Tables::Table;

  LmdbTransaction(MDB_env* env, const MDB_dbi* dbi, unsigned flags) : txn_(env, flags), dbi_(dbi) {}
  int begun() const { return txn_.begun(); }

  int find(Table table, ByteSpan name, ByteSpan& value) override {
    MDB_val k = lmdb_val(name), v{};
    const int rc = mdb_get(txn_.get(), dbi_[table], &k, &v);
    if (rc == 0) value = lmdb_span(v);
    return rc;
  }
  int put(Table table, ByteSpan name, ByteSpan value) override {
    MDB_val k = lmdb_val(name), v = lmdb_val(value);
    return mdb_put(txn_.get(), dbi_[table], &k, &v, 0);
  }
  int erase(Table table, ByteSpan name) override {
    MDB_val k = lmdb_val(name);
    const int rc = mdb_del(txn_.get(), dbi_[table], &k, nullptr);
    return rc == MDB_NOTFOUND ? 0 : rc;
  }
  int count(Table table, std::size_t& entries) override {
    MDB_stat stat{};
    const int rc = mdb_stat(txn_.get(), dbi_[table], &stat);
    if (rc == 0) entries = stat.ms_entries;
    return rc;
  }
  int each(Table table, const std::function<bool(ByteSpan, ByteSpan)>& visit) override {
    MDB_cursor* cursor = nullptr;
    int rc = mdb_cursor_open(txn_.get(), dbi_[table], &cursor);
    if (rc != 0) return rc;
    MDB_val k, v;
    bool more = true;
    while (more && (rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) == 0)
      more = visit(lmdb_span(k), lmdb_span(v));
    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
  }
  int each_after(Table table, ByteSpan name,
                 const std::function<bool(ByteSpan, ByteSpan)>& visit) override {
    MDB_cursor* cursor = nullptr;
    int rc = mdb_cursor_open(txn_.get(), dbi_[table], &cursor);
    if (rc != 0) return rc;
    MDB_val k = lmdb_val(name), v;
    rc = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
    if (rc == 0 && std::ranges::equal(lmdb_span(k), name))
      rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
    while (rc == 0 && visit(lmdb_span(k), lmdb_span(v)))
      rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
  }
  int clear(Table table) override { return mdb_drop(txn_.get(), dbi_[table], 0); }
  int commit() override { return txn_.commit(); }

  int reserve(Table table, ByteSpan name, std::size_t bytes) {
    MDB_val k = lmdb_val(name), v = {bytes, nullptr};
    return mdb_put(txn_.get(), dbi_[table], &k, &v, MDB_RESERVE);
  }

 private:
  LmdbTxn txn_;
  const MDB_dbi* dbi_;
};

class LmdbTables final : public Tables {
 public:
  explicit LmdbTables(std::string path) : path_(std::move(path)) {}
  ~LmdbTables() override {
    if (env_ != nullptr) mdb_env_close(env_);
  }

  Result<void> open(std::size_t map_bytes) {
    if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST)
      return system_error("store: cannot make " + path_);
    if (auto locked = lock_directory(); !locked.ok()) return locked;
    if (int rc = open_environment(map_bytes); rc != 0)
      return fail(tables_failed("opening", path_, rc));
    return {};
  }

  int begin(bool writes, std::unique_ptr<Transaction>& transaction) override {
    auto made = std::make_unique<LmdbTransaction>(env_, dbi_, writes ? 0 : MDB_RDONLY);
    const int begun = made->begun();
    transaction = std::move(made);
    return begun;
  }

  int check_room(Table table, std::size_t value_bytes) override;

 private:
  Result<void> lock_directory();
  int open_environment(std::size_t map_bytes);

  const std::string path_;
  UniqueFd directory_lock_;
  MDB_env* env_ = nullptr;
  MDB_dbi dbi_[kTables]{};
};

// LMDB would let two processes in, but each caches what the other changes.
Result<void> LmdbTables::lock_directory() {
  directory_lock_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory_lock_) return system_error("store: cannot open " + path_);
  if (flock(directory_lock_.get(), LOCK_EX | LOCK_NB) != 0)
    return fail("store: " + path_ +
                " is in use by another process; only one "
                "tkdc-server may run on a store");
  return {};
}

int LmdbTables::open_environment(std::size_t map_bytes) {
  int rc = mdb_env_create(&env_);
  if (rc == 0) rc = mdb_env_set_maxdbs(env_, kTables);
  if (rc == 0) rc = mdb_env_set_maxreaders(env_, 512);
  if (rc == 0) rc = mdb_env_set_mapsize(env_, map_bytes / kPageBytes * kPageBytes);
  if (rc == 0) rc = mdb_env_open(env_, path_.c_str(), MDB_NOTLS | MDB_NORDAHEAD, 0600);
  int dead = 0;
  if (rc == 0) rc = mdb_reader_check(env_, &dead);
  if (rc != 0) return rc;
  LmdbTxn txn(env_, 0);
  rc = txn.begun();
  for (int table = 0; rc == 0 && table < kTables; ++table)
    rc = mdb_dbi_open(txn.get(), kFileNames[table], MDB_CREATE, &dbi_[table]);
  return rc == 0 ? txn.commit() : rc;
}

// Pages behind the last one ever used are free for certain. Of those given back LMDB may not have
// some yet, nor enough in a row, so where they are needed, what has to fit is put, and not
// committed.
int LmdbTables::check_room(Table table, std::size_t value_bytes) {
  MDB_envinfo info{};
  MDB_stat stat{};
  mdb_env_info(env_, &info);
  mdb_env_stat(env_, &stat);
  LmdbTransaction txn(env_, dbi_, 0);
  std::size_t held = 0;
  int rc = txn.begun();
  if (rc == 0) rc = txn.count(table, held);
  if (rc != 0) return rc;
  const std::size_t values = held + 2;  // this one is put here, then moved
  const std::size_t pages = kReservedPages + values * kTreePagesPerCommit;
  const std::size_t all = info.me_mapsize / stat.ms_psize, used = info.me_last_pgno + 1;
  if (used + pages + values * (value_bytes / stat.ms_psize + 2) <= all) return 0;

  std::uint8_t name[20] = {};  // longer than a record's, so that it is none
  std::uint32_t number = 0;
  auto reserve = [&](std::size_t bytes) {
    std::memcpy(name, &++number, sizeof number);
    return txn.reserve(table, name, bytes);
  };
  for (std::size_t k = 0; rc == 0 && k < values; ++k) rc = reserve(value_bytes);
  for (std::size_t k = 0; rc == 0 && k < pages; ++k) rc = reserve(stat.ms_psize - kPageHeadBytes);
  return rc;
}

}  // namespace

std::string tables_failed(const std::string& step, const std::string& path, int rc) {
  std::string advice;
  if (rc == MDB_MAP_FULL) advice = "; raise [store] map_size_mib and restart";
  // LMDB reports a short write, which a full disk gives, as an I/O error.
  if (rc == ENOSPC || rc == EIO) advice = "; free space on that file system, or check the disk";
  if (rc == MDB_PANIC) advice = "; check the disk and restart this server, which opens it anew";
  return "store: " + step + " in " + path + " failed: " + mdb_strerror(rc) + advice +
         "; the store is unchanged";
}

Result<std::unique_ptr<Tables>> open_lmdb_tables(const std::string& path, std::size_t map_bytes) {
  auto tables = std::make_unique<LmdbTables>(path);
  if (auto opened = tables->open(map_bytes); !opened.ok()) return opened.error();
  return std::unique_ptr<Tables>(std::move(tables));
}

}  // namespace tkdc
