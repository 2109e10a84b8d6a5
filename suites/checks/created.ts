import { setImmediate } from 'node:timers/promises'
import { refusalOfExisting } from '../../catalogue/catalogue.ts'
import { operationOf, uploadOperation } from '../../catalogue/operations.ts'
import { allEnded, type Client, type Given, operationProbe } from '../../harness/client/index.ts'
import {
  createdId,
  describeResponse,
  type Exchange,
  isOpen,
  isThrottling,
  type Left,
  type Open,
  type Probe,
  wasAnswered,
  open,
} from '../../harness/journal/index.ts'
import { absentReason, leftOut } from '../../harness/report/index.ts'
import { send, perRun } from '../../harness/run/index.ts'
import type { UploadContent } from '../../harness/target/index.ts'

export const sharedBy = perRun(() => ({
  made: new Map<string, Promise<unknown>>(),
  /** Member faults that crashed the server, for any requirement: they are bad input, too. */
  crashes: new Map<Exchange, string>(),
  /** Ids of objects that were made to be destroyed. */
  doomed: new Set<string>(),
  /** How many generations bad input may still cause in this run, and how many cases wait because that is too few. */
  generated: { allowance: undefined as { left: number } | undefined, waiting: 0 },
}))

export function once<T>(client: Client, name: string, make: () => Promise<T>): Promise<T> {
  const { made } = sharedBy(client)
  const known = made.get(name)
  if (known) return known as Promise<T>
  const promise = make()
  promise.catch(() => undefined)
  made.set(name, promise)
  return promise
}

const turns = perRun(() => ({ last: Promise.resolve() as Promise<unknown> }))

/**
 * Waits for a turn of the event loop of its own. All requirements of an operation make their cases as soon as its control
 * is answered, which takes long enough to delay answers that are urgent, such as those about jobs.
 */
export async function ownTurn(client: Client): Promise<void> {
  const all = turns(client)
  all.last = all.last.then(() => setImmediate())
  await all.last
}

/** The ids of uploads of the run that a request names. */
export function uploadsIn(given: Given, probe: Probe): string {
  const text = typeof probe.body === 'string' ? probe.body : ''
  const named = Object.values(probe.params)
  const isNamed = (id: string): boolean => named.includes(id) || text.includes(id)
  const uploads = given.objects.created.filter((one) => one.operation === uploadOperation)
  return uploads.flatMap((one) => (isNamed(one.id) ? one.id : [])).join(' ')
}

/** What to raise if a refusal may only mean that a new file is not usable yet. */
export function settlingRemark(given: Given, exchange: Exchange): string {
  const { operation } = exchange.probe
  const { status = 0 } = exchange.response ?? {}
  // Such an answer shows that the file exists.
  const isThere = operation !== null && refusalOfExisting(operation).some(([of]) => of === status)
  if (isThere || ![404, 409, 425].includes(status) || uploadsIn(given, exchange.probe) === '')
    return ''
  return `; raise limits.settleMs if uploads need more than ${given.target.limits.settleMs} ms`
}

export function namedId(given: Given, creation: Exchange | Open): string | Open {
  if (isOpen(creation)) return creation
  const id = createdId(given, creation)
  if (id !== undefined) return id
  const place = `operations.${creation.probe.operation}.fields.id`
  return open(`the answer has no usable id at ${place}: ${describeResponse(creation)}`)
}

export function noteCreated(given: Given, exchange: Exchange): void {
  const { operation, creates } = exchange.probe
  if (operation === null || !operationOf(operation).creates) return
  const id = createdId(given, exchange)
  // A server may answer with what it has already: what is declared was not made, and is not removed.
  if (id === undefined || given.target.ids.has(id.toLowerCase())) return
  given.objects.takenIds.add(id.toLowerCase())
  // Only the first time: a server with one id for all uploads would be waited for without end.
  const { madeAt } = given.objects
  if (!madeAt.has(id)) madeAt.set(id, exchange.endedAt)
  given.objects.created.push({ operation, id, ...(creates === undefined ? {} : { name: creates }) })
}

export function freshFilename(given: Given, filename: string): string {
  const dot = filename.lastIndexOf('.')
  const at = dot > 0 ? dot : filename.length
  return `${filename.slice(0, at)}-${given.objects.suffix()}${filename.slice(at)}`
}

/** Header values are ASCII: other names are added in RFC 8187 encoding. */
function attachmentOf(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]/g, '_').replaceAll(/["\\]/g, '\\$&')
  const ascii = /^[\x20-\x7e]*$/.test(name)
  return `attachment; filename="${plain}"${ascii ? '' : `; filename*=UTF-8''${encodeURIComponent(name)}`}`
}

/** An upload (§2.8): raw bytes, media type, and the file name as an attachment. */
export async function uploadProbe(
  given: Given,
  file: UploadContent,
  name = freshFilename(given, file.filename),
): Promise<Probe> {
  const probe = await operationProbe(given, uploadOperation, {
    headers: [
      { name: 'content-type', value: file.contentType },
      { name: 'content-disposition', value: attachmentOf(name) },
    ],
    effect: 'creates',
  })
  return { ...probe, body: file.bytes, creates: name }
}

export const retrieval = (given: Given, id: string): Promise<Probe> =>
  operationProbe(given, 'files.retrieve', { params: { file_id: id } })

/** Number of white-space characters in a mark, one bit each. */
const markLength = 16

/**
 * The file with unique content of constant length, since a server may identify files by content. Files other than plain
 * text get trailing white space, which every format ignores.
 */
export function withOwnContent(given: Given, file: UploadContent): UploadContent {
  const suffix = given.objects.suffix()
  const bits = parseInt(suffix.slice(-4), 36)
    .toString(2)
    .padStart(markLength, '0')
    .slice(-markLength)
  const isText = /^text\/(plain|markdown)/i.test(file.contentType)
  const mark = isText ? `\n${suffix}\n` : bits.replaceAll('0', ' ').replaceAll('1', '\n')
  return { ...file, bytes: Buffer.concat([file.bytes, Buffer.from(mark)]) }
}

/** Acts on each in turn, until something could not be done. */
export async function inTurn<T>(
  all: readonly T[],
  act: (one: T) => Promise<unknown>,
): Promise<Left> {
  for (const one of all) {
    const done = await act(one)
    if (isOpen(done)) return done
  }
  return undefined
}

/** What could not be done of works at once. */
export const firstOpen = async (works: readonly unknown[]): Promise<Left> =>
  (await allEnded(works)).find(isOpen)

export const together = <T>(all: readonly T[], act: (one: T) => Promise<unknown>): Promise<Left> =>
  firstOpen(all.map(act))

export const isTaken = (exchange: Exchange): boolean => exchange.response?.isGranted === true

export const isConflict = (exchange: Exchange): boolean => exchange.response?.status === 409

/** Creations of the same thing that are sent at the same moment. */
export const atOnce = { full: 4, quick: 2 }

/** An exchange that others depend on; open if it was not accepted. */
export function need(which: string, exchange: Exchange | Open, isGood = isTaken): Exchange | Open {
  if (isOpen(exchange) || isGood(exchange)) return exchange
  const limit = isThrottling(exchange) ? 'throttled: ' : ''
  return open(`${limit}${which} ${wasAnswered(exchange)}`)
}

/**
 * Uploads a file with unique content, else unchanged, and returns its id; open if the upload is refused or has no id.
 * @param isSound whether the file is valid, so that a 5xx is a fault
 * @param name upload name, by default a new one
 */
export async function upload(
  client: Client,
  given: Given,
  file: UploadContent | Open,
  isSound = true,
  name?: string,
): Promise<string | Open> {
  if (isOpen(file)) return file
  if (given.options.readOnly) return open(leftOut('--read-only'))
  const absence = given.target.absent[uploadOperation]
  if (absence) return open(absentReason(absence, [uploadOperation]))
  const what = `with ${file.filename}`
  const purpose = { requirement: null, role: 'setup', what, isSuccess: isTaken } as const
  const make = async (content: UploadContent): Promise<Probe> => {
    const probe = await uploadProbe(given, content, name)
    return isSound ? probe : { ...probe, fault: `file: ${file.filename}` }
  }
  const own = () => make(withOwnContent(given, file))
  // A format may not allow what makes it unique.
  const exchange = await send(client, own, purpose, { otherwise: () => make(file) })
  return namedId(given, need('a file that the suite uploads', exchange))
}
