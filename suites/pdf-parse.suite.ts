import { asScenario } from './checks/scenario.ts'
import { byCases, type Case } from './checks/case.ts'
import { byControl, granted, type GrantedCheck, grantedVerdict } from './checks/granted.ts'
import { missingBody, withBody } from './checks/faults.ts'
import { sampled, validRequest } from './checks/valid-request.ts'
import { suite } from './checks/suite.ts'
import { inBatches } from './checks/created.ts'
import { joined } from './checks/rules.ts'
import { uploadOperation } from '../catalogue/operations.ts'
import {
  type Verdict,
  describeResponse,
  jsonValue,
  NotExercised,
  type Probe,
  withJson,
} from '../harness/journal/index.ts'
import { madeBy } from './created/rules.ts'
import { otherPdfText, type SamplePdf, samplePdfText } from '../fixtures/pdf.ts'
import { type Given, type Client, orElse } from '../harness/client/index.ts'
import { type CheckContext, type Judge, shapeFinding } from '../harness/run/index.ts'
import { member, preview } from '../schemas/json.ts'
import {
  removed,
  malformedFormat,
  unreachable,
  unsupportedFormat,
  unusable,
  uploadSample,
  ownSample,
  pdfId,
} from './pdf-parse/refusals.ts'

/** The words of a text: letters and digits, without case and diacritics. */
function wordsOf(text: string): readonly string[] {
  return (
    text
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
}

/**
 * The number of words of a text that another one contains in the same order, and the first missing one: the longest
 * common subsequence (bit-parallel, Hyyrö 2004), where each bit of `open` is a word still to be found.
 */
function findInOrder(wanted: readonly string[], words: readonly string[]) {
  const places = new Map<string, bigint>()
  wanted.forEach((word, at) => places.set(word, (places.get(word) ?? 0n) | (1n << BigInt(at))))
  const all = (1n << BigInt(wanted.length)) - 1n
  let open = all
  for (const word of words) {
    const at = places.get(word)
    if (at === undefined) continue
    const next = open & at
    open = ((open + next) | (open & ~next)) & all
  }
  const missing = wanted.filter((_, at) => (open >> BigInt(at)) & 1n)
  return { found: wanted.length - missing.length, firstMissing: missing[0] }
}

const hasText: GrantedCheck = (_, exchange) => shapeFinding(exchange, 'pdf-content')

const asText = byControl({
  what: 'with format text',
  expected: '200 with the content of the PDF',
  check: hasText,
})

const asMarkdown = granted(
  'with format markdown',
  (probe) => withJson(probe, { format: 'markdown' }),
  hasText,
)

/** Required share of words: extraction is not exact. */
const leastShare = 0.8
/** Below this number of words, the share proves nothing. */
const leastWords = 5

interface KnownText {
  readonly words: readonly string[]
  readonly of: string
}

function knownText(given: Given): KnownText {
  const { pdfFile, pdfText } = given.target.resources
  const text = pdfFile === undefined ? samplePdfText : pdfText
  if (text === undefined)
    throw new NotExercised('declare resources.pdfText, the text of resources.pdfFile')
  const words = wordsOf(text)
  if (words.length < leastWords)
    throw new NotExercised(
      `resources.pdfText has ${words.length} words; at least ${leastWords} are needed to judge`,
    )
  return {
    words,
    of: pdfFile === undefined ? 'the PDF that the suite uploads' : 'resources.pdfText',
  }
}

/** @param remarkOn explains other words */
function holdsWords(
  one: KnownText,
  remarkOn: (words: readonly string[]) => string = () => '',
): GrantedCheck {
  return (given, exchange) => {
    const wrong = hasText(given, exchange)
    if (wrong) return wrong
    const words = wordsOf(String(member(jsonValue(exchange.response), 'content')))
    const { found, firstMissing } = findInOrder(one.words, words)
    if (found >= leastShare * one.words.length) return undefined
    const expected = `content with at least four in five of the ${one.words.length} words, in order, of ${one.of}: ${preview(one.words.join(' '))}`
    const actual = `${found} of them (first missing: "${firstMissing}"${remarkOn(words)}): ${describeResponse(exchange)}`
    return { expected, actual }
  }
}

type OwnPdf = readonly [SamplePdf, text: string, format: string]

/** Two PDFs parsed in sequence, in either format: each must return its own content. */
const own: readonly OwnPdf[] = [
  ['good', samplePdfText, 'markdown'],
  ['other', otherPdfText, 'text'],
]
const together: readonly OwnPdf[] = [
  ['good', samplePdfText, 'text'],
  ['other', otherPdfText, 'text'],
]

async function parseOwnPdfs(context: CheckContext): Promise<Verdict> {
  const verdicts: Verdict[] = []
  for (const pdf of sampled(context.given, context.requirement.id, own))
    if (joined(verdicts).outcome === 'held') verdicts.push(await parseOwnPdf(context, pdf))
  if (context.given.options.depth === 'full' && joined(verdicts).outcome === 'held')
    verdicts.push(
      ...(await inBatches(together, (pdf) =>
        orElse(
          context.client,
          () => parseOwnPdf(context, pdf),
          ({ reason }): Verdict => ({ outcome: 'open', why: reason.reason, reason }),
        ),
      )),
    )
  return joined(verdicts)
}

const isShared = (client: Client, id: string): boolean =>
  new Set(
    client.journal
      .of(id)
      .filter((one) => one.operation === uploadOperation && one.isGranted)
      .map((one) => one.content),
  ).size > 1

async function parseOwnPdf(context: CheckContext, [name, text, format]: OwnPdf): Promise<Verdict> {
  const { client, given } = context
  // Parses the common one again: content that can be read only once is empty then.
  const isKnown = name === 'good' && ownSample(given, 'pdfFile') !== undefined
  const id = isKnown
    ? await pdfId(client, given, 'pdfFile')
    : await uploadSample(client, given, name)
  const what = `with format ${format}, for ${name}.pdf of the suite`
  const make = async (): Promise<Probe> => ({
    ...withJson(await validRequest(client, given, 'pdf.parse'), { format }),
    params: { file_id: id },
  })
  const known = { words: wordsOf(text), of: `${name}.pdf, which the suite uploads` }
  const holds = holdsWords(known, (words) => ofOtherPdf(client, id, name, words))
  const reason = `another upload gave the id of ${name}.pdf: see files.upload/2xx-own-id`
  const check: GrantedCheck = (own, exchange) =>
    isShared(client, id) ? { reason } : holds(own, exchange)
  return grantedVerdict(context, { make, what, check })
}

function ofOtherPdf(client: Client, id: string, name: SamplePdf, words: readonly string[]): string {
  const other = own.find(([its, text]) => {
    const wanted = wordsOf(text)
    return its !== name && findInOrder(wanted, words).found >= leastShare * wanted.length
  })
  if (!other) return ''
  const uploads = madeBy(client.journal, uploadOperation)
  const filename = uploads.find((upload) => upload.object === id)?.name
  const isTwin = uploads.some((one) => one.object !== id && one.name === filename)
  const under = isTwin ? `, uploaded under the same name, ${filename}` : ''
  return `; the content is that of ${other[0]}.pdf${under}`
}

const content: Judge = async (context) => {
  const { client, given, scenario } = context
  const verdicts: Verdict[] = []
  if (given.target.operations['files.upload']?.content !== undefined && !scenario) {
    if (given.target.resources.pdfText === undefined) return parseOwnPdfs(context)
    // A target may refuse PDFs; declared ones are judged anyway.
    const verdict = await orElse(client, () => parseOwnPdfs(context))
    if (verdict && verdict.outcome !== 'open') verdicts.push(verdict)
  }
  const known = knownText(given)
  const formats = scenario
    ? ['text']
    : sampled(context.given, context.requirement.id, ['text', 'markdown'])
  for (const format of formats) {
    const what = scenario ? asScenario : `with format ${format}`
    const make = async () => withJson(await validRequest(client, given, 'pdf.parse'), { format })
    if (joined(verdicts).outcome !== 'broken')
      verdicts.push(await grantedVerdict(context, { make, what, check: holdsWords(known) }))
  }
  return joined(verdicts)
}

const noFormat: Case = {
  what: 'with a body that has no format',
  fault: 'absent @ /format',
  change: (probe) => withBody(probe, {}),
}

/** Once more at the end, after a valid request: a server that reuses its record would have its format. */
const missingFormat = byCases(() => [noFormat, { ...noFormat, when: 'at the end', isBehind: true }])

// §4.1 Parse PDF (deprecated)

export const pdfParse = suite('pdf.parse', () => ({
  '200-text': asText,
  '200-markdown': asMarkdown,
  '200-content': content,
  '400-missing-body': missingBody,
  '400-missing-format': missingFormat,
  '400-unsupported-format': unsupportedFormat,
  '400-malformed-format': malformedFormat,
  '400-corrupted-pdf': unusable('corruptedPdfFile', 'a corrupted PDF', true),
  '400-encrypted-pdf': unusable('encryptedPdfFile', 'a PDF that asks for a password'),
  '400-oversized-pdf': unusable('oversizedPdfFile', 'a PDF over the size limit'),
  '4xx-unknown-file': unreachable,
  '4xx-removed': removed,
}))
