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
  wasAnswered,
  isGranted,
  NotExercised,
  operationProbe,
} from '../../harness/engine/index.ts'
import { judgeRelation } from '../created/relations.ts'
import { extensionIn, placesOf } from './rules.ts'

/** The extension of the uploaded file; `pdf` if there is none. */
export function extensionOf(run: Run): string {
  const filename = run.target.operations['files.upload']?.content ? contentOf(run).filename : ''
  return extensionIn(filename) ?? 'pdf'
}

/** A listing of the files with those extensions; with several values of `file_types`, if that is an array. */
export function listingOf(run: Run, types: string | readonly string[]) {
  const make = async (): Promise<Probe> => {
    const probe = await validRequest(run, 'files.list')
    return { ...probe, query: { ...probe.query, file_types: types } }
  }
  return { make, what: `with file_types ${[types].flat().join(' and file_types ')}` }
}

/** Lists a new file by its own extension, until it is there, and by another one. */
export const filtered: Judge = async (context) => {
  const { run } = context
  const own = extensionOf(run)
  const isOfPdf = own.toLowerCase() === 'pdf' || /pdf/i.test(contentOf(run).contentType)
  const id = await upload(run, contentOf(run))
  const list = (): Promise<Exchange> => context.send(listingOf(run, own).make)
  const holds = (exchange: Exchange): boolean => placesOf(exchange, id).length > 0
  const listed = await retryWhileSettling(run, list, holds)
  requireGranted(listed, `the listing with file_types ${own}`)
  if (!holds(listed))
    throw new NotExercised(
      `the listing with file_types ${own} does not hold the file that was just uploaded`,
    )
  const other = listingOf(run, isOfPdf ? 'txt' : 'pdf')
  await inScenario(context, 'files.list', async () => {
    const make = grantedProbe(context, 'files.list', other.make)
    requireGranted(await context.send(make, { what: other.what }), `the listing ${other.what}`)
  })
  judgeRelation(context)
}

function requireGranted(exchange: Exchange, which: string): void {
  answered(exchange)
  if (!isGranted(exchange.response)) throw new NotExercised(`${which} ${wasAnswered(exchange)}`)
}

/** Retrieves two files of different names and content. */
export const ownRecord: Judge = async (context) => {
  const { run, scenario } = context
  if (scenario) return grantedByScenario(context)
  if (!isDeclared(run, 'files.upload')) throw new NotExercised('declare files.upload')
  // Both are there before either is read: a server may give the record of the latest.
  const ids = [await upload(run, contentOf(run)), await upload(run, contentOf(run))]
  if (ids[0] === ids[1])
    throw new NotExercised('both uploads gave one id: see files.upload/2xx-own-id')
  for (const id of ids)
    requireGranted(await retrieve(context, id), 'the retrieval of an uploaded file')
  judgeRelation(context)
}

function retrieve(context: CheckContext, id: string): Promise<Exchange> {
  const { run } = context
  const probe = () => operationProbe(run, 'files.retrieve', { params: { file_id: id } })
  const isFound = ({ response }: Exchange): boolean => response !== undefined && isGranted(response)
  return retryWhileSettling(run, () => context.send(probe), isFound)
}
