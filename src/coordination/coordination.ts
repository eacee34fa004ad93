/**
 * The coordination tree as the rest of the broker sees it: znodes with data and a version, as in
 * ZooKeeper. A write names the version that it expects, so that two writers never overwrite each
 * other unseen.
 *
 * `embedded.ts` keeps the tree in the process, for a broker that needs nothing else.
 */

export interface ZNode {
  data: Buffer
  /** Counts the writes to this znode, from 0. */
  version: number
}

export interface CreateOptions {
  /** Gone when the session that made it ends. */
  ephemeral?: boolean
}

export interface Coordination {
  /** How the ready line and the log call it. */
  readonly kind: 'embedded' | 'zookeeper'
  /** Makes a znode, and its parents where missing. Rejects with EXISTS. */
  create(path: string, data: Buffer, options?: CreateOptions): Promise<void>
  /** Undefined where there is none. */
  get(path: string): Promise<ZNode | undefined>
  /**
   * Resolves with the new version. Rejects with NOT_FOUND, or CONFLICT where `version` is not the
   * present one.
   */
  set(path: string, data: Buffer, version: number): Promise<number>
  /** Rejects with NOT_FOUND, or CONFLICT where `version` is not the present one. */
  delete(path: string, version: number): Promise<void>
  /** Names, sorted; empty where the parent does not exist. */
  children(path: string): Promise<string[]>
  close(): Promise<void>
}
