# SPDX-License-Identifier: Apache-2.0
"""A ZeroMQ DEALER with CURVE keys of one's choice, on libzmq itself (Debian has it for us)."""

import ctypes

_DEALER, _LINGER, _RCVTIMEO, _SNDTIMEO = 5, 17, 27, 28
_CURVE_PUBLICKEY, _CURVE_SECRETKEY, _CURVE_SERVERKEY = 48, 49, 50
_KEY_CHARS = 40

_zmq = ctypes.CDLL("libzmq.so.5", use_errno=True)
_zmq.zmq_ctx_new.restype = ctypes.c_void_p
_zmq.zmq_socket.restype = ctypes.c_void_p
_zmq.zmq_socket.argtypes = [ctypes.c_void_p, ctypes.c_int]
_zmq.zmq_setsockopt.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
_zmq.zmq_connect.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_zmq.zmq_send.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
_zmq.zmq_recv.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
_zmq.zmq_close.argtypes = [ctypes.c_void_p]
_zmq.zmq_ctx_term.argtypes = [ctypes.c_void_p]


def new_pair() -> tuple[bytes, bytes]:
    public, secret = ctypes.create_string_buffer(41), ctypes.create_string_buffer(41)
    if _zmq.zmq_curve_keypair(public, secret) != 0:
        raise OSError("libzmq has no CURVE")
    return public.value, secret.value


def public_of(secret: str) -> bytes:
    public = ctypes.create_string_buffer(41)
    if len(secret) != _KEY_CHARS or _zmq.zmq_curve_public(public, secret.encode()) != 0:
        raise ValueError("not a CURVE key in Z85")
    return public.value


class Dealer:
    def __init__(self, port: int, server: bytes, public: bytes, secret: bytes):
        self._context = _zmq.zmq_ctx_new()
        self._socket = _zmq.zmq_socket(self._context, _DEALER)
        self._set(_LINGER, 0)
        self._set(_SNDTIMEO, 5000)
        for option, key in ((_CURVE_SERVERKEY, server), (_CURVE_PUBLICKEY, public),
                            (_CURVE_SECRETKEY, secret)):
            self._check(_zmq.zmq_setsockopt(self._socket, option, key, _KEY_CHARS))
        self._check(_zmq.zmq_connect(self._socket, f"tcp://127.0.0.1:{port}".encode()))

    def __enter__(self) -> "Dealer":
        return self

    def __exit__(self, *_exc) -> None:
        _zmq.zmq_close(self._socket)
        _zmq.zmq_ctx_term(self._context)

    def send(self, frame: bytes) -> None:
        self._check(_zmq.zmq_send(self._socket, frame, len(frame), 0))

    def receive(self, timeout_s: float) -> bytes | None:
        self._set(_RCVTIMEO, int(timeout_s * 1000))
        buffer = ctypes.create_string_buffer(1 << 16)
        size = _zmq.zmq_recv(self._socket, buffer, len(buffer), 0)
        return None if size < 0 else buffer.raw[:size]

    def _set(self, option: int, value: int) -> None:
        raw = value.to_bytes(4, "little", signed=True)
        self._check(_zmq.zmq_setsockopt(self._socket, option, raw, 4))

    @staticmethod
    def _check(result: int) -> None:
        if result < 0:
            raise OSError(ctypes.get_errno(), "libzmq refused a call")
