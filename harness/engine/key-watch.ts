import type { OperationId } from '../../catalogue/operations.ts'
import { describeResponse } from './describe.ts'
import type { Credential, Exchange, Probe } from './exchange.ts'
import { acceptedAt, isAccepting, refusing, wrongKeyIn, wrongRow } from './keys.ts'
import { forLiveness, livenessProbe } from './request.ts'
import { type HttpResponse, isThrottled, hasStatusOf } from './response.ts'
import type { Run } from './run.ts'
import { holdPlaces, sendOnce } from './send.ts'
import { longestPauseMs, retryAfter } from './pace.ts'
import { pause } from './outcome.ts'

/** A key is taken for refused after so many answers in a row that say so. */
const questions = 3
const questionEveryMs = 1000
/** So many wrong keys in a row, among the last answers, are what a lock-out follows on. */
const lockingRow = 8

/**
 * Wrong keys that get their turn before one that is right, to a target that locks keys out after wrong ones: with those that are on
 * their way at the same moment, ten in a row never arrive. A quick run has few requests to spare, and few wrong keys.
 */
const mostWrongInARow = { full: 3, quick: 5 }

/** Sends a right key between wrong ones, to a target that is to get few of these. */
export async function separateWrongKeys(run: Run, { credential }: Probe): Promise<void> {
  const { depth } = run.options
  const isFew = depth === 'quick' || run.target.limits.credentialProbes === 'few'
  if (!isFew || credential.full || credential.value === undefined || !run.keys.hasFull) return
  const { log, wrongKeys } = run.findings
  // Not urgent, as a question after the life of a target is: it goes behind the wrong ones that wait for their places.
  const inTurn = { ...forLiveness, role: 'setup' } as const
  const askInTurn = async () => sendOnce(run, await livenessProbe(run), inTurn)
  for (;;) {
    const accepted = acceptedAt(log)
    wrongKeys.sentAt = wrongKeys.sentAt.filter((at) => at >= accepted)
    if (wrongKeys.sentAt.length < mostWrongInARow[depth]) break
    await (wrongKeys.right ??= askInTurn().finally(() => {
      wrongKeys.right = undefined
      wrongKeys.sentAt = []
    }))
  }
  wrongKeys.sentAt.push(performance.now())
}

function lookOnce<T>({ findings }: Run, kind: string, look: () => Promise<T>): Promise<T> {
  const known = (findings.looks.get(kind) as Promise<T> | undefined) ?? look()
  findings.looks.set(kind, known)
  return known
}

async function askAt(run: Run, id: OperationId): Promise<Exchange> {
  return sendOnce(run, await livenessProbe(run, id), forLiveness, { fresh: true })
}

/**
 * After a refusal that nobody expects: if another operation, which has accepted the full key before, refuses it too, the key is
 * refused by now. That ends the run: nothing more can be learned, and no requirement is to blame. A 429 is a limit like others,
 * unless it follows on a row of wrong keys and locks out all keys of the account.
 */
export async function confirmKey(run: Run, { response, probe, purpose }: Exchange): Promise<void> {
  const { operation, credential } = probe
  const { log } = run.findings
  const status = response?.status
  if (!response || !status || !refusing.includes(status) || operation === null) return
  // To a wrong key a 401 is what is asked for.
  if (credential.value === undefined || (status === 401 && !credential.full)) return
  const about = run.api.requirement(purpose.about ?? '')?.expects
  const asked = [purpose.expects, Array.isArray(about) ? about : undefined]
  if (asked.some((pairs) => hasStatusOf(pairs, response))) return
  const isAfterWrong = wrongRow(log) >= lockingRow
  if (status === 429 && !isAfterWrong) return
  const other = operation === run.api.first ? run.api.reading : run.api.first
  if (!log.answers.some((one) => one.operation === other && isAccepting(one))) return
  // A key that has expired is refused by 401.
  const isLocked = status !== 401 && isAfterWrong
  await lookOnce(run, `${operation} ${status}`, () => askOther(run, other, isLocked))
  run.life.signal.throwIfAborted()
}

async function askOther(run: Run, id: OperationId, isLocked: boolean): Promise<void> {
  let exchange = await askAt(run, id)
  for (let question = 1; question < questions && isRefused(exchange); question++) {
    if (exchange.response?.status === 429) await pause(run, questionEveryMs)
    exchange = await askAt(run, id)
  }
  if (!isRefused(exchange)) return
  const { response } = exchange
  const { method, path } = run.api.operation(id)
  const why = `${method} ${path} was answered ${describeResponse(exchange)}`
  if (response?.status === 429) {
    const look = await lookOnce(run, 'lock-out', () => lookAtLockOut(run, id, response))
    if (look === 'no lock-out') return
    if (look === 'not over') return run.life.end('key', mayBeLocked(why))
  }
  run.life.end('key', isLocked ? await lockedOut(run, id, why) : refusedByNow(why))
}

const mayBeLocked = (why: string): string =>
  `the target takes no key any more (${why}): it locks keys out after wrong ones, then declare credentialProbes: "few" in limits of the target file; or a quota of these keys is used up`

function isRefused({ response }: Exchange): boolean {
  return response !== undefined && refusing.includes(response.status)
}

const noKey: Credential = { shown: '', full: false }

/** Most wrong keys in a row that are sent to see whether they lock the full key out. */
const mostOfTrial = 24
/** A lock-out or a window of a quota that asks for no wait is given so long to end, in ms. */
const longestLockMs = 60_000

/**
 * Whether a 429 to the full key follows on wrong ones. A lock-out limits whatever names the account, wrong keys too, and not requests
 * without a key: as does a quota of requests with a key. When it is over, a row of wrong keys brings the lock-out back, and as many
 * right ones do not. What is not over soon may be either.
 */
async function lookAtLockOut(
  run: Run,
  id: OperationId,
  response: HttpResponse,
): Promise<'lock-out' | 'no lock-out' | 'not over'> {
  const wrongKey = wrongKeyIn(run.findings.log)
  const askedMs = retryAfter(response, Date.now()) ?? 0
  if (!wrongKey || askedMs > longestPauseMs) return 'no lock-out'
  const withoutKey = await livenessProbe(run, id, noKey)
  const wrong = await livenessProbe(run, id, wrongKey)
  const full = await livenessProbe(run, id)
  // Nothing else is to come between them.
  return holdPlaces(run, run.client.semaphore.size, async (sendHeld) => {
    const isLimited = async (probe: Probe): Promise<boolean> => {
      const exchange = await sendHeld(probe, forLiveness, { fresh: true })
      return exchange.response === undefined || isThrottled(exchange.response)
    }
    const isOver = async (): Promise<boolean> => {
      await pause(run, askedMs)
      for (let waited = askedMs; await isLimited(full); waited += questionEveryMs) {
        if (waited >= longestLockMs) return false
        await pause(run, questionEveryMs)
      }
      return true
    }
    const limitedAfter = async (probe: Probe, most: number): Promise<number | undefined> => {
      for (let number = 1; number <= most; number++) if (await isLimited(probe)) return number
      return undefined
    }
    if ((await isLimited(withoutKey)) || !(await isLimited(wrong))) return 'no lock-out'
    if (!(await isOver())) return 'not over'
    const row = await limitedAfter(wrong, mostOfTrial)
    if (row === undefined) return 'no lock-out'
    if (!(await isOver())) return 'not over'
    return (await limitedAfter(full, row)) === undefined ? 'lock-out' : 'no lock-out'
  })
}

/** A target may lock out an account, or all that comes from an address. */
async function lockedOut(run: Run, id: OperationId, why: string): Promise<string> {
  const { options, target } = run
  const isFew = options.depth === 'quick' || target.limits.credentialProbes === 'few'
  const probe = await livenessProbe(run, id, noKey)
  const { response } = await sendOnce(run, probe, forLiveness, { fresh: true })
  const isAddress = response?.status === 403
  const remedy = isFew
    ? `few were sent already, so let it allow more ${isAddress ? 'from this address' : 'for the key of the run'}`
    : 'declare credentialProbes: "few" in limits of the target file'
  return `the target locks ${isAddress ? 'this address' : 'keys'} out after wrong ${isAddress ? 'keys' : 'ones'}: ${remedy} (the full key was accepted at first, and then ${why})`
}

const refusedByNow = (why: string): string =>
  `the full key was accepted at first, and is refused by now (${why}): if it has expired, let keys.full be a command that gives a fresh one; if the target locks keys after wrong ones, declare credentialProbes: "few" in limits`
