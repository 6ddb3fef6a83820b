// SPDX-License-Identifier: Apache-2.0
#include "migrate/survey.h"

#include <algorithm>
#include <sstream>

namespace tkdc::migrate {
namespace {

constexpr std::size_t kListed = 50;

std::string version_and_enctype(const StoredKey& key) {
  return "version " + std::to_string(key.kvno) + ": " + enctype_name(key.enctype);
}

// True if the entry has legacy keys that can be dropped.
bool add_legacy(Survey& out, const EntryKeys& entry) {
  LegacyKeys legacy;
  legacy.principal = entry.name;
  for (const StoredKey& key : entry.keys) {
    if (key.is_handle || is_served(key.enctype))
      legacy.has_other = legacy.has_other || key.kvno == entry.newest_kvno;
    else
      legacy.keys.push_back(version_and_enctype(key));
  }
  if (legacy.keys.empty()) return false;
  out.legacy.push_back(std::move(legacy));
  return out.legacy.back().has_other;
}

const char* why(Loss loss) {
  switch (loss) {
    case Loss::kNone: return "--without-history";
    case Loss::kLegacy: return "their enctypes do not exist as shares";
    case Loss::kOtherVersion:
      return "kadmin/history's key is another since, so kadmind compares nothing with them";
    case Loss::kUnreadable:
      return "kadmin/history's key does not open them, so kadmind compares nothing with them";
    case Loss::kNoRoom: return "of the oldest passwords, since an entry has no room for more";
  }
  return "";
}

// Whether stock kadmind refuses a password for such a key.
bool was_compared(Loss loss) { return loss != Loss::kOtherVersion && loss != Loss::kUnreadable; }

void add_remembered(Survey& out, const EntryKeys& entry, const Options& options) {
  struct Password {
    bool taken = false, handle = false, compared = false;
  };
  std::map<std::size_t, Password> passwords;
  std::map<Loss, std::size_t> lost;
  std::size_t taken = 0;
  for (const RememberedPlain& old : entry.remembered_plain) {
    const bool take = old.loss == Loss::kNone && !options.without_history;
    Password& password = passwords[old.password];
    password.taken = password.taken || take;
    password.handle = password.handle || old.beside_handle;
    password.compared = password.compared || was_compared(old.loss);
    if (take)
      ++taken;
    else
      ++lost[old.loss];
  }
  Remembered& all = out.remembered;
  all.keys += taken;
  for (const auto& [place, password] : passwords) {
    all.passwords += password.taken ? 1 : 0;
    all.forgotten += !password.taken && !password.handle && password.compared ? 1 : 0;
  }
  if (taken > 0) out.remembering.push_back(entry.name);
  for (const auto& [loss, count] : lost) {
    all.lost[loss] += count;
    if (!options.without_history)
      all.lines.push_back(entry.name + ": " + std::to_string(count) +
                          " keys are dropped: " + why(loss));
  }
}

void list(std::ostream& out, const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < lines.size() && i < kListed; ++i) out << "    " << lines[i] << "\n";
  if (lines.size() > kListed) out << "    and " << lines.size() - kListed << " more\n";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

const char* fate(const LegacyKeys& legacy, const Options& options) {
  if (legacy.has_other && options.drop_legacy) return "will be dropped";
  if (options.leave_legacy) return "will stay as they are";
  return legacy.has_other ? "has other keys, so --drop-legacy can drop these" : "has no other keys";
}

std::vector<std::string> legacy_lines(const Survey& survey, const Options& options) {
  std::vector<std::string> lines;
  for (const LegacyKeys& legacy : survey.legacy)
    lines.push_back(legacy.principal + ": " + joined(legacy.keys) + "; " + fate(legacy, options));
  return lines;
}

void report_remembered(std::ostream& out, const Remembered& remembered) {
  std::size_t dropped = 0;
  for (const auto& [loss, count] : remembered.lost) dropped += count;
  if (remembered.keys == 0 && dropped == 0) return;
  out << "\npassword histories: " << remembered.keys << " keys of " << remembered.passwords
      << " former passwords to import, " << dropped << " keys to drop\n";
  for (const auto& [loss, count] : remembered.lost)
    out << "    " << count << " dropped: " << why(loss) << "\n";
  list(out, remembered.lines);
  if (remembered.forgotten > 0)
    out << "  " << remembered.forgotten
        << " former passwords have no other key and can be taken again.\n";
}

// Most of them are users, whom this does not touch.
void report_may_serve(std::ostream& out, const Survey& survey) {
  const std::vector<std::string>& names = survey.may_serve;
  if (names.empty()) return;
  out << "\n" << names.size() << " principals of one component may be servers:\n";
  list(out, names);
  out << "  Once its key is imported nobody gets a ticket for such a principal, but user to user.\n"
         "  A service among them needs a name of two components, like host/NAME, before.\n";
}

void report_krbtgt(std::ostream& out, const std::string& realm, const Survey& survey) {
  if (survey.own_krbtgt.empty()) return;
  out << "\nkrbtgt/" << realm << "@" << realm << " keeps its versions, so tickets that "
      << "users hold stay good:\n";
  list(out, survey.own_krbtgt);
  out << "  An imported version is slower than one that the servers draw, and old copies of the\n"
         "  database still hold it. So draw a new one after the import,\n"
         "    kadmin.local -q 'cpw -randkey -keepold krbtgt/"
      << realm
      << "'\n"
         "  and when the longest ticket has expired: kadmin.local -q 'purgekeys krbtgt/"
      << realm << "'\n";
}

// Whether these keys stay in the database as they are.
bool stays(const LegacyKeys& legacy, const Options& options) {
  return !(legacy.has_other && options.drop_legacy);
}

}  // namespace

void add_entry(Survey& out, const EntryKeys& entry, const std::string& own_krbtgt,
               const Options& options) {
  ++out.principals;
  if (entry.is_master) return;
  if (!entry.trouble.empty()) out.unreadable.push_back(entry.name + ": " + entry.trouble);
  if (entry.history_damaged) out.damaged.push_back(entry.name);
  std::size_t keys = 0;
  for (const StoredKey& key : entry.keys) {
    if (key.is_handle) {
      ++out.handles;
      continue;
    }
    ++out.plain[key.enctype];
    if (!is_served(key.enctype)) continue;
    ++keys;
    if (entry.name == own_krbtgt) out.own_krbtgt.push_back(version_and_enctype(key));
  }
  const bool droppable = add_legacy(out, entry);
  if (keys > 0 || (droppable && options.drop_legacy) || !entry.remembered_plain.empty())
    out.names.push_back(entry.name);
  if (keys > 0 && entry.may_serve) out.may_serve.push_back(entry.name);
  add_remembered(out, entry, options);
  out.keys += keys;
}

Result<Survey> survey(RealmDb& db, const Options& options) {
  Survey out;
  const std::string own_krbtgt = "krbtgt/" + db.realm() + "@" + db.realm();
  auto read = db.each([&](const EntryKeys& entry) { add_entry(out, entry, own_krbtgt, options); });
  if (!read) return read.error();
  return out;
}

std::string report(const std::string& realm, const Survey& survey, const Options& options) {
  std::ostringstream out;
  out << "realm " << realm << ": " << survey.principals << " principals, " << survey.handles
      << " keys exist as shares already\n"
      << "to import: " << survey.keys << " keys; principals to write: " << survey.names.size()
      << "\n";
  for (const auto& [enctype, count] : survey.plain)
    out << "    " << count << " of " << enctype_name(enctype)
        << (is_served(enctype) ? "\n" : ", which does not exist as shares\n");
  if (!survey.legacy.empty()) {
    out << "\nprincipals with keys that cannot be imported:\n";
    list(out, legacy_lines(survey, options));
  }
  if (!survey.unreadable.empty()) {
    out << "\nkeys that cannot be read:\n";
    list(out, survey.unreadable);
  }
  if (!survey.damaged.empty()) {
    out << "\ndamaged password histories:\n";
    list(out, survey.damaged);
  }
  report_remembered(out, survey.remembered);
  report_may_serve(out, survey);
  report_krbtgt(out, realm, survey);
  return out.str();
}

std::string report_refused(const std::map<std::string, std::string>& refused) {
  std::ostringstream out;
  std::vector<std::string> lines;
  lines.reserve(refused.size());
  for (const auto& [name, why] : refused) lines.push_back(name + ": " + why);
  out << refused.size() << " principals whose keys the servers refuse; their keys stay readable in "
      << "the database:\n";
  list(out, lines);
  out << "  give each new keys (cpw, ktadd) or delete it, then run this again; while a history of\n"
         "  theirs needs it, kadmin/history's key stays, too\n";
  return out.str();
}

std::vector<std::string> obstacles(const Survey& survey, const Options& options) {
  std::vector<std::string> out;
  std::size_t droppable = 0, alone = 0;
  for (const LegacyKeys& legacy : survey.legacy) ++(legacy.has_other ? droppable : alone);
  if (droppable > 0 && !options.drop_legacy && !options.leave_legacy)
    out.push_back(std::to_string(droppable) +
                  " principals have keys of legacy enctypes beside others: --drop-legacy drops "
                  "those keys, after which clients that know nothing else cannot log in; "
                  "--leave-legacy leaves them in the database as they are");
  if (alone > 0 && !options.leave_legacy)
    out.push_back(std::to_string(alone) +
                  " principals have nothing but keys of legacy enctypes: give users a new "
                  "password (cpw, or +needchange), services a new keytab (ktadd -e "
                  "aes256-cts:normal,aes128-cts:normal), and run this again; or leave them as "
                  "they are with --leave-legacy: their keys stay readable by whoever has "
                  "the database and its stash");
  if (!survey.unreadable.empty())
    out.push_back(std::to_string(survey.unreadable.size()) +
                  " principals have keys that no master key opens: see `kdb5_util list_mkeys`; "
                  "give them new keys or delete them");
  if (!survey.damaged.empty())
    out.push_back(
        std::to_string(survey.damaged.size()) +
        " principals have a password history that is damaged, so that the keys in it can "
        "neither be taken along nor removed: load them from an older dump (kdb5_util load "
        "-update), or delete them and make them anew");
  return out;
}

std::size_t legacy_left(const Survey& survey, const Options& options) {
  std::size_t left = 0;
  for (const LegacyKeys& legacy : survey.legacy)
    if (stays(legacy, options)) left += legacy.keys.size();
  return left;
}

}  // namespace tkdc::migrate
