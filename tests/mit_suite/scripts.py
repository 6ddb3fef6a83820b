# SPDX-License-Identifier: Apache-2.0
"""MIT's scripts, those first that ask most of a KDC."""

FOLDERS = ("tests", "tests/gssapi", "kdc", "lib/kadm5", "lib/kdb", "lib/krb5/krb",
           "lib/krb5/ccache", "lib/krb5/os", "lib/rpc/unit-test", "appl/gss-sample", "appl/sample",
           "appl/simple", "appl/user_user", "clients/kvno", "kadmin/dbutil")

FIRST = (
    "tests/t_kdb.py tests/t_skew.py tests/t_renew.py tests/t_referral.py tests/t_general.py "
    "tests/t_pwqual.py tests/t_policy.py tests/t_cve-2012-1014.py tests/t_cve-2012-1015.py "
    "tests/t_cve-2013-1416.py tests/t_cve-2013-1417.py tests/t_cve-2021-36222.py "
    "tests/t_keyrollover.py tests/t_rdreq.py tests/t_sn2princ.py tests/t_crossrealm.py "
    "tests/t_kprop.py tests/t_mkey.py tests/t_salt.py tests/t_kadmin_acl.py "
    "tests/t_kadmin_parsing.py tests/t_keydata.py tests/t_authdata.py tests/t_audit.py "
    "tests/t_etype_info.py tests/t_hostrealm.py tests/t_u2u.py tests/t_tabdump.py "
    "tests/t_changepw.py tests/t_preauth.py tests/t_pkinit.py tests/t_otp.py tests/t_dump.py "
    "tests/t_unlockiter.py tests/t_errmsg.py tests/gssapi/t_gssapi.py tests/gssapi/t_s4u.py "
    "kdc/t_workers.py kdc/t_bigreply.py kdc/t_emptytgt.py tests/gssapi/t_enctypes.py"
).split()


def ordered(found: list[str]) -> list[str]:
    """FIRST in its order, then the others by folder and name."""
    rest = [name for name in found if name not in FIRST]
    rest.sort(key=lambda name: (FOLDERS.index(name.rpartition("/")[0]), name))
    return [name for name in FIRST if name in found] + rest
