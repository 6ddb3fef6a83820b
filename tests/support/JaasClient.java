// SPDX-License-Identifier: Apache-2.0
// Java's own Kerberos as a client: a login by JAAS, then what the commands say, in order:
//
//   service NAME KEYTAB   a GSS context with the service, accepted with its keytab, and a message
//   renew                 the ticket, renewed
//
// Arguments: the principal, the password, commands. One line for each step that went well;
// the exception's message and status 1 otherwise.
import java.nio.charset.StandardCharsets;
import java.security.PrivilegedExceptionAction;
import java.util.Arrays;
import java.util.Date;
import java.util.Map;
import javax.security.auth.Subject;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import javax.security.auth.callback.NameCallback;
import javax.security.auth.callback.PasswordCallback;
import javax.security.auth.kerberos.KerberosTicket;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag;
import javax.security.auth.login.Configuration;
import javax.security.auth.login.LoginContext;
import org.ietf.jgss.GSSContext;
import org.ietf.jgss.GSSCredential;
import org.ietf.jgss.GSSException;
import org.ietf.jgss.GSSManager;
import org.ietf.jgss.GSSName;
import org.ietf.jgss.MessageProp;
import org.ietf.jgss.Oid;

final class JaasClient {
  private static final String MODULE = "com.sun.security.auth.module.Krb5LoginModule";
  private static final byte[] MESSAGE = "a message".getBytes(StandardCharsets.UTF_8);

  public static void main(String[] arguments) {
    try {
      Subject user = logIn(Map.of("refreshKrb5Config", "true"), arguments[0], arguments[1]);
      System.out.println("logged in " + user.getPrincipals().iterator().next());
      for (int k = 2; k < arguments.length; k++) {
        if (arguments[k].equals("renew")) {
          renew(user);
        } else if (arguments[k].equals("service")) {
          useService(user, arguments[k + 1], arguments[k + 2]);
          k += 2;
        } else {
          throw new IllegalArgumentException(arguments[k]);
        }
      }
    } catch (Exception e) {
      for (Throwable cause = e; cause != null; cause = cause.getCause()) {
        System.err.println(cause);
      }
      System.exit(1);
    }
  }

  private static Subject logIn(Map<String, String> options, String name, String password)
      throws Exception {
    Configuration configuration =
        new Configuration() {
          @Override
          public AppConfigurationEntry[] getAppConfigurationEntry(String ignored) {
            return new AppConfigurationEntry[] {
              new AppConfigurationEntry(MODULE, LoginModuleControlFlag.REQUIRED, options)
            };
          }
        };
    CallbackHandler answers =
        callbacks -> {
          for (Callback callback : callbacks) {
            if (callback instanceof NameCallback) {
              ((NameCallback) callback).setName(name);
            } else if (callback instanceof PasswordCallback) {
              ((PasswordCallback) callback).setPassword(password.toCharArray());
            }
          }
        };
    LoginContext login = new LoginContext("tkdc", new Subject(), answers, configuration);
    login.login();
    return login.getSubject();
  }

  private static void renew(Subject user) throws Exception {
    KerberosTicket ticket = user.getPrivateCredentials(KerberosTicket.class).iterator().next();
    byte[] before = ticket.getEncoded();
    ticket.refresh();
    if (Arrays.equals(before, ticket.getEncoded()) || ticket.getEndTime().before(new Date())) {
      throw new IllegalStateException("the ticket did not change");
    }
    System.out.println("renewed");
  }

  private static void useService(Subject user, String service, String keytab) throws Exception {
    Oid kerberos = new Oid("1.2.840.113554.1.2.2");
    Oid principal = new Oid("1.2.840.113554.1.2.2.1");
    Subject host =
        logIn(
            Map.of(
                "principal", service, "useKeyTab", "true", "keyTab", keytab, "storeKey", "true",
                "isInitiator", "false"),
            service,
            "");
    GSSManager manager = GSSManager.getInstance();
    GSSName name = manager.createName(service, principal);
    GSSContext initiator =
        Subject.doAs(
            user,
            (PrivilegedExceptionAction<GSSContext>)
                () -> manager.createContext(name, kerberos, null, GSSContext.DEFAULT_LIFETIME));
    initiator.requestMutualAuth(true);
    GSSContext acceptor =
        Subject.doAs(
            host,
            (PrivilegedExceptionAction<GSSContext>)
                () ->
                    manager.createContext(
                        manager.createCredential(
                            name, GSSCredential.INDEFINITE_LIFETIME, kerberos,
                            GSSCredential.ACCEPT_ONLY)));
    byte[] token = new byte[0];
    while (!initiator.isEstablished() || !acceptor.isEstablished()) {
      byte[] out = step(user, initiator, token, true);
      token = acceptor.isEstablished() ? null : step(host, acceptor, out, false);
    }
    byte[] wrapped = initiator.wrap(MESSAGE, 0, MESSAGE.length, new MessageProp(true));
    byte[] message = acceptor.unwrap(wrapped, 0, wrapped.length, new MessageProp(true));
    if (!Arrays.equals(message, MESSAGE)) {
      throw new IllegalStateException("another message came out");
    }
    System.out.println("served " + acceptor.getSrcName());
  }

  private static byte[] step(Subject who, GSSContext context, byte[] token, boolean initiates)
      throws Exception {
    return Subject.doAs(
        who, (PrivilegedExceptionAction<byte[]>) () -> stepAs(context, token, initiates));
  }

  private static byte[] stepAs(GSSContext context, byte[] token, boolean initiates)
      throws GSSException {
    return initiates
        ? context.initSecContext(token, 0, token.length)
        : context.acceptSecContext(token, 0, token.length);
  }
}
