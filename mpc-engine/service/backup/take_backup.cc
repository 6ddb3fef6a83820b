// SPDX-License-Identifier: Apache-2.0
#include "service/backup/take_backup.h"

#include <algorithm>

#include "base/utc_time.h"
#include "service/backup/backup_writer.h"
#include "service/store/store_snapshot.h"
#include "service/store/tables.h"

namespace tkdc {
namespace {

Result<void> put_files(BackupWriter& writer, std::vector<BackupFile> files) {
  std::ranges::sort(files, {}, &BackupFile::name);
  for (const BackupFile& file : files) {
    if (!is_backup_file_name(file.name) || file.contents.size() > kMostBackupFileBytes)
      return fail(file.name + ": not a file that a backup can hold");
    auto done = writer.put({kBackupFileKind, octets(file.name), {}, file.contents});
    if (!done.ok()) return done;
  }
  return {};
}

}  // namespace

std::string backup_name(int party, std::uint64_t made_at_s) {
  return "server" + std::to_string(party) + "-" +
         format_utc_compact(static_cast<std::int64_t>(made_at_s)) + std::string(kBackupEnding);
}

Result<TakenBackup> take_backup(const TakeOptions& options, const SecretBuffer& wrapping) {
  auto snapshot = StoreSnapshot::take(options.store, wrapping);
  if (!snapshot.ok()) return snapshot.error();
  const StoreMoment& moment = (*snapshot)->moment();
  TakenBackup out;
  out.path = options.folder + "/" + backup_name(options.store.party, options.now_s);
  out.head.installation = options.store.installation;
  out.head.party = options.store.party;
  out.head.refresh_epoch = moment.refresh_epoch;
  out.head.era = moment.epochs.era;
  out.head.generation = moment.generation;
  out.head.made_at_s = options.now_s;
  out.head.records = moment.records;
  out.head.inventory = moment.inventory;
  auto writer = BackupWriter::create(out.path, options.recipient);
  if (!writer.ok()) return writer.error();
  std::uint64_t values = 0;
  auto done = (*snapshot)->each([&](const StoredValue& value) -> Result<void> {
    if (auto on = look(options.watch, values++, (*snapshot)->values()); !on.ok()) return on;
    return (*writer)->put(
        {static_cast<std::uint8_t>(value.kind), value.name, value.header, value.plain});
  });
  if (done.ok()) done = put_files(**writer, options.files);
  if (done.ok()) done = (*writer)->finish(out.head);
  if (!done.ok()) return done.error();
  return out;
}

}  // namespace tkdc
