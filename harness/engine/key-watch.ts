import type { OperationId } from '../../catalogue/operations.ts'
import { describeResponse } from './describe.ts'
import type { Credential, Exchange, Probe } from './exchange.ts'
import { refusing } from './key-record.ts'
import { forLiveness, livenessProbe, operationProbe } from './request.ts'
import { isThrottled } from './response.ts'
import { hasStatusOf } from './pairs.ts'
import type { Run } from './run.ts'
import { sendOnce } from './send.ts'
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
  const isFew = run.options.depth === 'quick' || run.target.limits.credentialProbes === 'few'
  if (!isFew || credential.full || credential.value === undefined || !run.keys.hasFull) return
  // Not urgent, as a question after the life of a target is: it goes behind the wrong ones that wait for their places.
  const inTurn = { ...forLiveness, role: 'setup' } as const
  await run.client.keyWatch.waitForTurn(mostWrongInARow[run.options.depth], async () =>
    sendOnce(run, await livenessProbe(run), inTurn),
  )
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
  const { keyWatch } = run.client
  const status = response?.status
  if (!response || !status || !refusing.includes(status) || operation === null) return
  // To a wrong key a 401 is what is asked for.
  if (credential.value === undefined || (status === 401 && !credential.full)) return
  const about = run.api.requirement(purpose.about ?? '')?.expects
  const asked = [purpose.expects, Array.isArray(about) ? about : undefined]
  if (asked.some((pairs) => hasStatusOf(pairs, response))) return
  if (status === 429 && keyWatch.wrongRow < lockingRow) return
  const other = operation === run.api.first ? run.api.reading : run.api.first
  if (!keyWatch.accepting.has(other)) return
  // A key that has expired is refused by 401.
  const isLocked = status !== 401 && keyWatch.wrongRow >= lockingRow
  await keyWatch.lookOnce(`${operation} ${status}`, () => askOther(run, other, isLocked))
  run.life.signal.throwIfAborted()
}

async function askOther(run: Run, id: OperationId, isLocked: boolean): Promise<void> {
  let exchange = await askAt(run, id)
  for (let question = 1; question < questions && isRefused(exchange); question++) {
    if (exchange.response?.status === 429) await pause(run, questionEveryMs)
    exchange = await askAt(run, id)
  }
  if (!isRefused(exchange)) return
  if (exchange.response?.status === 429 && !(await isLockOut(run, id))) return
  const { method, path } = run.api.operation(id)
  const why = `${method} ${path} was answered ${describeResponse(exchange)}`
  run.life.end('key', isLocked ? lockedOut(run, why) : refusedByNow(why))
}

function isRefused({ response }: Exchange): boolean {
  return response !== undefined && refusing.includes(response.status)
}

/**
 * A lock-out limits whatever names the account, wrong keys too, and not requests without a key. A quota of the key limits that key
 * alone, and any other limit what has no key as well.
 */
async function isLockOut(run: Run, id: OperationId): Promise<boolean> {
  const { wrongKey } = run.client.keyWatch
  if (!wrongKey) return false
  const isLimited = async (credential: Credential): Promise<boolean> => {
    const { params } = await livenessProbe(run, id)
    const probe = await operationProbe(run, id, { params, credential })
    const { response } = await sendOnce(run, probe, forLiveness, { fresh: true })
    return response === undefined || isThrottled(response)
  }
  return !(await isLimited({ shown: '', full: false })) && isLimited(wrongKey)
}

function lockedOut({ options, target }: Run, why: string): string {
  const isFew = options.depth === 'quick' || target.limits.credentialProbes === 'few'
  const remedy = isFew
    ? 'few were sent already, so let it allow more for the key of the run'
    : 'declare credentialProbes: "few" in limits of the target file'
  return `the target locks keys out after wrong ones: ${remedy} (the full key was accepted at first, and then ${why})`
}

const refusedByNow = (why: string): string =>
  `the full key was accepted at first, and is refused by now (${why}): if it has expired, let keys.full be a command that gives a fresh one; if the target locks keys after wrong ones, declare credentialProbes: "few" in limits`
