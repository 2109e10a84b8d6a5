import { accepted, grantedVerdict } from './checks/granted.ts'
import { byCases, type Condition } from './checks/case.ts'
import {
  contentOf,
  distinctRequest,
  freshUnknownId,
  randomFor,
  sampled,
  unknownWord,
} from './checks/valid-request.ts'
import { freshFilename, uploadProbe, withOwnContent } from './checks/created.ts'
import { type CaseVerdict, concluded, furtherCase, joined, pairsVerdict } from './checks/rules.ts'
import { refused, unknown } from './checks/faults.ts'
import { suite } from './checks/suite.ts'
import type { Pairs } from '../catalogue/answers.ts'
import { NotExercised, type Probe, type Verdict } from '../harness/journal/index.ts'
import { answered, type CheckContext, type Judge } from '../harness/run/index.ts'
import {
  eachAccepted,
  ownId,
  usable,
  attached,
  extensionOf,
  filtered,
  listingOf,
  otherExtensions,
  ownRecord,
  uploadTo,
} from './created/drive.ts'

const anyButError: Pairs = [['no-5xx']]

/** An upload to an unknown graph. If graphId is elsewhere on the target, a scenario must place it here, too. */
const unknownGraph: Condition = {
  async casesIn(context) {
    const { client, given } = context
    const id = 'files.upload/2xx-attached-to-graph'
    if (given.target.scenarios[id])
      throw new NotExercised(`declare a scenario for ${context.requirement.id}, as for ${id}`)
    const graphId = freshUnknownId(
      given,
      given.target.resources.graph ?? '',
      randomFor(given, context.requirement.id),
    )
    const probe = refused(await uploadTo(client, given, graphId))
    return [{ what: 'with an unknown graphId', change: () => probe }]
  },
}

/** Sends a request whose only wrong answer is a crash. */
const sendOdd = (context: CheckContext, make: () => Promise<Probe>, what: string) =>
  context.send(make, { badInput: true, expects: anyButError, what })

const otherName = 'Tee – чай 茶.txt'

/** Uploads can be retrieved. An empty one may be refused; another requirement checks that it crashes nothing. */
const retrievable: Judge = async (context) => {
  const verdict = await usable(context)
  const { client, given, scenario } = context
  const isWrong = verdict.outcome === 'broken' || verdict.outcome === 'open'
  if (isWrong || scenario || given.options.depth === 'quick') return verdict
  const make = async (): Promise<Probe> => ({
    ...(await distinctRequest(client, given, 'files.upload')),
    body: new Uint8Array(),
  })
  await sendOdd(context, make, 'of a file without content')
  const file = withOwnContent(given, contentOf(given))
  const named = (): Promise<Probe> => uploadProbe(given, file, freshFilename(given, otherName))
  await context.send(named, { role: 'setup', what: 'under a name beyond ASCII' })
  return verdict
}

// Upload a file (§2.8, §4.4, §7.3)

export const filesUpload = suite('files.upload', () => ({
  '2xx-accepted': eachAccepted,
  '2xx-attached-to-graph': attached,
  '2xx-retrievable': retrievable,
  '2xx-own-id': ownId,
  '4xx-unknown-graph': unknownGraph,
}))

/**
 * The listing by one or two extensions, with and without the uploaded file's (§2.8: comma-separated, without the dot).
 */
const listByTypes: Judge = async (context) => {
  const { client, given, scenario } = context
  const first = extensionOf(given)
  const [other, two] = otherExtensions(given)
  const verdicts: Verdict[] = []
  // A scenario has its own.
  for (const types of scenario
    ? [first]
    : sampled(context.given, context.requirement.id, [first, `${first},${other}`, two, other])) {
    verdicts.push(await grantedVerdict(context, listingOf(client, given, types)))
    if (joined(verdicts).outcome !== 'held') return joined(verdicts)
  }
  if (scenario || given.options.depth === 'quick') return joined(verdicts)
  const unknown = concluded([await furtherCase(client, () => listUnknownType(context))])
  if (unknown.outcome === 'broken') return unknown
  // An empty and a repeated query count as bad input.
  for (const odd of ['', [first, 'pdf']])
    await sendOdd(context, listingOf(client, given, odd).make, 'with an odd query')
  return joined([...verdicts, unknown])
}

/** A server may return no file of an unknown extension, or refuse it, but must not crash. */
async function listUnknownType(context: CheckContext): Promise<CaseVerdict> {
  const { client, given, requirement } = context
  // Sent alone, since it lists nothing.
  const { make, what } = listingOf(client, given, unknownWord(given, requirement.id))
  const exchange = await sendOdd(context, make, what)
  answered(exchange)
  return pairsVerdict(context, exchange, anyButError, what)
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
    (one) => {
      const { deletedFile = '' } = one.target.resources
      return ['', ', asked for again'].map((again) => ({
        what: `for a file that was deleted${again}`,
        fault: 'id: deleted',
        change: (valid) => ({ ...valid, params: { file_id: deletedFile } }),
      }))
    },
    { inOrder: true },
  ),
}))
