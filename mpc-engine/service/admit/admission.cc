// SPDX-License-Identifier: Apache-2.0
#include "service/admit/admission.h"

#include <algorithm>

namespace tkdc {
namespace {

class Hash {
 public:
  Hash() { crypto_generichash_init(&state_, nullptr, 0, sizeof(Digest)); }
  // Numbers as 64 bits, little-endian; octets and text with their number in front.
  template <class... Fields>
  void add(const Fields&... fields) {
    (one(fields), ...);
  }
  Digest finish() {
    Digest out;
    crypto_generichash_final(&state_, out.data(), out.size());
    return out;
  }

 private:
  void one(ByteSpan in) {
    one(std::uint64_t{in.size()});
    crypto_generichash_update(&state_, in.data(), in.size());
  }
  void one(std::uint64_t v) {
    std::uint8_t octets[8];
    for (int k = 0; k < 8; ++k) octets[k] = static_cast<std::uint8_t>(v >> 8 * k);
    crypto_generichash_update(&state_, octets, sizeof octets);
  }
  void one(const std::string& s) {
    one(ByteSpan(reinterpret_cast<const std::uint8_t*>(s.data()), s.size()));
  }

  crypto_generichash_state state_;
};

std::uint64_t number(auto value) { return static_cast<std::uint64_t>(value); }

void add_record(Hash& hash, const KeyRecord& record) {
  hash.add(record.ref.id, record.ref.principal, record.ref.kvno, record.ref.enctype,
           record.principal_name, record.sharing, number(record.key_class), number(record.form),
           record.origin, record.version, number(record.open_only));
  for (const auto& [name, field] : record.fields) hash.add(name, field.size());
}

bool is_verdict(Verdict v) { return v <= TKDC_STATUS_INTERNAL || v == kMissing; }

}  // namespace

Verdict joint_verdict(Verdict a, Verdict b, Verdict c) {
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
  opened.add(request.name.agent, request.name.run, request.name.number, number(request.op),
             number(role), request.key.id, request.key.installation, request.key.principal,
             request.key.kvno, request.key.enctype, request.usage, request.protocol, protocol,
             request.public_data, request.input_bytes());
  if (record != nullptr) add_record(opened, *record);
  out.opened = opened.finish();
  for (int c = 0; c < 2; ++c) {
    Hash component;
    component.add(request.component[c]);
    if (record != nullptr)
      for (const auto& [name, field] : record->fields) component.add(field.component[c]);
    out.component[c] = component.finish();
  }
  return out;
}

Verdict judge(Verdict own, const JobDigests& mine, const AdmissionStatement& prev,
              const AdmissionStatement& next) {
  Verdict worst = joint_verdict(own, prev.verdict, next.verdict);
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
  std::vector<AdmissionStatement> out(jobs);
  for (AdmissionStatement& statement : out) {
    statement.verdict = in.u8();
    in.array(statement.opened);
    in.array(statement.component);
  }
  if (in.failed()) return fail("lane: a neighbour's statements are truncated");
  if (!std::ranges::all_of(out, is_verdict, &AdmissionStatement::verdict))
    return fail("lane: a neighbour's statement is no verdict");
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
