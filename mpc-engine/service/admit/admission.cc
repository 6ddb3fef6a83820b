// SPDX-License-Identifier: Apache-2.0
#include "service/admit/admission.h"

#include <algorithm>

namespace tkdc {
namespace {

class Hash {
 public:
  Hash() { crypto_generichash_init(&state_, nullptr, 0, sizeof(Digest)); }
  void bytes(ByteSpan in) {
    number(in.size());
    crypto_generichash_update(&state_, in.data(), in.size());
  }
  void number(std::uint64_t v) {
    std::uint8_t octets[8];
    for (int k = 0; k < 8; ++k) octets[k] = static_cast<std::uint8_t>(v >> 8 * k);
    crypto_generichash_update(&state_, octets, sizeof octets);
  }
  void text(const std::string& s) {
    bytes({reinterpret_cast<const std::uint8_t*>(s.data()), s.size()});
  }
  Digest finish() {
    Digest out;
    crypto_generichash_final(&state_, out.data(), out.size());
    return out;
  }

 private:
  crypto_generichash_state state_;
};

void add_record(Hash& hash, const KeyRecord& record) {
  hash.bytes(record.ref.id);
  hash.bytes(record.ref.principal);
  hash.number(record.ref.kvno);
  hash.number(record.ref.enctype);
  hash.text(record.principal_name);
  hash.text(record.sharing);
  hash.number(static_cast<std::uint64_t>(record.key_class));
  hash.number(static_cast<std::uint64_t>(record.form));
  hash.number(record.origin);
  hash.number(record.version);
  hash.number(record.open_only ? 1 : 0);
  for (const auto& [name, field] : record.fields) {
    hash.text(name);
    hash.number(field.size());
  }
}

bool is_verdict(Verdict v) { return v <= TKDC_STATUS_INTERNAL || v == kMissing; }

}  // namespace

Verdict combine(Verdict a, Verdict b, Verdict c) {
  const auto counted = [&](Verdict v) {
    const bool alone = (a == v) + (b == v) + (c == v) == 1;
    return tkdc_status_is_refusal(v) && alone ? Verdict{TKDC_STATUS_INCONSISTENT} : v;
  };
  return std::max({counted(a), counted(b), counted(c)});
}

JobDigests digest_job(const JobRequest& request, AgentRole role, const KeyRecord* record,
                      std::uint8_t protocol) {
  JobDigests out;
  Hash opened;
  opened.number(request.name.agent);
  opened.number(request.name.run);
  opened.number(request.name.number);
  opened.number(request.op);
  opened.number(static_cast<std::uint64_t>(role));
  opened.bytes(request.key.id);
  opened.bytes(request.key.installation);
  opened.bytes(request.key.principal);
  opened.number(request.key.kvno);
  opened.number(request.key.enctype);
  opened.number(request.usage);
  opened.text(request.protocol);
  opened.number(protocol);
  opened.bytes(request.public_data);
  opened.number(request.component[0].size());
  if (record != nullptr) add_record(opened, *record);
  out.opened = opened.finish();
  for (int c = 0; c < 2; ++c) {
    Hash component;
    component.bytes(request.component[c]);
    if (record != nullptr)
      for (const auto& [name, field] : record->fields) component.bytes(field.component[c]);
    out.component[c] = component.finish();
  }
  return out;
}

Verdict judge(Verdict own, const JobDigests& mine, const AdmissionStatement& prev,
              const AdmissionStatement& next) {
  Verdict worst = combine(own, prev.verdict, next.verdict);
  if (worst != kAdmit) return worst;
  const bool same = mine.opened == prev.opened && mine.opened == next.opened &&
                    mine.component[0] == prev.component && mine.component[1] == next.component;
  return same ? kAdmit : Verdict{TKDC_STATUS_INCONSISTENT};
}

void put_statement(Bytes& out, Verdict own, const JobDigests& mine, int component) {
  Writer w(out);
  w.u8(own);
  w.raw(mine.opened);
  w.raw(mine.component[component]);
}

void put_manifest(Bytes& out, const Manifest& manifest) {
  Writer w(out);
  w.u32(manifest.sealed_at);
  w.u16(static_cast<std::uint16_t>(manifest.jobs.size()));
  for (const NamedJob& job : manifest.jobs) {
    w.u64(job.name.agent);
    w.u64(job.name.run);
    w.u64(job.name.number);
    w.u8(job.protocol);
  }
}

Result<Manifest> get_manifest(Reader& in, std::size_t most, std::size_t protocols) {
  Manifest manifest;
  manifest.sealed_at = in.u32();
  const std::size_t count = in.u16();
  if (count > most) return fail("lane: the leader's manifest names too many jobs");
  for (std::size_t k = 0; k < count && !in.failed(); ++k) {
    NamedJob& job = manifest.jobs.emplace_back();
    job.name.agent = in.u64();
    job.name.run = in.u64();
    job.name.number = in.u64();
    job.protocol = in.u8();
    if (job.protocol >= protocols)
      return fail("lane: the leader's manifest names a protocol that the session has not");
  }
  if (in.failed()) return fail("lane: the leader's manifest is truncated");
  return manifest;
}

Result<std::vector<AdmissionStatement>> get_statements(Reader& in, std::size_t jobs) {
  Reader statements(in.raw(jobs * AdmissionStatement::kBytes));
  if (in.failed()) return fail("lane: a neighbour's statements are truncated");
  std::vector<AdmissionStatement> out(jobs);
  for (AdmissionStatement& statement : out) {
    statement.verdict = statements.u8();
    if (!is_verdict(statement.verdict)) return fail("lane: a neighbour's statement is no verdict");
    statements.array(statement.opened);
    statements.array(statement.component);
  }
  return out;
}

Result<std::vector<Verdict>> get_verdicts(Reader& in, std::size_t jobs) {
  const ByteSpan verdicts = in.raw(jobs);
  if (in.failed()) return fail("lane: a neighbour's verdicts are truncated");
  if (!std::ranges::all_of(verdicts, is_verdict))
    return fail("lane: a neighbour's verdict is none");
  return std::vector<Verdict>(verdicts.begin(), verdicts.end());
}

}  // namespace tkdc
