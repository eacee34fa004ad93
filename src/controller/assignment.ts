/**
 * Which brokers hold the replicas of each partition: pure. Leaders go round the brokers from
 * `start`, and the further replicas follow at a shift that grows with each round, so that the load
 * of a broker that fails spreads over all others. (The rule of Kafka's AdminUtils without racks.)
 */
export function assignReplicas(
  brokerIds: readonly number[],
  partitionCount: number,
  replicationFactor: number,
  start: number,
): number[][] {
  const brokers = [...brokerIds].sort((a, b) => a - b)
  return Array.from({ length: partitionCount }, (_, partition) => {
    const first = (partition + start) % brokers.length
    const round = Math.floor(partition / brokers.length)
    return Array.from({ length: replicationFactor }, (_, replica) => {
      if (replica === 0) return brokers[first]!
      const shift = 1 + ((start + round + replica - 1) % (brokers.length - 1))
      return brokers[(first + shift) % brokers.length]!
    })
  })
}
