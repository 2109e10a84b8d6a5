import type { OperationId } from '../../catalogue/operations.ts'
import { describeResponse } from './describe.ts'
import type { Credential, Exchange, Probe } from './exchange.ts'
import { isAccepting, refusing, wrongKeyIn, wrongRow } from './keys.ts'
import { pause } from './outcome.ts'
import { retryAfter } from './pace.ts'
import { forLiveness, livenessProbe } from './request.ts'
import { hasStatusOf, isThrottled } from './response.ts'
import type { Run } from './run.ts'
import { sendOnce } from './send.ts'

/** Consecutive refusals that prove a refused key; and the pause in ms before repeating after a 429. */
const questions = 3
const questionEveryMs = 1000
/** Consecutive wrong keys, among the last answers, that may cause a lock-out. */
const lockingRow = 8
/** A target with lock-outs gets a valid key before each group of this many wrong ones. */
const wrongInARow = 3

const isFew = ({ options, target }: Pick<Run, 'options' | 'target'>): boolean =>
  options.depth === 'quick' || target.limits.credentialProbes === 'few'

/** Sends a valid key between wrong ones, if the target should get few. */
export async function separateWrongKeys(run: Run, { credential }: Probe): Promise<void> {
  if (!isFew(run) || credential.full || credential.value === undefined || !run.keys.hasFull) return
  // Not urgent, unlike a liveness question: it queues behind waiting wrong keys.
  if (++run.findings.wrongKeys % wrongInARow === 0)
    await sendOnce(run, await livenessProbe(run), { ...forLiveness, role: 'setup' })
}

/**
 * After an unexpected refusal: if another operation that accepted the full key refuses it now, the run ends, since
 * nothing more can be learned and no requirement is to blame. A 429 is an ordinary limit, unless it follows a series of
 * wrong keys.
 */
export async function confirmKey(run: Run, { response, probe, purpose }: Exchange): Promise<void> {
  const { operation, credential } = probe
  const { log, looks } = run.findings
  const status = response?.status
  if (!response || !status || !refusing.includes(status) || operation === null) return
  // A wrong key must get a 401.
  if (credential.value === undefined || (status === 401 && !credential.full)) return
  const about = run.api.requirement(purpose.about ?? '')?.expects
  const asked = [purpose.expects, Array.isArray(about) ? about : undefined]
  if (asked.some((pairs) => hasStatusOf(pairs, response))) return
  if (status === 429 && !isAfterWrong(run)) return
  const other = operation === run.api.first ? run.api.reading : run.api.first
  if (!log.answers.some((one) => one.operation === other && isAccepting(one))) return
  const kind = `${operation} ${status}`
  const look = looks.get(kind) ?? askAgain(run, other, status)
  looks.set(kind, look)
  await look
  run.life.signal.throwIfAborted()
}

const askAt = async (run: Run, id: OperationId, credential?: Credential): Promise<Exchange> =>
  sendOnce(run, await livenessProbe(run, id, credential), forLiveness, { fresh: true })

const isAfterWrong = ({ findings: { log } }: Run): boolean => wrongRow(log) >= lockingRow

/** Ends the run if the operation also refuses the full key each time. */
async function askAgain(run: Run, id: OperationId, status: number): Promise<void> {
  let exchange = await askAt(run, id)
  for (let question = 1; question < questions && isRefused(exchange); question++) {
    if (exchange.response?.status === 429) await pause(run, questionEveryMs)
    exchange = await askAt(run, id)
  }
  if (!isRefused(exchange) || (await isQuota(run, id, exchange))) return
  const { method, path } = run.api.operation(id)
  const then = `${method} ${path} was answered ${describeResponse(exchange)}`
  const remedy = isFew(run)
    ? 'only a few were sent, so allow more for the key of the run'
    : 'declare credentialProbes: "few" in limits of the target file'
  run.life.end(
    'key',
    // An expired key gets a 401. By now the wrong keys that were under way have been answered as well.
    status !== 401 && isAfterWrong(run)
      ? `the target locks keys out after wrong ones: ${remedy} (the full key was accepted at first, and then ${then})`
      : `the full key was accepted at first, and is now refused (${then}): if it has expired, make keys.full a command that prints a fresh one`,
  )
}

const isRefused = ({ response }: Exchange): boolean =>
  response !== undefined && refusing.includes(response.status)

/** Whether all requests are limited, or this key with a Retry-After: a lock-out affects keys, also wrong ones. */
async function isQuota(run: Run, id: OperationId, { response }: Exchange): Promise<boolean> {
  if (response?.status !== 429) return false
  const isLimited = async (credential: Credential): Promise<boolean> => {
    const other = (await askAt(run, id, credential)).response
    return other === undefined || isThrottled(other)
  }
  if (await isLimited({ shown: '', full: false })) return true
  const wrong = wrongKeyIn(run.findings.log)
  const saysWhen = retryAfter(response, Date.now()) !== undefined
  return saysWhen && (wrong === undefined || !(await isLimited(wrong)))
}
