import { headerValue } from '../../harness/http/index.ts'
import { member } from '../../schemas/json.ts'
import type { RecordedEntry } from '../recorded-entry.ts'
import { isPlaceholder } from '../secrets.ts'
import type { ClientFault } from './finding.ts'
import type { SentRequest } from './request-faults.ts'
import type { Awaited, Call } from './retries.ts'

/**
 * The times of a call, by a proxy's clock if there is one; NaN, which is neither sooner nor later, if nobody noted them. A recorder
 * rounds to ms: what seems to begin before the end may be after it.
 */
export function timesOf({ durationMs, startedAt = NaN, witnessed }: RecordedEntry) {
  if (!witnessed) {
    const endedAt = startedAt + Math.max(0, durationMs - 1)
    return { sentAt: startedAt, endedAt, atProxy: undefined, connectionOpenedAt: undefined }
  }
  const { answeredAt: endedAt, connectionOpenedAt, n: atProxy, sentAt } = witnessed
  return { sentAt, endedAt, atProxy, connectionOpenedAt }
}

/** Refusals that the same request meets again. */
const ofRequest = [400, 413, 422]

/** Why that call may come again; undefined if there is nothing to see in it. */
export function awaitedAs(
  { operation, status }: Call,
  isAborted: boolean,
): Awaited['kind'] | undefined {
  if (operation === null) return undefined
  if (status === 0) return isAborted ? undefined : 'lost'
  if (status === 429 || status >= 500) return 'pause'
  if (status === 409 && operation === 'jobs.create') return 'conflict'
  return ofRequest.includes(status) ? 'refused' : undefined
}

export function textOf(value: unknown, name: string): string | undefined {
  const text = member(value, name)
  return typeof text === 'string' ? text : undefined
}

/** Rules about headers. */
const ofHeaders = ['authorization', 'content-type', 'content-disposition', 'no-attachment']

/** Whether the entry shows it: recorders leave out headers, and keys. */
export function isKnown(
  fault: ClientFault,
  { requestHeaders, witnessed }: RecordedEntry,
  hasKeys: boolean,
): boolean {
  if (witnessed || !ofHeaders.includes(fault.rule)) return true
  if (requestHeaders.length === 0) return false
  if (fault.rule !== 'authorization') return true
  const credential = headerValue(requestHeaders, 'authorization')
  return credential === undefined ? hasKeys : !isPlaceholder(credential)
}

export function requestOf(entry: RecordedEntry, path: string): SentRequest {
  const { method, requestBody, requestHeaders, status, url } = entry
  const query = new URL(url).searchParams
  return {
    method,
    path,
    query,
    requestHeaders,
    requestBody,
    isGranted: status >= 200 && status < 300,
  }
}
