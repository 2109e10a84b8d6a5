import { asScenario } from './checks/scenario.ts'
import { byCases, type Case, type Condition, inMember, withBody } from './checks/case.ts'
import { controlled, granted, type GrantedCheck, grantedVerdict } from './checks/granted.ts'
import { missingBody, deletedIdCases, unknownIdCases } from './checks/faults.ts'
import { anyText, inPlaceOf, ofKindsAny, sample } from './checks/changes.ts'
import { suite } from './checks/suite.ts'
import { freshFilename, once, upload } from './checks/created.ts'
import {
  joined,
  allOf,
  answerRule,
  type CaseRule,
  pairsVerdict,
  requestFor,
} from './checks/rules.ts'
import { sampled } from './checks/random.ts'
import { validRequest, placeholderRequest } from './checks/valid-request.ts'
import { uploadOperation } from '../catalogue/operations.ts'
import {
  type Exchange,
  type Verdict,
  describeResponse,
  isOpen,
  jsonValue,
  type Made,
  type Open,
  type Probe,
  withChange,
  withJson,
  open,
} from '../harness/journal/index.ts'
import { madeBy } from './created/rules.ts'
import {
  otherPdfText,
  type SamplePdf,
  samplePdfText,
  faultOfSample,
  samplePdf,
} from '../fixtures/pdf.ts'
import { type Given, type Client, allEnded, operationProbe } from '../harness/client/index.ts'
import { plainReason } from '../harness/report/index.ts'
import type { UploadContent } from '../harness/target/index.ts'
import { type CheckContext, type Judge, shapeFinding, settle } from '../harness/run/index.ts'
import { member, preview } from '../schemas/json.ts'
import fc from 'fast-check'
import type { Pairs } from '../catalogue/answers.ts'

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

// The files

type PdfResource = 'pdfFile' | 'corruptedPdfFile' | 'encryptedPdfFile' | 'oversizedPdfFile'

const samples: Readonly<Partial<Record<PdfResource, SamplePdf>>> = {
  pdfFile: 'good',
  corruptedPdfFile: 'corrupted',
  encryptedPdfFile: 'encrypted',
}

/** The sample to use; undefined if the target declares this PDF, or only others. */
function ownSample(given: Given, name: PdfResource): SamplePdf | undefined {
  const { resources } = given.target
  const isOwn = resources.pdfFile === undefined && resources[name] === undefined
  return isOwn ? samples[name] : undefined
}

const asPdf = (bytes: Uint8Array, filename: string): UploadContent => ({
  bytes,
  filename,
  contentType: 'application/pdf',
})

/**
 * A sample PDF, uploaded once per run under the same name as the others: a server may cache by name. If it refuses that, under
 * another name.
 */
export const uploadSample = (
  client: Client,
  given: Given,
  kind: SamplePdf,
): Promise<string | Open> =>
  once(client, `own pdf ${kind}`, async () => {
    if (given.target.operations[uploadOperation]?.content === undefined)
      return open(`declare operations.${uploadOperation}`)
    const file = asPdf(samplePdf(kind), `${kind}.pdf`)
    const name = await once(client, 'name of PDFs', async () => freshFilename(given, 'pages.pdf'))
    const id = await upload(client, given, file, true, name)
    return isOpen(id) ? upload(client, given, file) : id
  })

/**
 * The id of a PDF: declared, uploaded from the declared path, or (if no PDF is declared) a sample of the suite. Once
 * per run.
 */
const pdfId = (client: Client, given: Given, name: PdfResource): Promise<string | Open> =>
  once(client, `pdf ${name}`, async (): Promise<string | Open> => {
    const declared = given.target.resources[name]
    if (typeof declared === 'string') return declared
    if (declared) {
      const file = asPdf(declared.bytes, declared.filename)
      return upload(client, given, file, name === 'pdfFile')
    }
    const kind = ownSample(given, name)
    if (kind === undefined) return open(`declare resources.${name}`)
    if (kind === 'good') return uploadSample(client, given, kind)
    const file = asPdf(samplePdf(kind), `${kind}.pdf`)
    const id = await upload(client, given, file, false)
    if (!isOpen(id) || given.options.readOnly) return id
    // A server may refuse to store such a file (§7.3); then the target file has to name one.
    const { reason } = plainReason(id.why)
    return open(`${reason}; declare resources.${name}, the id of such a stored PDF`)
  })

/** The valid request of PDF parsing, which may need an upload. */
export async function pdfRequest(client: Client, given: Given): Promise<Made> {
  const id = await pdfId(client, given, 'pdfFile')
  if (isOpen(id)) return id
  return operationProbe(given, 'pdf.parse', { params: { file_id: id }, json: { format: 'text' } })
}

// The content

const formats = ['text', 'markdown']

const hasText: GrantedCheck = (_, exchange) => shapeFinding(exchange, 'pdf-content')

const asText = controlled({
  check: hasText,
  what: 'with format text',
  expected: '200 with the content of the PDF',
})

const asMarkdown: Case['change'] = (probe) => withJson(probe, { format: 'markdown' })

/** Required share of words: extraction is not exact. */
const leastShare = 0.8
/** Below this number of words, the share proves nothing. */
const leastWords = 5

interface KnownText {
  readonly words: readonly string[]
  readonly of: string
}

function knownText(given: Given): KnownText | Open {
  const { pdfFile, pdfText } = given.target.resources
  if (pdfFile === undefined)
    return { words: wordsOf(samplePdfText), of: 'the PDF that the suite uploads' }
  if (pdfText === undefined) return open('declare resources.pdfText, the text of resources.pdfFile')
  const words = wordsOf(pdfText)
  if (words.length < leastWords)
    return open(
      `resources.pdfText has ${words.length} words; at least ${leastWords} are needed to judge`,
    )
  return { words, of: 'resources.pdfText' }
}

/** @param remarkOn explains other words */
const holdsWords =
  (
    { words: wanted, of }: KnownText,
    remarkOn: (words: readonly string[]) => string = () => '',
  ): GrantedCheck =>
  (given, exchange) => {
    const wrong = hasText(given, exchange)
    if (wrong) return wrong
    const words = wordsOf(String(member(jsonValue(exchange.response), 'content')))
    const { found, firstMissing } = findInOrder(wanted, words)
    if (found >= leastShare * wanted.length) return undefined
    return {
      expected: `content with at least four in five of the ${wanted.length} words, in order, of ${of}: ${preview(wanted.join(' '))}`,
      actual: `${found} of them (first missing: "${firstMissing}"${remarkOn(words)}): ${describeResponse(exchange)}`,
    }
  }

type OwnPdf = readonly [SamplePdf, text: string]

const good: OwnPdf = ['good', samplePdfText]
const other: OwnPdf = ['other', otherPdfText]

/** Two PDFs parsed in sequence, each format after the other PDF, then at once: each must return its own content. */
async function parseOwnPdfs(context: CheckContext): Promise<Verdict> {
  const { given, requirement } = context
  const inSequence = [
    () => parseOwnPdf(context, good, 'text'),
    () => parseOwnPdf(context, other, 'markdown'),
    () => parseOwnPdf(context, good, 'markdown'),
  ]
  const verdicts: Verdict[] = []
  for (const parse of sampled(given, requirement.id, inSequence))
    if (joined(verdicts).outcome === 'held') verdicts.push(await parse())
  if (given.options.depth === 'full' && joined(verdicts).outcome === 'held')
    verdicts.push(
      ...(await allEnded([good, other].map((pdf) => parseOwnPdf(context, pdf, 'text')))),
    )
  return joined(verdicts)
}

async function parseOwnPdf(
  context: CheckContext,
  [name, text]: OwnPdf,
  format: string,
): Promise<Verdict> {
  const { client, given } = context
  const id = await uploadSample(client, given, name)
  if (isOpen(id)) return id
  const what = `with format ${format}, for ${name}.pdf of the suite`
  const make = () =>
    withChange(validRequest(client, given, 'pdf.parse'), (valid) => ({
      ...withJson(valid, { format }),
      params: { file_id: id },
    }))
  const known = { words: wordsOf(text), of: `${name}.pdf, which the suite uploads` }
  const holds = holdsWords(known, (words) => ofOtherPdf(client, id, name, words))
  const reason = `another upload gave the id of ${name}.pdf: see files.upload/2xx-own-id`
  const check: GrantedCheck = (own, exchange) =>
    isShared(client, id) ? { reason } : holds(own, exchange)
  return grantedVerdict(context, { make, what, check })
}

const isShared = (client: Client, id: string): boolean =>
  new Set(
    client.journal
      .of(id)
      .filter((one) => one.operation === uploadOperation && one.isGranted)
      .map((one) => one.content),
  ).size > 1

function ofOtherPdf(client: Client, id: string, name: SamplePdf, words: readonly string[]): string {
  const [its, text] = name === 'good' ? other : good
  const wanted = wordsOf(text)
  if (findInOrder(wanted, words).found < leastShare * wanted.length) return ''
  const uploads = madeBy(client.journal, uploadOperation)
  const filename = uploads.find((upload) => upload.object === id)?.name
  const isTwin = uploads.some((one) => one.object !== id && one.name === filename)
  const under = isTwin ? `, uploaded under the same name, ${filename}` : ''
  return `; the content is that of ${its}.pdf${under}`
}

const content: Judge = async (context) => {
  const { client, given, requirement, scenario } = context
  const verdicts: Verdict[] = []
  if (given.target.operations['files.upload']?.content !== undefined && !scenario) {
    if (given.target.resources.pdfText === undefined) return parseOwnPdfs(context)
    // A target may refuse PDFs; declared ones are judged anyway.
    const verdict = await parseOwnPdfs(context)
    if (verdict.outcome !== 'open') verdicts.push(verdict)
  }
  const known = knownText(given)
  if (isOpen(known)) return known
  for (const format of scenario ? ['text'] : sampled(given, requirement.id, formats)) {
    const what = scenario ? asScenario : `with format ${format}`
    const make = () =>
      withChange(validRequest(client, given, 'pdf.parse'), (valid) => withJson(valid, { format }))
    if (joined(verdicts).outcome !== 'broken')
      verdicts.push(await grantedVerdict(context, { make, what, check: holdsWords(known) }))
  }
  return joined(verdicts)
}

// Refusals

type Unusable = Exclude<PdfResource, 'pdfFile'>

function describeFile(given: Given, name: Unusable): string {
  const sample = ownSample(given, name)
  if (sample === undefined || sample === 'good' || sample === 'other') return `resources.${name}`
  return `${sample}.pdf of the suite, a PDF ${faultOfSample[sample]}`
}

const inMarkdown = (one: Probe): Probe => withJson(one, { format: 'markdown' })

/** An unreadable file: in either format, and a declared one twice in the same format, since a server may cache the result. */
const unusable = (name: Unusable, what: string, isTwice = false): Condition => ({
  inOrder: true,
  async casesIn(_, one) {
    const id = await pdfId(one.client, one.given, name)
    if (isOpen(id)) return id
    const asked: Case = {
      what: `with a valid body, for ${what} (${describeFile(one.given, name)})`,
      faults: [{ part: 'file', kind: name }],
      change: (valid) => ({ ...valid, params: { file_id: id } }),
    }
    if (one.given.options.depth === 'quick') return [asked]
    const again = { ...asked, what: `${asked.what}, once more` }
    const markdown: Case = {
      ...asked,
      what: `${asked.what}, with format markdown`,
      change: (valid) => inMarkdown(asked.change(valid)),
      // A target may not support markdown.
      control: inMarkdown,
    }
    return [asked, ...(isTwice && !one.given.objects.madeAt.has(id) ? [again] : []), markdown]
  },
})

/** An unknown file, and a deleted one. */
const unreachable = byCases(
  (material) => [
    ...unknownIdCases(material, 'file_id'),
    ...deletedIdCases(material, 'with a valid body, for a file that was deleted'),
  ],
  { inOrder: true },
)

const outside = [
  ...['TEXT', 'Text', 'MARKDOWN', 'Markdown'],
  // Full-width letters, which NFKC normalization turns into plain ones.
  '\uff54\uff45\uff58\uff54',
  // Letters with diacritics, and invisible characters.
  ...['te\u0301xt', 'te\u200bxt', 'text\u200b', '\ufefftext', 'text\u0000'],
  ...[' text', 'text ', 'markdown\n'],
  // A pattern may be matched line by line, and anchored at one end only.
  ...['html\ntext', 'markdown\nhtml'],
  ...['md', 'txt', 't', 'mark'],
  ...['plain', 'html', 'json', 'text,markdown', 'text/plain', 'text'.repeat(64)],
  // Names that every JavaScript object has, and an index.
  ...['', 'constructor', '__proto__', '0'],
]

const withFormat = (format: unknown, kind?: string): Case => ({
  what: `with format ${preview(format)}`,
  faults: kind === undefined ? undefined : [inMember(kind, '/format')],
  change: (probe) => withJson(probe, { format }),
})

const unsupported = (format: string): Case => withFormat(format, format === '' ? 'empty' : 'value')

/**
 * Strings outside the enum: other letter case, full-width letters, blanks, abbreviations, empty, names of object
 * members; then any.
 */
const unsupportedFormat = byCases(() => outside.map(unsupported), {
  generated: () =>
    fc
      .oneof(fc.stringMatching(/^[A-Za-z0-9_-]{1,16}$/), anyText(12))
      .filter((format) => !formats.includes(format))
      .map(unsupported),
})

const otherKinds = ['null', 'boolean', 'number', 'array', 'object'] as const

const odd = [false, 0, 1, ['text'], ['markdown'], { format: 'text' }, { text: true }]

const malformedFormat = byCases(
  () => [
    ...otherKinds.map((kind) => withFormat(inPlaceOf('text', sample[kind]), kind)),
    ...odd.map((value) => withFormat(value)),
  ],
  { generated: () => ofKindsAny(...otherKinds).map((value) => withFormat(value)) },
)

const gone: Pairs = [[404], [410]]

/** §9: after its removal the path returns 404 or 410 with any body; an envelope is not required. */
async function removed(context: CheckContext): Promise<Verdict> {
  const { client, given, requirement } = context
  const { pdfFile, file } = given.target.resources
  const existing = typeof pdfFile === 'string' ? pdfFile : file
  const placeholder = await placeholderRequest(given, 'pdf.parse')
  // An existing file reveals a parser that is still there: an unknown one gives 404 either way.
  const params = existing === undefined ? placeholder.params : { file_id: existing }
  const source = { ...withJson(placeholder, { format: 'text' }), params }
  const what = 'after the removal of PDF parsing'
  const times = given.options.depth === 'quick' ? 1 : (requirement.times ?? 1)
  const rules = Array.from({ length: times }, (_, at): CaseRule => {
    const request = requestFor(context, String(at), source, { skipPassive: true, expects: gone })
    const verdictOn = (exchange: Exchange) => pairsVerdict(context, exchange, gone, what)
    return { judge: answerRule(context, request, verdictOn) }
  })
  return settle(client, allOf(rules, { inOrder: true }))
}

const noFormat: Case = {
  what: 'with a body that has no format',
  faults: [inMember('absent', '/format')],
  change: (probe) => withBody(probe, {}),
}

/** Once more at the end, after a valid request: a server that reuses its record would have its format. */
const missingFormat = byCases(() => [noFormat, { ...noFormat, when: 'at the end', isBehind: true }])

// §4.1 Parse PDF (deprecated)

export const pdfParse = suite('pdf.parse', () => ({
  '200-text': asText,
  '200-markdown': granted('with format markdown', () => asMarkdown, hasText),
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
