/**
 * Where this broker answers otherwise than Apache Kafka 4.3.1, and means to; docs/protocol.md is
 * made from it. What is not listed is a fault.
 */

/** What Kafka's clients and tools ask for and this broker does not serve, with the reason. */
export const LEFT_OUT: readonly (readonly [what: string, why: string])[] = [
  [
    'AddPartitionsToTxn, AddOffsetsToTxn, EndTxn, TxnOffsetCommit, WriteTxnMarkers (24 to 28), ' +
      'DescribeTransactions, ListTransactions (65, 66)',
    'there are no transactions yet; InitProducerId gives a transactional id its producer id and ' +
      'epoch, and a transactional batch is refused with 53',
  ],
  [
    'Groups of the newer protocols: consumer (68, 69), share (76 to 79, 83 to 87, 90 to 92), ' +
      'streams (88, 89)',
    'the classic protocol serves every client; ApiVersions names no feature that would promise ' +
      'them',
  ],
  ['ACLs (29 to 31), SASL (17, 36), SCRAM (50, 51), delegation tokens (38 to 41)', 'PLAINTEXT'],
  [
    'DescribeQuorum, UpdateFeatures, UnregisterBroker, ListConfigResources, AddRaftVoter, ' +
      'RemoveRaftVoter (55, 57, 64, 74, 80, 81)',
    'there is no KRaft here',
  ],
  ['GetTelemetrySubscriptions, PushTelemetry (71, 72)', 'Kafka offers them with a plugin alone'],
  ['Traffic between brokers (4 to 7, 52 to 54, 56, 58, 59, 62, 63, 67, 70, 73, 82)', 'one broker'],
]

/** Answers that differ, with the reason. */
export const DIFFERENCES: readonly (readonly [what: string, why: string])[] = [
  [
    'Texts of errors',
    'they say the same in other words; in Produce there is one also where Kafka sends none',
  ],
  [
    'Older versions: Fetch from 0, ListOffsets from 0, OffsetCommit and OffsetFetch from 0, ' +
      'CreateTopics, DeleteTopics, DescribeConfigs, AlterReplicaLogDirs, DescribeLogDirs, ' +
      'OffsetForLeaderEpoch from 0; Produce 0 to 2 work',
    'clients of before Kafka 2.1 are served, as by 3.6.2; 4.x has dropped them',
  ],
  [
    'ApiVersions: no feature, supported or finalized; no API of those left out',
    'each one promises a part that there is none of',
  ],
  [
    'Fetch 0 to 3: messages alone',
    'Kafka adds a part of a message to fill the size that it has promised',
  ],
  ['DescribeConfigs 0 tells what is a default', '3.6.2 calls nothing so there, whatever it is'],
  [
    'Metadata with auto-creation answers with the topic',
    'Kafka says 3 first and makes the topic meanwhile; here it is served by then, so that the ' +
      'first produce finds it',
  ],
  [
    'What a request names twice is answered once in DescribeGroups, OffsetFetch and ' +
      'DescribeConfigs',
    'the answer is larger than the name, and a small request would ask for gigabytes',
  ],
  [
    'AlterConfigs with a resource twice: 42; Produce with null records: 87; JoinGroup 0 to 3 ' +
      'with a protocol twice: as once',
    'Kafka never answers these',
  ],
  [
    'Fetch outside of a session that names session 2^31 - 1: as without it',
    'Kafka fails with -1, having no place for sessions of so high a number',
  ],
  [
    'Produce: a producer id without an epoch: 87; a batch marked with LogAppendTime: 32',
    'Kafka accepts them; they are signs of a broken client',
  ],
  [
    'Produce: compressed records that begin as their codec says and break later are accepted, ' +
      'but on compacted topics',
    'batches are not decompressed on the way in; who reads them gets an error',
  ],
  [
    'OffsetCommit of an offset of 2^63 - 1: 1',
    'no log goes beyond 2^53 - 1, and nothing else would be kept exactly',
  ],
  [
    'DescribeProducers: last timestamp is the time of the append',
    'it is what the age of a producer is counted from',
  ],
  [
    'DescribeConfigs: texts in own words; the keys of ZooKeeper, log and metrics beside those of ' +
      'Kafka; ' +
      'other defaults of places, replicas, delays and queues; no roles and controllers; ' +
      'listeners and their map of protocols cannot be changed while the broker runs',
    'docs/configuration.md has all keys',
  ],
  [
    'DescribeConfigs of a group or a subscription of client metrics: the defaults; where they ' +
      'are altered: 40 and 42',
    'there are no groups of the newer protocols, and nobody reads metrics of clients',
  ],
  [
    'DescribeConfigs of the loggers of a broker: none, and to change one: 40',
    'the log of this broker has no parts with a level of their own',
  ],
  [
    'DescribeLogDirs: other sizes of __consumer_offsets',
    'its records are written as by 3.6.2, which can read no later ones',
  ],
  [
    'min.insync.replicas comes from the defaults',
    'KRaft sets it for the whole cluster, and so names it as a dynamic value',
  ],
  ['AlterClientQuotas: 42', 'quotas are not enforced, and one that does not hold would mislead'],
  ['AlterReplicaLogDirs to another directory of the broker: 42', 'partitions are not moved yet'],
  ['FindCoordinator of share groups: 42', 'they are not served'],
  [
    'JoinGroup, OffsetCommit, OffsetFetch and DeleteGroups with members of a consumer or share ' +
      'group: as of an unknown group or member',
    'there are no groups of that protocol',
  ],
  [
    'ListOffsets by the largest timestamp (-3) finds no record below the start of the log',
    'Kafka tells one that a fetch does not get',
  ],
  [
    '__transaction_state is made only when a client asks for it, __share_group_state never',
    'nothing is kept in them',
  ],
]
