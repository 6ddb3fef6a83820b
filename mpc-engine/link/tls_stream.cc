// SPDX-License-Identifier: Apache-2.0
#include "link/tls_stream.h"

#include <openssl/sslerr.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/hex.h"
#include "base/system_error.h"
#include "link/input_bio.h"
#include "link/output_bio.h"

namespace tkdc {
namespace {

constexpr std::size_t kRecordBytes = 16 * 1024;  // RFC 8446 section 5.1
constexpr std::size_t kHeaderBytes = PacketInput::kHeaderBytes;

// SSL_get_error looks at the thread's queue, which somebody else may have left an error in.
void clear_errors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
  errno = 0;
}

}  // namespace

TlsStream::TlsStream(SslPtr ssl, UniqueFd fd, std::string peer)
    : fd_(std::move(fd)), input_(std::make_unique<InputBio>()),
      output_(std::make_unique<OutputBio>()), ssl_(std::move(ssl)), peer_(std::move(peer)) {}

Result<std::unique_ptr<TlsStream>> TlsStream::create(SslPtr ssl, UniqueFd fd, std::string peer) {
  std::unique_ptr<TlsStream> stream(new TlsStream(std::move(ssl), std::move(fd), std::move(peer)));
  stream->output_->set_socket(stream->fd());
  BIO* in = stream->input_->make_bio(stream->fd());
  BIO* out = stream->output_->make_bio();
  if (in == nullptr || out == nullptr) {
    BIO_free(in);
    BIO_free(out);
    return fail("tls: no memory for a connection to " + stream->peer_);
  }
  SSL_set_bio(stream->ssl_.get(), in, out);
  SSL_set_msg_callback(stream->ssl_.get(), observe);
  SSL_set_msg_callback_arg(stream->ssl_.get(), stream.get());
  return stream;
}

TlsStream::~TlsStream() {
  // OpenSSL decrypts in its own buffer, which keeps the last record: wiped when it is freed.
  SSL_set_options(ssl_.get(), SSL_OP_CLEANSE_PLAINTEXT);
  // close_notify, when it costs nothing; SSL_shutdown is not for broken connections.
  ERR_clear_error();
  if (!failed() && SSL_is_init_finished(ssl_.get()) && output_->empty()) {
    SSL_shutdown(ssl_.get());
    (void)output_->flush(fd_.get()).ok();
  }
  ERR_clear_error();
}

void TlsStream::observe(int write_p, int, int content_type, const void* buf, std::size_t len, SSL*,
                        void* arg) {
  if (write_p == 0 && content_type == SSL3_RT_HANDSHAKE && len > 0 &&
      static_cast<const std::uint8_t*>(buf)[0] == SSL3_MT_KEY_UPDATE)
    static_cast<TlsStream*>(arg)->key_updates_received_++;
}

Error TlsStream::broken(const std::string& step, int rc) {
  int code = SSL_get_error(ssl_.get(), rc);
  int number = errno;
  if (SSL_get_verify_result(ssl_.get()) == X509_V_ERR_CERT_REJECTED) {
    ERR_clear_error();
    return fail("tls: " + peer_ + " presented the certificate " +
                to_hex(TlsContext::presented(ssl_.get())) + ", which is not the pinned one" +
                (pin_advice_.empty() ? "" : "; " + pin_advice_));
  }
  left_ = code == SSL_ERROR_ZERO_RETURN || code == SSL_ERROR_SYSCALL;
  if (code == SSL_ERROR_ZERO_RETURN) return fail("tls: " + peer_ + " closed the connection");
  if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    ERR_clear_error();
    left_ = true;
    return fail("tls: " + peer_ + " is gone: the connection ended without a goodbye");
  }
  if (code == SSL_ERROR_SYSCALL && ERR_peek_error() == 0)
    return fail("tls: connection to " + peer_ + " lost in " + step + ": " +
                (number != 0 ? errno_text(number) : "end of stream"));
  return fail("tls: " + step + " with " + peer_ + " failed: " + openssl_error());
}

Result<bool> TlsStream::connect(long long deadline_ms) {
  if (!wait_ready(fd(), POLLOUT, deadline_ms)) return false;
  if (const std::string reason = connect_error(fd()); !reason.empty()) return fail(reason);
  return true;
}

Result<bool> TlsStream::handshake() {
  ERR_clear_error();
  errno = 0;
  int rc = SSL_do_handshake(ssl_.get());
  int code = rc == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), rc);
  // TlsContext::anonymous: the peer's certificate is verified.
  if (code == SSL_ERROR_WANT_X509_LOOKUP && SSL_is_server(ssl_.get()) == 0) return true;
  bool more = code == SSL_ERROR_WANT_READ || code == SSL_ERROR_WANT_WRITE;
  if (rc != 1 && !more) {
    Error error = broken("handshake", rc);
    (void)output_->flush(fd_.get()).ok();  // the alert tells the peer
    return error;
  }
  auto sent = flush();
  if (!sent.ok()) return sent.error();
  return rc == 1;
}

Result<void> TlsStream::flush() {
  auto sent = output_->flush(fd_.get());
  if (!sent.ok()) return fail("tls: connection to " + peer_ + " lost: " + sent.error().message);
  return {};
}

Result<void> TlsStream::update_key_when_due(std::uint64_t records) {
  records_ += records;
  if (records_ < records_per_key_) return {};
  if (SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1)
    return fail("tls: key update towards " + peer_ + " failed: " + openssl_error());
  records_ = 0;
  key_updates_sent_++;
  return {};
}

// At most kRecordBytes: one record per call of SSL_write_ex.
Result<void> TlsStream::write_record(ByteSpan plaintext, bool last) {
  output_->set_more(true);  // a key update does not leave alone
  auto due = update_key_when_due(1);
  if (!due.ok()) return due;
  output_->set_more(!last);
  clear_errors();
  std::size_t written = 0;
  int rc = SSL_write_ex(ssl_.get(), plaintext.data(), plaintext.size(), &written);
  if (rc == 1 && written == plaintext.size()) return {};
  if (output_->pending() + 2 * kRecordBytes > OutputBio::kMaxPendingBytes)
    return fail("tls: " + peer_ + " does not read: too much output waiting; the link is cut");
  return broken("sending", rc);
}

// The first record has what is above a multiple of full ones, the header at least:
// the others are then encrypted from where they stand, if no border of pieces
// falls into them.
Result<void> TlsStream::send_pieces(std::span<const ByteSpan> pieces) {
  const std::size_t bytes = total_bytes(pieces);
  if (bytes > max_packet_bytes_)
    return fail("tls: a packet of " + std::to_string(bytes) + " octets for " + peer_ +
                " is above the limit of " + std::to_string(max_packet_bytes_));
  record_.resize(kRecordBytes);
  PacketInput::put_header(record_.data(), bytes);
  std::size_t used = kHeaderBytes, left = bytes;
  std::size_t wanted =  // of this record
      std::max(kHeaderBytes, (kHeaderBytes + bytes - 1) % kRecordBytes + 1);
  for (ByteSpan piece : pieces)
    while (!piece.empty()) {
      const std::size_t taken = std::min(piece.size(), wanted - used);
      ByteSpan whole = piece;
      if (taken < kRecordBytes) {
        std::memcpy(record_.data() + used, piece.data(), taken);
        whole = record_;
      }
      used += taken;
      left -= taken;
      piece = piece.subspan(taken);
      if (used < wanted) continue;
      auto written = write_record(whole.first(wanted), left == 0);
      if (!written.ok()) return written;
      used = 0;
      wanted = kRecordBytes;
    }
  if (used > 0)
    if (auto written = write_record(ByteSpan(record_).first(used), true); !written.ok())
      return written;
  return flush();
}

Result<std::size_t> TlsStream::read_some(MutableByteSpan room) {
  clear_errors();
  std::size_t got = 0;
  int rc = SSL_read_ex(ssl_.get(), room.data(), room.size(), &got);
  if (rc == 1) return got;
  int code = SSL_get_error(ssl_.get(), rc);
  if (code == SSL_ERROR_WANT_READ || code == SSL_ERROR_WANT_WRITE) return std::size_t{0};
  return broken("receiving", rc);
}

Result<void> TlsStream::fill() {
  if (failed()) return fail(failure_);
  auto filled = fill_packets();
  if (!filled.ok()) failure_ = filled.error().message;
  return filled;
}

Result<void> TlsStream::fill_packets() {
  while (!packets_.full()) {
    auto got = read_some(packets_.room());
    if (!got.ok()) return got.error();
    if (*got == 0) break;
    auto complete = packets_.filled(*got);
    if (!complete.ok()) return fail("tls: " + peer_ + " " + complete.error().message);
    // Another read would mostly cost a system call to learn that there is nothing.
    if (*complete && input_->empty() && SSL_has_pending(ssl_.get()) == 0) break;
  }
  return output_->empty() ? Result<void>() : flush();
}

short TlsStream::poll_events() const {
  short events = 0;
  if (!packets_.full()) events |= POLLIN;
  if (!output_->empty()) events |= POLLOUT;
  return events;
}

Result<void> TlsStream::export_key(const std::string& label, MutableByteSpan out) const {
  if (SSL_export_keying_material(ssl_.get(), out.data(), out.size(), label.data(), label.size(),
                                 nullptr, 0, 0) != 1)
    return fail("tls: exporter failed for " + peer_ + ": " + openssl_error());
  return {};
}

std::uint64_t TlsStream::bytes_received() const {
  return BIO_number_read(SSL_get_rbio(ssl_.get()));
}

}  // namespace tkdc
