/**
 * Installs the strangers that judge seglog in the tests: kcat and strace from Debian, Apache
 * Kafka's own jars, and the quick clients of the matrix. Does nothing, within milliseconds, where
 * all is there. `npm test` calls it once before the tests run. What cannot be installed is one
 * error that says what to do.
 */
import { debian, fetchKafka, kafkaVersions } from './install.js'
import { quickClients } from './matrix/clients.js'

export { type KafkaVersion, kafkaJars, kafkaJarsOf, kafkaVersions } from './install.js'

/** Makes sure that every program and jar of the compatibility tests is there. */
export async function prepare(): Promise<void> {
  debian({ kcat: 'kcat', strace: 'strace', java: 'default-jre-headless' })
  for (const version of kafkaVersions) fetchKafka(version)
  for (const client of quickClients) client.install()
}
