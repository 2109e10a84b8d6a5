import { isDeepStrictEqual } from 'node:util'
import {
  contentOf,
  grantedByScenario,
  grantedProbe,
  inScenario,
  isDeclared,
  retryWhileSettling,
  upload,
  validRequest,
} from '../../harness/checks/index.ts'
import type { CheckContext, Exchange, Judge, Probe, Run } from '../../harness/engine/index.ts'
import {
  answered,
  describeResponse,
  wasAnswered,
  isGranted,
  jsonValue,
  NotExercised,
  operationProbe,
} from '../../harness/engine/index.ts'
import { isObject } from '../../schemas/json.ts'

/** The extension of the uploaded file; `pdf` if there is none. */
export function extensionOf(run: Run): string {
  const filename = run.target.operations['files.upload']?.content ? contentOf(run).filename : ''
  return /\.(\w+)$/.exec(filename)?.[1] ?? 'pdf'
}

/** A listing of the files with those extensions; with several values of `file_types`, if that is an array. */
export function listingOf(run: Run, types: string | readonly string[]) {
  const make = async (): Promise<Probe> => {
    const probe = await validRequest(run, 'files.list')
    return { ...probe, query: { ...probe.query, file_types: types } }
  }
  return { make, what: `with file_types ${[types].flat().join(' and file_types ')}` }
}

const textOf = ({ response }: Exchange): string => response?.text(response.size) ?? ''

/** The names of the members that have that value, anywhere in a JSON value; `` of an item of an array. */
function namesOf(value: unknown, wanted: string, name = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => namesOf(item, wanted))
  if (isObject(value))
    return Object.entries(value).flatMap(([own, inner]) => namesOf(inner, wanted, own))
  return String(value) === wanted ? [name] : []
}

/** Fewest characters of an id that is looked for in a text that is no JSON. */
const longEnough = 8

/** The members at which an answer holds an id; of a text that is no JSON the empty name. */
function placesOf(exchange: Exchange, id: string): readonly string[] {
  const json = jsonValue(exchange.response)
  if (json !== undefined) return namesOf(json, id)
  return id.length >= longEnough && textOf(exchange).includes(id) ? [''] : []
}

function requireGranted(exchange: Exchange, which: string): void {
  answered(exchange)
  if (!isGranted(exchange.response)) throw new NotExercised(`${which} ${wasAnswered(exchange)}`)
}

/** A file that the listing of its own extension holds is not held, at the same member, by that of another one. */
export const judgeFiltered: Judge = async (context) => {
  const { run } = context
  const own = extensionOf(run)
  const isPdf = own.toLowerCase() === 'pdf' || /pdf/i.test(contentOf(run).contentType)
  const id = await upload(run, contentOf(run))
  const list = ({ make }: ReturnType<typeof listingOf>): Promise<Exchange> => context.send(make)
  const holds = (exchange: Exchange): boolean => placesOf(exchange, id).length > 0
  const listed = await retryWhileSettling(run, () => list(listingOf(run, own)), holds)
  requireGranted(listed, `the listing with file_types ${own}`)
  const places = placesOf(listed, id)
  if (places.length === 0)
    throw new NotExercised(
      `the listing with file_types ${own} does not hold the file that was just uploaded`,
    )
  const other = listingOf(run, isPdf ? 'txt' : 'pdf')
  await inScenario(context, 'files.list', async () => {
    const make = grantedProbe(context, 'files.list', other.make)
    const exchange = await context.send(make, { what: other.what })
    requireGranted(exchange, `the listing ${other.what}`)
    context.cases++
    if (!placesOf(exchange, id).some((place) => places.includes(place))) return
    context.fail(
      exchange,
      `a listing without the file ${id}, whose extension is ${own}`,
      other.what,
      `${exchange.response?.status}, and the file is in it`,
    )
  })
}

/** Whether an answer tells anything that one file has and another has not: a text or a number of a JSON object, or of a list. */
function isRecord(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => isRecord(item) || isTelling(item))
  return isObject(value) && Object.values(value).some((one) => isTelling(one) || isRecord(one))
}

const isTelling = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number'

/** The two files of different names and content, each as it is retrieved. */
async function retrieveTwo(context: CheckContext): Promise<readonly [Exchange, Exchange]> {
  const { run } = context
  // Both are there before either is read: a server may give the record of the latest.
  const ids = [await upload(run, contentOf(run)), await upload(run, contentOf(run))] as const
  const retrieve = async (id: string): Promise<Exchange> => {
    const probe = (): Promise<Probe> =>
      operationProbe(run, 'files.retrieve', { params: { file_id: id } })
    const isFound = ({ response }: Exchange): boolean =>
      response !== undefined && isGranted(response)
    const exchange = await retryWhileSettling(run, () => context.send(probe), isFound)
    requireGranted(exchange, 'the retrieval of an uploaded file')
    return exchange
  }
  return [await retrieve(ids[0]), await retrieve(ids[1])]
}

/** An answer without a body, or one that says nothing of a file, may be the same for all. */
export const judgeOwnRecord: Judge = async (context) => {
  if (context.scenario) return grantedByScenario(context)
  if (!isDeclared(context.run, 'files.upload')) throw new NotExercised('declare files.upload')
  const [one, other] = await retrieveTwo(context)
  if (isDeepStrictEqual(one.probe.params, other.probe.params))
    throw new NotExercised('both uploads gave one id: see files.upload/2xx-own-id')
  const json = jsonValue(other.response)
  const isSame = textOf(one) === textOf(other)
  const mark = Object.values(one.probe.params)
  const saysNothing =
    json === undefined
      ? !mark.some((id) => id.length >= longEnough && textOf(other).includes(id))
      : !isRecord(json)
  if (isSame && saysNothing)
    throw new NotExercised('the answers to both retrievals are the same, and tell of no file')
  context.cases++
  if (isSame)
    context.fail(
      other,
      'an answer that differs from that for another file, of another name and content',
      'for the second of two uploaded files',
      `${describeResponse(other)}, as for the first`,
    )
}
