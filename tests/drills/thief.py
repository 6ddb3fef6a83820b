# SPDX-License-Identifier: Apache-2.0
"""Who has a copy of server 0's folder starts it in server 0's place: nobody talks to it now."""

import hashlib
import shutil
import ssl
from pathlib import Path

from tests.integration.test_breach import status
from tests.support.process import Daemon, RealmError, wait_until
from tests.support.realm import Realm
from tests.support.zmq_curve import public_of

REFUSED_S = 60.0
READY_S = 30.0


def steal(realm: Realm) -> Path:
    copy = realm.directory / "stolen"
    shutil.copytree(realm.server_directory(0), copy, ignore=shutil.ignore_patterns("*.sock"))
    return copy


def certificate_of(folder: Path) -> str:
    der = ssl.PEM_cert_to_DER_cert((folder / "tls.cert.pem").read_text())
    return hashlib.sha256(der).hexdigest()


def curve_key_of(folder: Path) -> str:
    return public_of((folder / "curve.key").read_text().strip()).decode()


def expect_refusal(realm: Realm, stolen: Path) -> None:
    """Its certificate by server 1, which it calls first; its CURVE key by the KDC's agent. Nobody's
    configuration has them."""
    certificate, curve = certificate_of(stolen), curve_key_of(stolen)
    for config in realm.installation.glob("*/*.toml"):
        if certificate in config.read_text() or curve in config.read_text():
            raise RealmError(f"{config} still has what was stolen of server 0")
    words = f"presented the certificate {certificate}, which is not the pinned one"
    realm.daemons["server0"].stop()
    thief = Daemon("thief", [str(realm.bin / "tkdc-server"), "--config",
                             str(stolen / "tkdc.toml")], realm.env(), realm.logs)
    thief.start()
    try:
        thief.wait_notified(READY_S)
        wait_until(lambda: words in realm.daemons["server1"].log.read_text(), REFUSED_S, words)
        wait_until(lambda: "handshake failed" in str(status(realm)), REFUSED_S,
                   "a CURVE key that agents refuse")
    finally:
        thief.stop()
        realm.start_server(0)
