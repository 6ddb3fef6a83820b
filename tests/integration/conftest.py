# SPDX-License-Identifier: Apache-2.0
"""One realm for all tests; users, clients and keytabs of their own for each.

TKDC_TEST_STOCK=1 runs the tests that do not look behind the scenes against Debian's db2
alone: what fails there is the test's fault, not tkdc's.
"""

import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.kerberos import Client, Outcome, free_base_port
from tests.support.load import Load
from tests.support.process import wait_until
from tests.support.realm import Realm
from tests.support.replica import ReplicatedRealm

STOCK = os.environ.get("TKDC_TEST_STOCK", "") not in ("", "0")
NAME = "TEST.REALM"
SERVICE = "host/service.test"
RECOVERY_S = 30.0

# In memory where there is such a place: databases and stores wait for their disk at each change,
# and how long is up to whoever else uses that disk.
if "TMPDIR" not in os.environ and os.access("/dev/shm", os.W_OK):
    tempfile.tempdir = "/dev/shm"

_numbers = itertools.count(1)


# Servers that are killed as often as tests do it would not start again.
KILLED_ON_PURPOSE = {"opened_checks_per_day": 1_000_000}


def new_realm(name: str = NAME, stock: bool = STOCK, kind: type[Realm] = Realm) -> Realm:
    # Unix socket paths are short: not below pytest's long temporary folders.
    directory = Path(tempfile.mkdtemp(prefix="tkdc-"))
    realm = kind(directory, name, free_base_port(), stock=stock)
    realm.limits = dict(KILLED_ON_PURPOSE)
    return realm


def remove(realm: Realm) -> None:
    if os.environ.get("KEEP", "") in ("", "0"):
        shutil.rmtree(realm.directory, ignore_errors=True)


@dataclass(frozen=True)
class User:
    name: str
    password: str


@pytest.fixture(scope="session")
def realm() -> Iterator[Realm]:
    with new_realm() as running:
        running.kadmin_local(f"addprinc -randkey {SERVICE}")
        running.kadmin_local(f"ktadd -k {running.keytab('service')} {SERVICE}")
        yield running
    remove(running)


@pytest.fixture(scope="session")
def stock_realm() -> Iterator[Realm]:
    """Debian's KDC alone, for tests that compare."""
    with new_realm("STOCK.REALM", stock=True) as running:
        yield running
    remove(running)


@pytest.fixture(scope="session", params=["tkdc", "stock"])
def either(request) -> Realm:
    """The realm, then one without tkdc: the same steps are to end the same."""
    return request.getfixturevalue("realm" if request.param == "tkdc" else "stock_realm")


@pytest.fixture
def client(realm: Realm) -> Callable[[], Client]:
    """Makes clients, each with an empty credential cache."""
    return lambda: realm.client(f"c{next(_numbers)}")


@pytest.fixture
def primary(site: ReplicatedRealm, tmp_path: Path) -> Client:
    """For modules whose site has a replica: a user there who asks the primary KDC."""
    return Client(site.env(), tmp_path / "ccache")


@pytest.fixture
def replica(site: ReplicatedRealm, tmp_path: Path) -> Client:
    """The same user's cache, but all requests go to the replica."""
    return Client(site.replica_env(kdc=False), tmp_path / "ccache")


@pytest.fixture(scope="session")
def new_user(realm: Realm) -> Callable[[], User]:
    def create() -> User:
        number = next(_numbers)
        user = User(f"user{number}", f"the password of user {number}")
        realm.kadmin_local(f'addprinc -pw "{user.password}" {user.name}')
        return user

    return create


@pytest.fixture(scope="session")
def shared_user(new_user) -> User:
    """For tests that do not change the user."""
    return new_user()


@pytest.fixture
def user(new_user) -> User:
    return new_user()


@pytest.fixture
def shared_logins(client, shared_user) -> Callable[[int], Load]:
    """That many clients log in with the password and get a ticket, over and over."""
    def log_in(one: Client) -> Outcome:
        done = one.kinit(shared_user.name, shared_user.password)
        return one.kvno(SERVICE) if done.ok else done

    return lambda clients: Load([client() for _ in range(clients)], log_in)


@pytest.fixture
def healthy(realm: Realm, shared_user: User, client) -> Callable[[], None]:
    """Checks that logins work again, with every program that should run still the same."""
    before = realm.pids()

    def check(restarted: tuple[str, ...] = ()) -> None:
        wait_until(lambda: client().kinit(shared_user.name, shared_user.password).ok,
                   RECOVERY_S, "a login after the fault", pause_s=0.2)
        now = realm.pids()
        for name, pid in before.items():
            if name not in restarted:
                assert now.get(name) == pid, f"{name} did not survive\n{realm.daemons[name].tail()}"

    return check


def pytest_collection_modifyitems(items) -> None:
    if not STOCK:
        return
    for item in items:
        if "behind" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="looks behind the scenes of tkdc"))
