// SPDX-License-Identifier: Apache-2.0
// One TLS connection that carries packets: u32 length (big-endian), octets.
//
// Never blocks: each call does what the socket allows now. Plaintext is
// encrypted at once, so what waits for the socket is ciphertext; a peer that
// does not read is cut off at a bound. The sending key is updated by count of
// records, because OpenSSL does not do it and a busy lane passes AES-GCM's
// limit in minutes.
//
// One thread at a time. Secret: received packets, in memory that is wiped.
#pragma once

#include <memory>
#include <string>

#include "link/network.h"
#include "link/packet_input.h"
#include "link/socket.h"
#include "link/tls_context.h"

namespace tkdc {

class InputBio;
class OutputBio;

class TlsStream final : public PacketStream {
 public:
  static constexpr std::uint64_t kRecordsPerKey = std::uint64_t{1} << 22;

  // `peer` is for messages: "party 1". `ssl` comes from a TlsContext.
  static Result<std::unique_ptr<TlsStream>> create(SslPtr ssl, UniqueFd fd, std::string peer);
  ~TlsStream() override;

  Result<bool> connect(long long deadline_ms) override;
  // Of TlsContext::anonymous(): true once the peer has proved its certificate.
  Result<bool> handshake() override;
  bool is_left() const override { return left_; }

  Result<void> send_pieces(std::span<const ByteSpan> pieces) override;
  Result<void> flush();  // what the socket takes of the output

  Result<void> fill() override;
  bool failed() const { return !failure_.empty(); }
  bool has_packet() const override { return packets_.has_packet(); }
  ByteSpan take() override { return packets_.take(); }

  void wait(long long deadline_ms) override { wait_ready(fd(), poll_events(), deadline_ms); }
  // What poll() must wait for; no POLLIN while enough packets are waiting.
  short poll_events() const override;
  int fd() const { return fd_.get(); }
  int id() const override { return fd(); }
  const std::string& peer() const override { return peer_; }

  void set_max_packet_bytes(std::size_t bytes) override {
    max_packet_bytes_ = bytes;
    packets_.set_max_packet_bytes(bytes);
  }
  // Of received packets: above it nothing is read before a take().
  void set_max_waiting_bytes(std::size_t bytes) { packets_.set_max_waiting_bytes(bytes); }
  void set_peer(std::string peer) override { peer_ = std::move(peer); }
  void set_records_per_key(std::uint64_t records) { records_per_key_ = records; }
  // What a person does about a peer with another certificate: behind that error.
  void set_pin_advice(std::string advice) { pin_advice_ = std::move(advice); }

  // TLS exporter (RFC 8446 section 7.5): the same octets at both ends.
  Result<void> export_key(const std::string& label, MutableByteSpan out) const override;

  std::uint64_t bytes_received() const override;  // ciphertext
  std::uint64_t key_updates_sent() const { return key_updates_sent_; }
  std::uint64_t key_updates_received() const { return key_updates_received_; }

 private:
  TlsStream(SslPtr ssl, UniqueFd fd, std::string peer);
  Result<void> write_record(ByteSpan plaintext, bool last);
  Result<void> update_key_when_due(std::uint64_t records);
  Result<std::size_t> read_some(MutableByteSpan room);
  Result<void> fill_packets();
  Error broken(const std::string& step, int rc);
  static void observe(int write_p, int version, int content_type, const void* buf, std::size_t len,
                      SSL* ssl, void* arg);

  UniqueFd fd_;
  std::unique_ptr<InputBio> input_;
  std::unique_ptr<OutputBio> output_;
  SslPtr ssl_;
  std::string peer_, pin_advice_;
  std::size_t max_packet_bytes_ = kMaxPacketBytes;
  bool left_ = false;

  SecretVector record_;  // for what does not stand in one piece as a whole record
  std::uint64_t records_per_key_ = kRecordsPerKey;
  std::uint64_t records_ = 0;  // under the present sending key
  std::uint64_t key_updates_sent_ = 0;
  std::uint64_t key_updates_received_ = 0;

  PacketInput packets_;
  std::string failure_;
};

}  // namespace tkdc
