// SPDX-License-Identifier: Apache-2.0
#include "api/impl.h"
#include "api/quadratic.h"
#include "api/ring.h"
#include "api/state.h"
#include "cipher/aes_keys.h"
#include "cipher/hash.h"
#include "rep3/unit/circuit/circuit_run.h"

namespace tkdc::mpc {
namespace {

// Of one message; far below a packet's limit, so that the malicious mode's parts fit too.
constexpr std::size_t kMaxVectorBytes = std::size_t{8} << 20;

std::string describe(const Shares& x) {
  return std::to_string(x.size()) + " elements of " + ring_name(x.ring());
}

Result<void> check_size(const char* what, Ring ring, std::size_t count) {
  const std::size_t each = element_bytes(ring);
  if (each == 0) return fail(std::string(what) + ": no ring has this number");
  if (count > kMaxVectorBytes / each)
    return fail(std::string(what) + ": " + std::to_string(count) + " elements of " +
                ring_name(ring) + " are above the limit of 8 MiB for a vector; use several");
  return {};
}

Result<void> check_products(const Party& party, const Shares& x, const Shares& y) {
  if (x.ring() != y.ring())
    return fail("quadratic: " + describe(x) + " and " + describe(y) + "; both must be of one ring");
  if (party.security() == Security::kMalicious && !is_binary(x.ring()))
    return fail(std::string("quadratic: products in ") + ring_name(x.ring()) +
                " cannot be verified, since verification computes in fields of characteristic 2; "
                "use bits, GF(2^8) or GF(2^128), or join with Security::kSemiHonest");
  return {};
}

Result<void> check_octets(const char* what, const Shares& x, std::size_t unit) {
  if (!is_binary(x.ring()) || x.bytes() % unit != 0)
    return fail(std::string(what) + ": " + describe(x) +
                "; give octets of a binary ring, in units of " + std::to_string(unit));
  return check_size(what, Ring::kBits, x.bytes());
}

// Of one evaluation: both components of all wires.
constexpr std::size_t kMaxWireBytes = std::size_t{1} << 30;

Result<void> check_circuit(const circuit::Schedule& schedule, const std::vector<Shares>& inputs,
                           std::size_t instances) {
  if (inputs.size() != schedule.inputs.size())
    return fail("evaluate: " + std::to_string(inputs.size()) + " inputs; the circuit has " +
                std::to_string(schedule.inputs.size()));
  const std::size_t words = instances / 64 + 1;
  if (instances == 0 || instances > 8 * kMaxVectorBytes ||
      (std::size_t{schedule.slots} + 2) * words > kMaxWireBytes / 16)
    return fail("evaluate: " + std::to_string(instances) + " instances of " +
                std::to_string(schedule.slots) +
                " wires; use one at least, and so few that 1 GiB holds all wires");
  if (most_layer_bytes(schedule, instances) > kMaxVectorBytes)
    return fail("evaluate: a round of " + std::to_string(instances) +
                " instances is above the limit of 8 MiB; use fewer at a time");
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const circuit::Port& port = schedule.inputs[k];
    if (auto octets = check_octets("evaluate", inputs[k], 1); !octets) return octets.error();
    if (inputs[k].bytes() != instances * port_octets(port))
      return fail("evaluate: input " + port.name + " of " + std::to_string(instances) +
                  " instances of " + std::to_string(port.bits) + " bits has " +
                  std::to_string(instances * port_octets(port)) + " octets, not " +
                  std::to_string(inputs[k].bytes()));
  }
  for (const circuit::Port& port : schedule.outputs)
    if (auto fits = check_size("evaluate", Ring::kBits, instances * port_octets(port)); !fits)
      return fits.error();
  return {};
}

Task<void> evaluate_into(Task<std::vector<SharedBytes>> task, std::vector<SharedBytes>& out) {
  out = co_await task;
}

std::vector<Term> diagonal(std::size_t count, bool sum) {
  std::vector<Term> terms(count);
  for (std::uint32_t k = 0; k < count; ++k) terms[k] = {sum ? 0 : k, k, k};
  return terms;
}

bool is_round_keys(const Shares& x) {
  return is_binary(x.ring()) &&
         (x.bytes() == aes_round_key_bytes(16) || x.bytes() == aes_round_key_bytes(32));
}

Task<void> open_into(Task<Bytes> task, Bytes& out) { out = co_await task; }

Task<void> farewell(Rep3& rep3) {
  const std::uint8_t word = 0;
  FromBoth others = co_await rep3.lane.exchange(ByteSpan(&word, 1));
}

Task<void> take_input(Task<std::optional<SharedBytes>> task, std::optional<SharedBytes>& out) {
  out = co_await task;
}

Task<void> encrypt_all(Protocol& protocol, const std::vector<Shares>& round_keys,
                       std::vector<SharedBytes>& blocks) {
  std::vector<Task<void>> tasks;
  for (std::size_t k = 0; k < blocks.size(); ++k)
    tasks.push_back(
        store(protocol.apply(Unit::kAesEncrypt, octets_of(round_keys[k]), blocks[k]), blocks[k]));
  co_await all(protocol.scheduler(), std::move(tasks));
}

// RFC 2104. Pads, and equally many blocks of all messages, run side by side.
Task<void> hmac_into(Protocol& protocol, const SharedBytes& key, SharedBytes& data, Work work) {
  const SharedBytes pads = co_await hmac_pad_states(protocol, kSha1, key, work);
  data = co_await hmac(protocol, kSha1, pads, std::move(data), work);
}

Task<void> hmac_all(Protocol& protocol, const std::vector<Shares>& keys,
                    std::vector<SharedBytes>& data, Work work) {
  std::vector<Task<void>> tasks;
  for (std::size_t k = 0; k < data.size(); ++k)
    tasks.push_back(hmac_into(protocol, octets_of(keys[k]), data[k], work));
  co_await all(protocol.scheduler(), std::move(tasks));
}

}  // namespace

Party::Party(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Party::Party(Party&&) noexcept = default;
Party& Party::operator=(Party&&) noexcept = default;
Party::~Party() = default;

int Party::index() const { return impl_->rep3.party(); }
Security Party::security() const {
  return impl_->session.security == tkdc::Security::kMalicious ? Security::kMalicious
                                                               : Security::kSemiHonest;
}
std::uint64_t Party::rounds() const { return impl_->rep3.lane.rounds(); }
std::uint64_t Party::bytes_sent() const {
  return impl_->session.lanes[0].link->counters().packet_bytes_sent;
}

void Party::leave() {
  if (impl_->closed) return;
  (void)impl_->run("leave", farewell(impl_->rep3)).ok();
  impl_->closed = "this party has left the computation";
}

Result<Shares> Party::share(int owner, Ring ring, std::size_t count, ByteSpan value) {
  if (auto fits = check_size("share", ring, count); !fits) return fits.error();
  if (owner < 0 || owner > 2)
    return fail("share: owner " + std::to_string(owner) + "; a party is 0, 1 or 2");
  const std::size_t bytes = count * element_bytes(ring);
  SecretVector own(bytes);
  if (owner == index()) {
    if (value.size() != bytes || !ring_holds(ring, value))
      return fail("share: " + std::to_string(value.size()) + " octets are not " +
                  std::to_string(count) + " elements of " + ring_name(ring));
    std::copy(value.begin(), value.end(), own.begin());
  }
  std::optional<SharedBytes> shared;
  auto ran = impl_->run(
      "share", take_input(share_input(impl_->rep3, owner, ring, bytes, std::move(own)), shared));
  if (!ran) return ran.error();
  if (!shared)
    return impl_->close("party " + std::to_string(index()) + ", share: the input of party " +
                        std::to_string(owner) +
                        " did not reach the parties alike, or is no "
                        "element of " +
                        ring_name(ring) + "; nothing was released");
  return make_shares(ring, std::move(*shared));
}

Result<Shares> Party::constant(Ring ring, ByteSpan value) const {
  const std::size_t each = element_bytes(ring);
  if (each == 0 || value.size() % each != 0 || !ring_holds(ring, value))
    return fail("constant: " + std::to_string(value.size()) + " octets are no elements of " +
                ring_name(ring));
  if (auto fits = check_size("constant", ring, value.size() / each); !fits) return fits.error();
  return make_shares(ring, impl_->protocol.share_public(value));
}

Result<Shares> Party::random(Ring ring, std::size_t count) {
  if (auto fits = check_size("random", ring, count); !fits) return fits.error();
  if (impl_->closed) return fail(*impl_->closed);
  SharedBytes x = impl_->rep3.random(count * element_bytes(ring));
  for (SecretVector& component : x.component) ring_reduce(ring, component.data(), component.size());
  return make_shares(ring, std::move(x));
}

Result<Bytes> Party::open(const Shares& x) {
  if (auto fits = check_size("open", x.ring(), x.size()); !fits) return fits.error();
  const SharedBytes& held = octets_of(x);
  Bytes opened;
  if (auto ran = impl_->run("open", open_into(impl_->protocol.open(held), opened)); !ran)
    return ran.error();
  if (is_binary(x.ring())) return opened;
  // rep3 opens the XOR; the component that came is what is left of it.
  for (const SecretVector& component : held.component)
    xor_bytes(opened.data(), component.data(), opened.size());
  if (!ring_holds(x.ring(), opened))
    return impl_->close("open: a party sent what is no element of " +
                        std::string(ring_name(x.ring())));
  for (const SecretVector& component : held.component)
    ring_add(x.ring(), opened.data(), component.data(), opened.size());
  return opened;
}

Result<Shares> Party::quadratic(const Shares& x, const Shares& y, std::size_t outputs,
                                const std::vector<Term>& terms) {
  if (auto may = check_products(*this, x, y); !may) return may.error();
  if (auto fits = check_size("quadratic", x.ring(), outputs); !fits) return fits.error();
  if (auto fits = check_size("quadratic", x.ring(), terms.size()); !fits) return fits.error();
  for (const Term& term : terms)
    if (term.out >= outputs || term.left >= x.size() || term.right >= y.size())
      return fail("quadratic: a term of output " + std::to_string(term.out) + ", left " +
                  std::to_string(term.left) + ", right " + std::to_string(term.right) + ", but " +
                  std::to_string(outputs) + " outputs of vectors of " + std::to_string(x.size()) +
                  " and " + std::to_string(y.size()));
  auto z = impl_->result("quadratic", mpc::quadratic(impl_->rep3, x.ring(), octets_of(x),
                                                     octets_of(y), outputs, terms));
  if (!z) return z.error();
  return make_shares(x.ring(), std::move(*z));
}

Result<Shares> Party::multiply(const Shares& x, const Shares& y) {
  if (x.size() != y.size()) return fail("multiply: " + describe(x) + " and " + describe(y));
  return quadratic(x, y, x.size(), diagonal(x.size(), false));
}

Result<Shares> Party::dot(const Shares& x, const Shares& y) {
  if (x.size() != y.size()) return fail("dot: " + describe(x) + " and " + describe(y));
  return quadratic(x, y, 1, diagonal(x.size(), true));
}

Result<Shares> Party::less_than(const Shares& a, const Shares& b, std::size_t word_bytes) {
  const bool width = word_bytes == 1 || word_bytes == 2 || word_bytes == 4 || word_bytes == 8;
  if (!width || a.ring() != Ring::kBits || b.ring() != Ring::kBits || a.size() != b.size() ||
      a.size() % word_bytes != 0)
    return fail("less_than: " + describe(a) + " and " + describe(b) + " as words of " +
                std::to_string(word_bytes) + " octets; give bits, in words of 1, 2, 4 or 8 octets");
  if (auto fits = check_size("less_than", Ring::kBits, 2 * a.size()); !fits) return fits.error();
  auto z =
      impl_->result("less_than", words_less(impl_->rep3, octets_of(a), octets_of(b), word_bytes));
  if (!z) return z.error();
  return make_shares(Ring::kBits, std::move(*z));
}

Result<Shares> Party::less_than(const Shares& a, const Shares& b) {
  auto difference = subtract(a, b);
  if (!difference) return difference.error();
  auto bits = to_bits(*difference);
  if (!bits) return bits.error();
  return make_shares(Ring::kBits, top_bits(octets_of(*bits), element_bytes(a.ring())));
}

Result<Shares> Party::to_bits(const Shares& x) {
  if (is_binary(x.ring()) || x.ring() == Ring::kF61)
    return fail("to_bits: " + describe(x) + "; only Z/2^n has bits of its own here");
  if (auto fits = check_size("to_bits", Ring::kBits, 2 * x.bytes()); !fits) return fits.error();
  auto z = impl_->result("to_bits", words_of(impl_->rep3, octets_of(x), element_bytes(x.ring())));
  if (!z) return z.error();
  return make_shares(Ring::kBits, std::move(*z));
}

Result<std::vector<Shares>> Party::evaluate(const Circuit& circuit,
                                            const std::vector<Shares>& inputs,
                                            std::size_t instances) {
  const circuit::Schedule& schedule = circuit.state().schedule;
  if (auto right = check_circuit(schedule, inputs, instances); !right) return right.error();
  std::vector<SharedBytes> strings, values;
  for (const Shares& input : inputs) strings.push_back(octets_of(input));
  auto ran = impl_->run(
      "evaluate",
      evaluate_into(compute_circuit(impl_->rep3, schedule, std::move(strings), instances), values));
  if (!ran) return ran.error();
  std::vector<Shares> out;
  out.reserve(values.size());
  for (SharedBytes& value : values) out.push_back(make_shares(Ring::kBits, std::move(value)));
  return out;
}

Result<Shares> Party::aes_key(const Shares& key) {
  if (auto octets = check_octets("aes_key", key, 16); !octets) return octets.error();
  if (key.bytes() != 16 && key.bytes() != 32)
    return fail("aes_key: " + std::to_string(key.bytes()) + " octets; a key has 16 or 32");
  auto z = impl_->result("aes_key", aes_expand_key(impl_->protocol, octets_of(key)));
  if (!z) return z.error();
  return make_shares(Ring::kGf256, std::move(*z));
}

Result<Shares> Party::aes_encrypt(const Shares& round_keys, const Shares& blocks) {
  auto many = aes_encrypt(std::vector<Shares>(1, round_keys), std::vector<Shares>(1, blocks));
  if (!many) return many.error();
  return std::move(many->front());
}

Result<std::vector<Shares>> Party::aes_encrypt(const std::vector<Shares>& round_keys,
                                               const std::vector<Shares>& blocks) {
  if (round_keys.size() != blocks.size())
    return fail("aes_encrypt: " + std::to_string(round_keys.size()) + " keys for " +
                std::to_string(blocks.size()) + " inputs");
  std::size_t bytes = 0;
  std::vector<SharedBytes> data;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    if (auto whole = check_octets("aes_encrypt", blocks[k], 16); !whole) return whole.error();
    if (!is_round_keys(round_keys[k]))
      return fail("aes_encrypt: key " + std::to_string(k) + " is not of aes_key()");
    data.push_back(octets_of(blocks[k]));
    bytes += blocks[k].bytes();
  }
  if (auto fits = check_size("aes_encrypt", Ring::kBits, bytes); !fits) return fits.error();
  auto ran = impl_->run("aes_encrypt", encrypt_all(impl_->protocol, round_keys, data));
  if (!ran) return ran.error();
  std::vector<Shares> out;
  out.reserve(data.size());
  for (SharedBytes& each : data) out.push_back(make_shares(Ring::kGf256, std::move(each)));
  return out;
}

Result<Shares> Party::aes_decrypt(const Shares& round_keys, const Shares& blocks) {
  if (auto whole = check_octets("aes_decrypt", blocks, 16); !whole) return whole.error();
  if (!is_round_keys(round_keys)) return fail("aes_decrypt: the key is not of aes_key()");
  auto z = impl_->result(
      "aes_decrypt",
      impl_->protocol.apply(Unit::kAesDecrypt, octets_of(round_keys), octets_of(blocks)));
  if (!z) return z.error();
  return make_shares(Ring::kGf256, std::move(*z));
}

Result<Shares> Party::hmac_sha1(const Shares& key, const Shares& data) {
  auto many = hmac_sha1(std::vector<Shares>(1, key), std::vector<Shares>(1, data),
                        Sha1Shape::kFewestRounds);
  if (!many) return many.error();
  return std::move(many->front());
}

Result<std::vector<Shares>> Party::hmac_sha1(const std::vector<Shares>& keys,
                                             const std::vector<Shares>& data, Sha1Shape shape) {
  if (keys.size() != data.size())
    return fail("hmac_sha1: " + std::to_string(keys.size()) + " keys for " +
                std::to_string(data.size()) + " inputs");
  std::size_t bytes = 0;
  std::vector<SharedBytes> macs;
  for (std::size_t k = 0; k < data.size(); ++k) {
    for (const Shares* each : {&keys[k], &data[k]})
      if (auto octets = check_octets("hmac_sha1", *each, 1); !octets) return octets.error();
    if (keys[k].bytes() > kSha1BlockBytes)
      return fail("hmac_sha1: a key of " + std::to_string(keys[k].bytes()) + " octets; at most 64");
    macs.push_back(octets_of(data[k]));
    bytes += kSha1BlockBytes + data[k].bytes();
  }
  if (auto fits = check_size("hmac_sha1", Ring::kBits, bytes); !fits) return fits.error();
  const Work work = shape == Sha1Shape::kFewestRounds ? Work::kWaitedFor : Work::kBulk;
  Sha1& sha1 = impl_->protocol.sha1;
  sha1.set_ripple_from(shape == Sha1Shape::kFewestBits ? 1 : sha1.default_ripple_from());
  auto ran = impl_->run("hmac_sha1", hmac_all(impl_->protocol, keys, macs, work));
  if (!ran) return ran.error();
  std::vector<Shares> out;
  out.reserve(macs.size());
  for (SharedBytes& each : macs) out.push_back(make_shares(Ring::kGf256, std::move(each)));
  return out;
}

}  // namespace tkdc::mpc
