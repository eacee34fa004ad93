/**
 * Kafka's keys of TLS, SASL, delegation tokens and authorizers. Connections are PLAINTEXT here and
 * nobody is refused anything, so that none has an effect; they are there since files and tools name
 * them. Passwords are read and told to nobody.
 */
import {
  boolean,
  choice,
  className,
  double,
  inert,
  int,
  list,
  long,
  password,
  short,
  string,
} from './config-types.js'

const unset = { isUnset: true } as const

const fixed = inert({
  // Who may do what
  'authorizer.class.name': string('', 'Decides what a client may do.'),
  'connections.max.reauth.ms': long(0, 'The longest time between two logins on a connection.'),
  'connection.failed.authentication.delay.ms': int(100, 'Pause after a login that failed.', {
    min: 0,
  }),
  'security.inter.broker.protocol': choice(
    'PLAINTEXT',
    ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'],
    'What brokers speak with each other.',
  ),
  'security.providers': string('', "Java's providers of cryptography.", unset),

  // Delegation tokens
  'delegation.token.expiry.check.interval.ms': long(3_600_000, 'How often old ones are removed.', {
    min: 1,
  }),
  'delegation.token.expiry.time.ms': long(86_400_000, 'How long a token lasts.', { min: 1 }),
  'delegation.token.max.lifetime.ms': long(604_800_000, 'How long it may be renewed.', { min: 1 }),
  'delegation.token.secret.key': password('What tokens are signed with.'),

  // TLS
  'ssl.allow.dn.changes': boolean(false, 'Whether a new certificate may have another name.'),
  'ssl.allow.san.changes': boolean(false, 'Whether it may have other alternative names.'),
  'ssl.principal.mapping.rules': string('DEFAULT', 'How a certificate becomes a user.'),

  // SASL
  'sasl.client.callback.handler.class': className('', 'Callbacks of a client.', unset),
  'sasl.login.callback.handler.class': className('', 'Callbacks of a login.', unset),
  'sasl.login.class': className('', 'Logs in.', unset),
  'sasl.login.connect.timeout.ms': int(0, 'How long connecting to a provider may take.', unset),
  'sasl.login.read.timeout.ms': int(0, 'How long reading from it may take.', unset),
  'sasl.login.retry.backoff.max.ms': long(10_000, 'The longest pause between two attempts.'),
  'sasl.login.retry.backoff.ms': long(100, 'The first pause.'),
  'sasl.mechanism.controller.protocol': string('GSSAPI', 'The mechanism towards controllers.'),
  'sasl.server.callback.handler.class': className('', 'Callbacks of the broker.', unset),
  'sasl.server.max.receive.size': int(524_288, 'Bytes of one message of a login.'),

  // SASL/OAUTHBEARER
  'sasl.oauthbearer.assertion.algorithm': choice(
    'RS256',
    ['ES256', 'RS256'],
    'How an assertion is signed.',
  ),
  'sasl.oauthbearer.assertion.claim.aud': string('', 'Its audience.', unset),
  'sasl.oauthbearer.assertion.claim.exp.seconds': int(300, 'How long it lasts.', {
    min: 0,
    max: 86_400,
  }),
  'sasl.oauthbearer.assertion.claim.iss': string('', 'Who made it.', unset),
  'sasl.oauthbearer.assertion.claim.jti.include': boolean(false, 'Whether it has an id.'),
  'sasl.oauthbearer.assertion.claim.nbf.seconds': int(60, 'How far its start lies back.', {
    min: 0,
    max: 3600,
  }),
  'sasl.oauthbearer.assertion.claim.sub': string('', 'Whom it is about.', unset),
  'sasl.oauthbearer.assertion.file': string('', 'A file with the whole assertion.', unset),
  'sasl.oauthbearer.assertion.private.key.file': string('', 'Its key.', unset),
  'sasl.oauthbearer.assertion.private.key.passphrase': password('Opens that key.'),
  'sasl.oauthbearer.assertion.template.file': string('', 'Further claims of it.', unset),
  'sasl.oauthbearer.client.credentials.client.id': string('', 'The id of a client.', unset),
  'sasl.oauthbearer.client.credentials.client.secret': password('And its secret.'),
  'sasl.oauthbearer.clock.skew.seconds': int(30, 'How far clocks may differ.'),
  'sasl.oauthbearer.expected.audience': list('', 'Audiences that are accepted.'),
  'sasl.oauthbearer.expected.issuer': string('', 'The issuer that is.', unset),
  'sasl.oauthbearer.jwks.endpoint.refresh.ms': long(3_600_000, 'How often keys are fetched.'),
  'sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms': long(10_000, 'The longest pause then.'),
  'sasl.oauthbearer.jwks.endpoint.retry.backoff.ms': long(100, 'The first pause.'),
  'sasl.oauthbearer.jwks.endpoint.url': string('', 'Where the keys are.', unset),
  'sasl.oauthbearer.jwt.retriever.class': className(
    'org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever',
    'Fetches tokens.',
  ),
  'sasl.oauthbearer.jwt.validator.class': className(
    'org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator',
    'Checks tokens.',
  ),
  'sasl.oauthbearer.scope': string('', 'The scope that is asked for.', unset),
  'sasl.oauthbearer.scope.claim.name': string('scope', 'The claim that has the scope.'),
  'sasl.oauthbearer.sub.claim.name': string('sub', 'The claim that has the user.'),
  'sasl.oauthbearer.token.endpoint.url': string('', 'Where tokens come from.', unset),
})

const dynamic = inert(
  {
    'principal.builder.class': className(
      'org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder',
      'Makes the user of a connection.',
    ),

    // TLS
    'ssl.cipher.suites': list('', 'Ciphers that are offered.'),
    'ssl.client.auth': choice(
      'none',
      ['required', 'requested', 'none'],
      'Whether clients show a certificate.',
    ),
    'ssl.enabled.protocols': list('TLSv1.2,TLSv1.3', 'Versions of TLS.'),
    'ssl.endpoint.identification.algorithm': string('https', 'How a name is compared.'),
    'ssl.engine.factory.class': className('', 'Makes the engine.', unset),
    'ssl.key.password': password('Opens the key.'),
    'ssl.keymanager.algorithm': string('SunX509', 'How keys are managed.'),
    'ssl.keystore.certificate.chain': password('The certificates in PEM.'),
    'ssl.keystore.key': password('The key in PEM.'),
    'ssl.keystore.location': string('', 'The file of the key.', unset),
    'ssl.keystore.password': password('Opens that file.'),
    'ssl.keystore.type': string('JKS', 'Its format.'),
    'ssl.protocol': string('TLSv1.3', 'The version to begin with.'),
    'ssl.provider': string('', 'Who implements TLS.', unset),
    'ssl.secure.random.implementation': string('', 'Where randomness comes from.', unset),
    'ssl.trustmanager.algorithm': string('PKIX', 'How trust is managed.'),
    'ssl.truststore.certificates': password('The trusted certificates in PEM.'),
    'ssl.truststore.location': string('', 'The file of the trusted certificates.', unset),
    'ssl.truststore.password': password('Opens that file.'),
    'ssl.truststore.type': string('JKS', 'Its format.'),

    // SASL
    'sasl.enabled.mechanisms': list('GSSAPI', 'Mechanisms of a login.'),
    'sasl.jaas.config': password('What a login is made with.'),
    'sasl.kerberos.kinit.cmd': string('/usr/bin/kinit', 'The command of Kerberos.'),
    'sasl.kerberos.min.time.before.relogin': long(60_000, 'Pause between two logins.'),
    'sasl.kerberos.principal.to.local.rules': list('DEFAULT', 'How a principal becomes a user.'),
    'sasl.kerberos.service.name': string('', 'The name of the service.', unset),
    'sasl.kerberos.ticket.renew.jitter': double(0.05, 'What is random of the renewal.', {}),
    'sasl.kerberos.ticket.renew.window.factor': double(0.8, 'When a ticket is renewed.', {}),
    'sasl.login.refresh.buffer.seconds': short(300, 'Time before the end of a login.'),
    'sasl.login.refresh.min.period.seconds': short(60, 'Pause between two renewals.'),
    'sasl.login.refresh.window.factor': double(0.8, 'When a login is renewed.', {}),
    'sasl.login.refresh.window.jitter': double(0.05, 'What is random of that.', {}),
    'sasl.mechanism.inter.broker.protocol': string('GSSAPI', 'The mechanism between brokers.'),
  },
  true,
)

export const securityKeys = { ...fixed, ...dynamic }
