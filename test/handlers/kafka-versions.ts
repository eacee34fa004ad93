/**
 * The versions that brokers of Apache Kafka named themselves when they were asked for ApiVersions
 * 0, as they come out of the box: 4.3.1 (KRaft), and 3.6.2, the last line with ZooKeeper.
 */

export type Range = readonly [min: number, max: number]

export interface KafkaVersions {
  key: number
  name: string
  /** Undefined where the release does not offer the API. */
  present: Range | undefined
  old: Range | undefined
}

/** Key, name, 4.3.1, 3.6.2. */
const ANSWERS = `
0 Produce 0-13 0-9
1 Fetch 4-18 0-15
2 ListOffsets 1-11 0-8
3 Metadata 0-13 0-12
4 LeaderAndIsr none 0-7
5 StopReplica none 0-4
6 UpdateMetadata none 0-8
7 ControlledShutdown none 0-3
8 OffsetCommit 2-10 0-8
9 OffsetFetch 1-10 0-8
10 FindCoordinator 0-6 0-4
11 JoinGroup 0-9 0-9
12 Heartbeat 0-4 0-4
13 LeaveGroup 0-5 0-5
14 SyncGroup 0-5 0-5
15 DescribeGroups 0-6 0-5
16 ListGroups 0-5 0-4
17 SaslHandshake 0-1 0-1
18 ApiVersions 0-4 0-3
19 CreateTopics 2-7 0-7
20 DeleteTopics 1-6 0-6
21 DeleteRecords 0-2 0-2
22 InitProducerId 0-5 0-4
23 OffsetForLeaderEpoch 2-4 0-4
24 AddPartitionsToTxn 0-5 0-4
25 AddOffsetsToTxn 0-4 0-3
26 EndTxn 0-5 0-3
27 WriteTxnMarkers 1-2 0-1
28 TxnOffsetCommit 0-5 0-3
29 DescribeAcls 1-3 0-3
30 CreateAcls 1-3 0-3
31 DeleteAcls 1-3 0-3
32 DescribeConfigs 1-4 0-4
33 AlterConfigs 0-2 0-2
34 AlterReplicaLogDirs 1-2 0-2
35 DescribeLogDirs 1-5 0-4
36 SaslAuthenticate 0-2 0-2
37 CreatePartitions 0-3 0-3
38 CreateDelegationToken 1-3 0-3
39 RenewDelegationToken 1-2 0-2
40 ExpireDelegationToken 1-2 0-2
41 DescribeDelegationToken 1-3 0-3
42 DeleteGroups 0-2 0-2
43 ElectLeaders 0-2 0-2
44 IncrementalAlterConfigs 0-1 0-1
45 AlterPartitionReassignments 0-1 0-0
46 ListPartitionReassignments 0-0 0-0
47 OffsetDelete 0-0 0-0
48 DescribeClientQuotas 0-1 0-1
49 AlterClientQuotas 0-1 0-1
50 DescribeUserScramCredentials 0-0 0-0
51 AlterUserScramCredentials 0-0 0-0
55 DescribeQuorum 0-2 none
56 AlterPartition none 0-3
57 UpdateFeatures 0-2 0-1
58 Envelope none 0-0
60 DescribeCluster 0-2 0-0
61 DescribeProducers 0-0 0-0
64 UnregisterBroker 0-0 none
65 DescribeTransactions 0-0 0-0
66 ListTransactions 0-2 0-0
67 AllocateProducerIds none 0-0
68 ConsumerGroupHeartbeat 0-1 none
69 ConsumerGroupDescribe 0-1 none
74 ListConfigResources 0-1 none
75 DescribeTopicPartitions 0-0 none
76 ShareGroupHeartbeat 1-1 none
77 ShareGroupDescribe 1-1 none
78 ShareFetch 1-2 none
79 ShareAcknowledge 1-2 none
80 AddRaftVoter 0-1 none
81 RemoveRaftVoter 0-0 none
83 InitializeShareGroupState 0-0 none
84 ReadShareGroupState 0-0 none
85 WriteShareGroupState 0-1 none
86 DeleteShareGroupState 0-0 none
87 ReadShareGroupStateSummary 0-1 none
88 StreamsGroupHeartbeat 0-0 none
89 StreamsGroupDescribe 0-0 none
90 DescribeShareGroupOffsets 0-1 none
91 AlterShareGroupOffsets 0-0 none
92 DeleteShareGroupOffsets 0-0 none
`

function rangeOf(text: string | undefined): Range | undefined {
  const [min, max] = (text ?? 'none').split('-').map(Number)
  return min === undefined || max === undefined ? undefined : [min, max]
}

export const kafkaVersions: readonly KafkaVersions[] = ANSWERS.trim()
  .split('\n')
  .map((line) => {
    const [key, name = '', present, old] = line.split(' ')
    return { key: Number(key), name, present: rangeOf(present), old: rangeOf(old) }
  })
