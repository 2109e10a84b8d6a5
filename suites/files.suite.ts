import { accepted, grantedProbe, grantedVerdict, inScenario } from './checks/granted.ts'
import { byCases, type Condition, refused } from './checks/case.ts'
import { contentOf, distinctRequest, validRequest } from './checks/valid-request.ts'
import { freshUnknownId, randomFor, sampled, unknownWord } from './checks/random.ts'
import {
  freshFilename,
  inTurn,
  isTaken,
  need,
  upload,
  uploadProbe,
  withOwnContent,
} from './checks/created.ts'
import { concluded, joined, pairsVerdict } from './checks/rules.ts'
import { deletedIdCases, unknown } from './checks/faults.ts'
import { suite } from './checks/suite.ts'
import type { Pairs } from '../catalogue/answers.ts'
import {
  type Exchange,
  isOpen,
  type Making,
  type Open,
  type Probe,
  type Verdict,
  withChange,
  withHeader,
  open,
} from '../harness/journal/index.ts'
import type { Client, Given } from '../harness/client/index.ts'
import type { CheckContext, Judge } from '../harness/run/index.ts'
import {
  attached,
  ownId,
  ownRecord,
  relation,
  type Send,
  toGraph,
  usable,
} from './created/drive.ts'
import { extensionIn, placesOf } from './created/rules.ts'

const anyButError: Pairs = [['no-5xx']]

/** An upload to an unknown graph. If graphId is elsewhere on the target, a scenario must place it here, too. */
const unknownGraph: Condition = {
  async casesIn(_, context) {
    const { client, given } = context
    const id = 'files.upload/2xx-attached-to-graph'
    if (given.target.scenarios[id])
      return open(`declare a scenario for ${context.requirement.id}, as for ${id}`)
    const graphId = freshUnknownId(
      given,
      given.target.resources.graph ?? '',
      randomFor(given, context.requirement.id),
    )
    const upload = await distinctRequest(client, given, 'files.upload')
    if (isOpen(upload)) return upload
    const probe = refused(toGraph(graphId)(upload))
    return [{ what: 'with an unknown graphId', change: () => probe }]
  },
}

/** Sends a request whose only wrong answer is a crash. */
const sendOdd = (context: CheckContext, make: () => Making, what: string) =>
  context.send(make, { badInput: true, expects: anyButError, what })

const otherName = 'Tee – чай 茶.txt'

const oddUploads: readonly (readonly [what: string, change: (upload: Probe) => Probe])[] = [
  ['of a file without content', (upload) => ({ ...upload, body: new Uint8Array() })],
  ['without Content-Type', (upload) => withHeader(upload, 'content-type', undefined)],
  ['without Content-Disposition', (upload) => withHeader(upload, 'content-disposition', undefined)],
]

/** Uploads can be retrieved. Odd ones may be refused; another requirement checks that they crash nothing. */
const retrievable: Judge = async (context) => {
  const verdict = await relation(usable)(context)
  const { client, given, scenario } = context
  const isWrong = verdict.outcome === 'broken' || verdict.outcome === 'open'
  if (isWrong || scenario || given.options.depth === 'quick') return verdict
  const left = await inTurn(oddUploads, ([what, change]) =>
    sendOdd(
      context,
      () => withChange(distinctRequest(client, given, 'files.upload'), change),
      what,
    ),
  )
  if (left) return left
  const content = contentOf(given)
  if (isOpen(content)) return content
  const file = withOwnContent(given, content)
  const named = () => uploadProbe(given, file, freshFilename(given, otherName))
  const sent = await sendOdd(context, named, 'under a name beyond ASCII')
  return isOpen(sent) ? sent : verdict
}

// Upload a file (§2.8, §4.4, §7.3)

export const filesUpload = suite('files.upload', () => ({
  '2xx-accepted': accepted,
  '2xx-attached-to-graph': relation(attached, true),
  '2xx-retrievable': retrievable,
  '2xx-own-id': relation(ownId),
  '4xx-unknown-graph': unknownGraph,
}))

/** The extension of the upload, one that is not, and two more. */
function extensionsOf(given: Given) {
  const { contentType = '', filename = '' } = given.target.operations['files.upload']?.content ?? {}
  const own = extensionIn(filename) ?? 'pdf'
  const two = ['csv', 'html', 'md'].filter((one) => one !== own.toLowerCase()).slice(0, 2)
  return { own, other: /pdf/i.test(`${own} ${contentType}`) ? 'txt' : 'pdf', two: two.join() }
}

function listingOf(client: Client, given: Given, types: string | readonly string[]) {
  const make = () =>
    withChange(validRequest(client, given, 'files.list'), (probe) => ({
      ...probe,
      query: { ...probe.query, file_types: types },
    }))
  return { make, what: `with file_types ${[types].flat().join(' and file_types ')}` }
}

const filtered: Send = async (context) => {
  const { client, given } = context
  const { own, other, two } = extensionsOf(given)
  const content = contentOf(given)
  // A server may look for the extension anywhere in the name.
  const file = isOpen(content) ? content : { ...content, filename: `${other}-${content.filename}` }
  let id = await upload(client, given, file)
  const holds = (exchange: Exchange): boolean => !isOpen(id) && placesOf(exchange, id).length > 0
  const settles = { since: performance.now(), isGood: holds }
  const { make } = listingOf(client, given, own)
  const list = () => context.send(make, { isSuccess: isTaken }, { settles })
  let listed = isOpen(id) ? id : await list()
  // It may show the newest files only, and others came before a request that was lost was sent again.
  for (let more = 2; more > 0 && !isOpen(listed) && !holds(listed); more--) {
    id = await upload(client, given, file)
    listed = isOpen(id) ? id : await list()
  }
  const which = `the listing with file_types ${own}, which should contain the new file,`
  const found = need(which, listed, holds)
  const others = sampled(given, context.requirement.id, [other, two])
  // It may be listed under another extension alone.
  for (const types of context.scenario || isOpen(found) ? others.slice(0, 1) : others) {
    const { make: plain, what } = listingOf(client, given, types)
    const make = grantedProbe(context, 'files.list', plain)
    const list = async (): Promise<Exchange | Open> =>
      need(`the listing ${what}`, await context.send(make, { what, isSuccess: isTaken }))
    const listed = await inScenario(context, 'files.list', list)
    if (isOpen(listed)) return listed
  }
  return isOpen(found) ? found : undefined
}

/** Whether the listing by one of these extensions alone is refused. */
async function refusesOneOf(context: CheckContext, extensions: readonly string[]) {
  const { client, given } = context
  for (const one of extensions) {
    const { make, what } = listingOf(client, given, one)
    const exchange = await sendOdd(context, make, what)
    const status = isOpen(exchange) ? undefined : exchange.response?.status
    if (status === 400 || status === 404 || status === 422) return true
  }
  return false
}

/**
 * The listing by one or two extensions, with and without the uploaded file's (§2.8: comma-separated, without the dot).
 */
const listByTypes: Judge = async (context) => {
  const { client, given, requirement, scenario } = context
  const { own, other, two } = extensionsOf(given)
  const verdicts: Verdict[] = []
  // A scenario has its own.
  for (const types of scenario
    ? [own]
    : sampled(given, requirement.id, [own, `${own},${other}`, two, other])) {
    let verdict = await grantedVerdict(context, listingOf(client, given, types))
    // The interface itself has PDF files.
    const foreign = types.split(',').filter((one) => one !== own && one !== 'pdf')
    // A server may refuse an extension that it does not know, alone as well as here: then only the upload's own counts.
    const isRefused =
      verdict.outcome === 'broken' &&
      [verdict.evidence].flat().every((one) => (one.exchange.response?.status ?? 500) < 500)
    if (isRefused && (await refusesOneOf(context, foreign)))
      verdict = await grantedVerdict(context, listingOf(client, given, own))
    verdicts.push(verdict)
    if (joined(verdicts).outcome !== 'held') return joined(verdicts)
  }
  if (scenario || given.options.depth === 'quick') return joined(verdicts)
  // A server may return no file of an unknown extension, or refuse it, but must not crash. Sent alone, since it lists nothing.
  const { make, what } = listingOf(client, given, unknownWord(given, requirement.id))
  const exchange = await sendOdd(context, make, what)
  if (isOpen(exchange)) return exchange
  const unknown = concluded([pairsVerdict(context, exchange, anyButError, what)])
  if (unknown.outcome === 'broken') return unknown
  // An empty and a repeated query count as bad input.
  const left = await inTurn(['', [own, 'pdf']], (odd) =>
    sendOdd(context, listingOf(client, given, odd).make, 'with an odd query'),
  )
  return left ?? joined([...verdicts, unknown])
}

// List files (§2.8, §4.4)

export const filesList = suite('files.list', () => ({
  '2xx-accepted': accepted,
  '2xx-file-types': listByTypes,
  '2xx-filtered': relation(filtered),
}))

// Get a file (§4.4, §7.3)

export const filesRetrieve = suite('files.retrieve', () => ({
  '2xx-accepted': accepted,
  '2xx-own-record': relation(ownRecord, true),
  '404-unknown-file': unknown('file_id'),
  '410-deleted-file': byCases(
    (material) =>
      ['', ', asked for again'].flatMap((again) =>
        deletedIdCases(material, `for a file that was deleted${again}`),
      ),
    { inOrder: true },
  ),
}))
