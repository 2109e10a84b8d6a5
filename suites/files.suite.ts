import {
  accepted,
  byCases,
  contentOf,
  type Condition,
  distinctRequest,
  freshFilename,
  freshUnknownId,
  tryAlso,
  tryUntilGranted,
  randomFor,
  refused,
  sampled,
  suite,
  unknown,
  unknownWord,
  uploadProbe,
  withOwnContent,
} from '../harness/checks/index.ts'
import type { Pairs } from '../catalogue/expected.ts'
import { NotExercised, type Probe } from '../harness/engine/index.ts'
import { answered, type CheckContext, type Judge, judgePairs } from '../harness/run/index.ts'
import { eachAccepted } from './created/created-object.ts'
import {
  attached,
  extensionOf,
  filtered,
  listingOf,
  othersThan,
  ownRecord,
  uploadTo,
} from './files/drive.ts'
import { ownId } from './created/relations.ts'
import { usable } from './created/usable.ts'

const anyButError: Pairs = [['no-5xx']]

/** An upload that names a graph which nobody has. If the target says that graphId stands elsewhere, a scenario has to say it here, too. */
const unknownGraph: Condition = {
  async casesIn(context) {
    const { run } = context
    const id = 'files.upload/2xx-attached-to-graph'
    if (run.target.scenarios[id])
      throw new NotExercised(`declare a scenario for ${context.requirement.id}, as for ${id}`)
    const graphId = freshUnknownId(run, run.target.resources.graph ?? '', randomFor(context))
    const probe = refused(await uploadTo(run, graphId))
    return [{ what: 'with an unknown graphId', change: () => probe }]
  },
}

/** Sends what may be answered by anything but an error of the server itself. */
const sendOdd = (context: CheckContext, make: () => Promise<Probe>, what: string) =>
  context.send(make, { badInput: true, expects: anyButError, what })

/** A name beyond ASCII, of letters in several scripts. */
const otherName = 'Tee – чай 茶.txt'

/** Uploads are found again. One without content may be refused; that it breaks nothing is another requirement's. */
const retrievable: Judge = async (context) => {
  await usable(context)
  const { run, scenario } = context
  if (scenario || run.options.depth === 'quick') return
  const make = async (): Promise<Probe> => ({
    ...(await distinctRequest(run, 'files.upload')),
    body: new Uint8Array(),
  })
  await sendOdd(context, make, 'of a file without content')
  const file = withOwnContent(run, contentOf(run))
  const named = (): Promise<Probe> => uploadProbe(run, file, freshFilename(run, otherName))
  await context.send(named, { role: 'setup', what: 'under a name beyond ASCII' })
}

// Upload a file (§2.8, §4.4, §7.3)

export const filesUpload = suite('files.upload', () => ({
  '2xx-accepted': eachAccepted,
  '2xx-attached-to-graph': attached,
  '2xx-retrievable': retrievable,
  '2xx-own-id': ownId,
  '4xx-unknown-graph': unknownGraph,
}))

/** The listing with one extension, and with two, with and without that of the uploaded file (§2.8: comma-separated, without the dot). */
const listByTypes: Judge = async (context) => {
  const { run, scenario } = context
  const first = extensionOf(run)
  const both = `${first},${first === 'pdf' ? 'txt' : 'pdf'}`
  // A scenario brings its own.
  for (const types of scenario ? [first] : sampled(context, [first, both, othersThan(first)]))
    await tryUntilGranted(context, listingOf(run, types))
  if (scenario || run.options.depth === 'quick') return
  await tryAlso(context, () => listUnknownType(context))
  // No extension, and the query twice: a matter of bad input at large.
  for (const odd of ['', [first, 'pdf']])
    await sendOdd(context, listingOf(run, odd).make, 'with an odd query')
}

/** A server may list no file of an extension that it does not know, or refuse it; it is no error of its own. */
async function listUnknownType(context: CheckContext): Promise<void> {
  const { run, requirement } = context
  // By itself: nothing is listed then.
  const { make, what } = listingOf(run, unknownWord(run, requirement.id))
  const exchange = await sendOdd(context, make, what)
  answered(exchange)
  judgePairs(context, exchange, anyButError, what)
}

// List files (§2.8, §4.4)

export const filesList = suite('files.list', () => ({
  '2xx-accepted': accepted,
  '2xx-file-types': listByTypes,
  '2xx-filtered': filtered,
}))

// Get a file (§4.4, §7.3)

export const filesRetrieve = suite('files.retrieve', () => ({
  '2xx-accepted': accepted,
  '2xx-own-record': ownRecord,
  '404-unknown-file': unknown('file_id'),
  '410-deleted-file': byCases(
    ({ target }) => {
      const { deletedFile = '' } = target.resources
      return ['', ', asked for again'].map((again) => ({
        what: `for a file that was deleted${again}`,
        fault: 'id: deleted',
        change: (valid) => ({ ...valid, params: { file_id: deletedFile } }),
      }))
    },
    { inOrder: true },
  ),
}))
