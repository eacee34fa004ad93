/**
 * The two phases of a rebalance and the sessions of members, as Kafka has them. In the first phase
 * every member joins again; in the second the leader sends the assignment. Both end early when the
 * last one has come, and late by the longest rebalance timeout of the members: who has not joined
 * by then is dropped (a static member stays, KIP-345), who has not sent a sync is dropped and a new
 * rebalance begins. Everything happens at once, with no await, in the call or timer that brings it
 * about.
 */
import type { Env } from '../env.js'
import { KafkaError } from '../errors.js'
import type { Group } from './group.js'
import { type Member, syncError } from './member.js'

/**
 * How long the first join of a member may be parked: one that went away is not waited for longer.
 */
const newMemberJoinTimeoutMs = 5 * 60_000

export class Rebalance {
  readonly #env: Env
  readonly #initialDelayMs: number

  readonly #keep: (group: Group) => Promise<void>

  /**
   * `keep` is called for each group that has become stable or empty, or changed while stable, and
   * resolves when that is written down or cannot be.
   */
  constructor(env: Env, initialDelayMs: number, keep: (group: Group) => Promise<void>) {
    this.#env = env
    this.#initialDelayMs = initialDelayMs
    this.#keep = keep
  }

  /** A group that stays stable has changed. */
  changed(group: Group) {
    void this.#keep(group)
  }

  /** Takes a new member in. REQUIRES: its join is parked. */
  add(group: Group, member: Member) {
    if (group.state === 'PreparingRebalance' && group.generationId === 0) {
      group.newMemberAdded = true
    }
    this.touch(group, member, newMemberJoinTimeoutMs)
    this.prepare(group)
  }

  /** Begins a session anew: a sign of life. */
  touch(group: Group, member: Member, timeoutMs = member.sessionTimeoutMs) {
    member.session?.cancel()
    member.session = this.#env.after(timeoutMs, () => {
      member.session = undefined
      const waits = member.join !== undefined || member.sync !== undefined
      // While it waits for us it cannot send heartbeats. The session begins again with the answer.
      if (!waits || member.isNew) this.remove(group, member.id)
    })
  }

  /** Gives out an id that is forgotten unless a join with it comes in time. */
  expect(group: Group, memberId: string, timeoutMs: number) {
    const timer = this.#env.after(timeoutMs, () => this.remove(group, memberId))
    group.pending.set(memberId, timer)
  }

  /** Takes a member or a pending one out; the others share its work anew. */
  remove(group: Group, memberId: string) {
    const isMember = group.members.has(memberId)
    group.remove(memberId)
    if (group.state === 'PreparingRebalance') this.tryCompleteJoin(group)
    else if (isMember) this.prepare(group)
  }

  /** Begins a rebalance unless one has begun already. */
  prepare(group: Group) {
    if (group.state === 'PreparingRebalance' || group.state === 'Dead') return
    if (group.state === 'CompletingRebalance') {
      for (const member of group.members.values()) member.assign(undefined)
    }
    this.#answerSyncs(group, () => syncError(KafkaError.REBALANCE_IN_PROGRESS))
    group.pendingSync.clear()
    group.collecting = group.state === 'Empty'
    group.transitionTo('PreparingRebalance', this.#env.now())
    if (group.collecting) {
      group.newMemberAdded = false
      const restMs = Math.max(group.rebalanceTimeoutMs - this.#initialDelayMs, 0)
      this.#collect(group, this.#initialDelayMs, restMs)
    } else {
      this.#awaitJoins(group)
      this.tryCompleteJoin(group)
    }
  }

  /** Ends the first phase when everybody has joined. */
  tryCompleteJoin(group: Group) {
    if (group.state !== 'PreparingRebalance' || group.collecting || !group.allJoined) return
    this.#completeJoin(group)
  }

  /** A member of this generation has sent its sync. */
  synced(group: Group, memberId: string) {
    group.pendingSync.delete(memberId)
    if (group.pendingSync.size === 0) this.#setTimer(group, undefined)
  }

  /** The leader has sent the assignment: everybody gets its part, the left out ones zero bytes. */
  assign(group: Group, assignments: readonly { memberId: string; assignment: Uint8Array }[]) {
    const byMember = new Map(assignments.map((entry) => [entry.memberId, entry.assignment]))
    for (const member of group.members.values()) member.assign(byMember.get(member.id))
    group.transitionTo('Stable', this.#env.now())
    const { generationId } = group
    // An assignment that was given out must be known after a restart.
    void this.#keep(group).then(() => {
      if (group.state !== 'Stable' || group.generationId !== generationId) return
      this.#answerSyncs(group, ({ assignment }) => ({
        errorCode: KafkaError.NONE,
        protocolType: group.protocolType,
        protocolName: group.protocolName,
        assignment,
      }))
    })
  }

  /**
   * Collects joins for the first generation: as long as new members come, up to the rebalance
   * timeout.
   */
  #collect(group: Group, delayMs: number, restMs: number) {
    const end = () => {
      if (group.newMemberAdded && restMs > 0) {
        group.newMemberAdded = false
        const nextMs = Math.min(this.#initialDelayMs, restMs)
        this.#collect(group, nextMs, restMs - nextMs)
      } else {
        this.#completeJoin(group)
      }
    }
    if (delayMs === 0) end()
    else this.#setTimer(group, delayMs, end)
  }

  #awaitJoins(group: Group) {
    this.#setTimer(group, group.rebalanceTimeoutMs, () => this.#completeJoin(group))
  }

  #completeJoin(group: Group) {
    group.collecting = false
    for (const member of [...group.members.values()]) {
      if (member.join === undefined && member.instanceId === null) group.remove(member.id)
    }
    if (group.members.size > 0 && !group.electJoinedLeader()) {
      // Static members alone, all away: their sessions will tell.
      this.#awaitJoins(group)
      return
    }
    group.generationId++
    if (group.members.size === 0) {
      group.protocolName = null
      this.#setTimer(group, undefined)
      group.transitionTo('Empty', this.#env.now())
      void this.#keep(group)
      return
    }
    group.protocolName = group.selectProtocol()
    group.transitionTo('CompletingRebalance', this.#env.now())
    for (const member of group.members.values()) {
      group.answerJoin(member, group.joined(member))
      this.touch(group, member)
      member.isNew = false
      group.pendingSync.add(member.id)
    }
    this.#setTimer(group, group.rebalanceTimeoutMs, () => this.#dropUnsynced(group))
  }

  #dropUnsynced(group: Group) {
    if (group.pendingSync.size === 0) return
    for (const memberId of [...group.pendingSync]) group.remove(memberId)
    this.prepare(group)
  }

  #answerSyncs(group: Group, answer: (member: Member) => ReturnType<typeof syncError>) {
    for (const member of group.members.values()) {
      if (group.answerSync(member, answer(member))) this.touch(group, member)
    }
  }

  #setTimer(group: Group, timeoutMs: number | undefined, callback: () => void = () => {}) {
    group.phaseTimer?.cancel()
    group.phaseTimer = timeoutMs === undefined ? undefined : this.#env.after(timeoutMs, callback)
  }
}
