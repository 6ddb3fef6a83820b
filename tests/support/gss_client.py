# SPDX-License-Identifier: Apache-2.0
"""python-gssapi as a client: a login with a password, then what the commands say, in order.

    gss_client.py PRINCIPAL [COMMAND...]          the password on standard input
        service NAME     a context with the service, accepted with its keytab (KRB5_KTNAME), and a
                         message each way
        delegate NAME    the same, and the forwarded ticket gets another ticket for the service
        proxy NAME NEXT  the same without a forwarded ticket: the service (its keytab also as
                         KRB5_CLIENT_KTNAME) shows the KDC the user's ticket and gets one for NEXT

One line for each step that went well; the error's text and status 1 otherwise. Debian's
python3-gssapi, so this runs under /usr/bin/python3.
"""

import sys

import gssapi
from gssapi.raw import acquire_cred_with_password

KERBEROS = gssapi.MechType.kerberos
MESSAGE = b"a message"


def log_in(principal: str, password: str) -> gssapi.Credentials:
    name = gssapi.Name(principal, gssapi.NameType.kerberos_principal)
    taken = acquire_cred_with_password(name, password.encode(), mechs=[KERBEROS],
                                       usage="initiate")
    user = gssapi.Credentials(taken.creds)  # takes over what it is given
    print("logged in", user.name)
    return user


def connect(user: gssapi.Credentials, service: str, flags,
            usage: str = "accept") -> gssapi.SecurityContext:
    """The acceptor's end, after a message went each way."""
    name = gssapi.Name(service, gssapi.NameType.kerberos_principal)
    initiator = gssapi.SecurityContext(name=name, creds=user, mech=KERBEROS, usage="initiate",
                                       flags=flags)
    acceptor = gssapi.SecurityContext(creds=gssapi.Credentials(name=name, usage=usage),
                                      usage="accept")
    token = None
    while not (initiator.complete and acceptor.complete):
        token = initiator.step(token)
        if not acceptor.complete:
            token = acceptor.step(token)
    for sender, receiver in ((initiator, acceptor), (acceptor, initiator)):
        sealed = sender.wrap(MESSAGE, True)
        if receiver.unwrap(sealed.message).message != MESSAGE:
            raise ValueError("another message came out")
    print("served", acceptor.initiator_name)
    return acceptor


def main() -> None:
    user = log_in(sys.argv[1], sys.stdin.readline().rstrip("\n"))
    need = gssapi.RequirementFlag
    commands = iter(sys.argv[2:])
    for command in commands:
        service = next(commands)
        if command == "service":
            connect(user, service, need.mutual_authentication)
        elif command == "delegate":
            acceptor = connect(user, service,
                               need.mutual_authentication | need.delegate_to_peer)
            if acceptor.delegated_creds is None:
                raise ValueError("no ticket was forwarded")
            connect(acceptor.delegated_creds, service, need.mutual_authentication)
            print("delegated")
        elif command == "proxy":
            acceptor = connect(user, service, need.mutual_authentication, usage="both")
            if acceptor.delegated_creds is None:
                raise ValueError("no evidence ticket")
            connect(acceptor.delegated_creds, next(commands), need.mutual_authentication)
            print("delegated")
        else:
            raise ValueError(command)


if __name__ == "__main__":
    try:
        main()
    except (gssapi.exceptions.GSSError, ValueError) as error:
        print(error, file=sys.stderr)
        sys.exit(1)
