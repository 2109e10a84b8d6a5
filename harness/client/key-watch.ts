import { findRequirement } from '../../catalogue/catalogue.ts'
import {
  type OperationId,
  firstOperation,
  readingOperation,
  operation as operationOf,
} from '../../catalogue/operations.ts'
import {
  describeResponse,
  type Credential,
  type Exchange,
  type Ask,
  type Probe,
  hasStatusOf,
  isThrottled,
} from '../journal/index.ts'
import { isAccepting, refusing, wrongKeyIn, wrongRow } from './keys.ts'
import { pause } from './outcome.ts'
import { retryAfter } from './pace.ts'
import { forLiveness, livenessProbe } from './request.ts'
import type { State } from './state.ts'

/** Consecutive refusals that prove a refused key; and the pause in ms before repeating after a 429. */
const questions = 3
const questionEveryMs = 1000
/** Consecutive wrong keys, among the last answers, that may cause a lock-out. */
const lockingRow = 8
/** A target with lock-outs gets a valid key before each group of this many wrong ones. */
const wrongInARow = 3

type Send = (ask: Ask) => Promise<Exchange>

export class KeyWatch {
  readonly #run: Pick<State, 'journal' | 'keys' | 'life' | 'target'>
  readonly #send: Send
  readonly #isFew: boolean
  #wrongKeys = 0
  /** Checks after a refusal of the full key, one per kind. */
  readonly #looks = new Map<string, Promise<void>>()

  constructor(run: Pick<State, 'journal' | 'keys' | 'life' | 'options' | 'target'>, send: Send) {
    this.#run = run
    this.#send = send
    this.#isFew = run.options.depth === 'quick' || run.target.limits.credentialProbes === 'few'
  }

  async separate(probe: Probe): Promise<void> {
    const isWrong = !probe.credential.full && probe.credential.value !== undefined
    if (!this.#isFew || !isWrong || !this.#run.keys.hasFull) return
    // Not urgent, unlike a liveness question: it queues behind waiting wrong keys.
    if (++this.#wrongKeys % wrongInARow === 0)
      await this.#send({
        source: await livenessProbe(this.#run),
        purpose: { ...forLiveness, role: 'setup' },
      })
  }

  /**
   * After an unexpected refusal: if another operation that accepted the full key refuses it now, the run ends, since
   * nothing more can be learned and no requirement is to blame. A 429 is an ordinary limit, unless it follows a series
   * of wrong keys.
   */
  async confirm({ response, probe, purpose }: Exchange): Promise<void> {
    const { journal, life } = this.#run
    const { operation, credential } = probe
    const status = response?.status
    if (!response || !status || !refusing.includes(status) || operation === null) return
    // A wrong key must get a 401.
    if (credential.value === undefined || (status === 401 && !credential.full)) return
    const about = findRequirement(purpose.about ?? '')?.expects
    const asked = [purpose.expects, Array.isArray(about) ? about : undefined]
    if (asked.some((pairs) => hasStatusOf(pairs, response))) return
    if (status === 429 && !this.#isAfterWrong()) return
    const other = operation === firstOperation ? readingOperation : firstOperation
    if (!journal.answers.some((one) => one.operation === other && isAccepting(one))) return
    const kind = `${operation} ${status}`
    const look = this.#looks.get(kind) ?? this.#askAgain(other, status)
    this.#looks.set(kind, look)
    await look
    life.signal.throwIfAborted()
  }

  /** Ends the run if the operation also refuses the full key each time. */
  async #askAgain(id: OperationId, status: number): Promise<void> {
    const { life } = this.#run
    let exchange = await this.#ask(id)
    for (let question = 1; question < questions && isRefused(exchange); question++) {
      if (exchange.response?.status === 429) await pause(this.#run, questionEveryMs)
      exchange = await this.#ask(id)
    }
    if (!isRefused(exchange) || (await this.#isQuota(id, exchange))) return
    const { method, path } = operationOf(id)
    const then = `${method} ${path} got ${describeResponse(exchange)}`
    const remedy = this.#isFew
      ? 'only a few were sent, so allow more for the key of the run'
      : 'declare credentialProbes: "few" in limits of the target file'
    life.end(
      'key',
      // An expired key gets a 401. By now the wrong keys that were under way have been answered as well.
      status !== 401 && this.#isAfterWrong()
        ? `the target locks keys out after wrong ones: ${remedy} (the full key was accepted at first, and then ${then})`
        : `the full key was accepted at first, and is now refused (${then}): if it has expired, make keys.full a command that prints a fresh one`,
    )
  }

  #isAfterWrong(): boolean {
    return wrongRow(this.#run.journal) >= lockingRow
  }

  async #ask(id: OperationId, credential?: Credential): Promise<Exchange> {
    const probe = await livenessProbe(this.#run, id, credential)
    return this.#send({ source: probe, purpose: forLiveness, fresh: true })
  }

  /** Whether all requests are limited, or this key with a Retry-After: a lock-out affects keys, also wrong ones. */
  async #isQuota(id: OperationId, exchange: Exchange): Promise<boolean> {
    if (exchange.response?.status !== 429) return false
    const isLimited = async (credential: Credential): Promise<boolean> => {
      const other = (await this.#ask(id, credential)).response
      return other === undefined || isThrottled(other)
    }
    if (await isLimited({ shown: '', full: false })) return true
    const wrong = wrongKeyIn(this.#run.journal)
    const saysWhen = retryAfter(exchange.response, Date.now()) !== undefined
    return saysWhen && (wrong === undefined || !(await isLimited(wrong)))
  }
}

const isRefused = (exchange: Exchange): boolean =>
  exchange.response !== undefined && refusing.includes(exchange.response.status)
