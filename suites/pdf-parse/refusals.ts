import { preview } from '../../schemas/json.ts'
import { anyText, inPlaceOf, ofKindsAny, sample, unknownIdCases } from '../checks/faults.ts'
import fc from 'fast-check'
import { type Given, type Client, operationProbe, orElse } from '../../harness/client/index.ts'
import { NotExercised, type Probe, withJson, type Verdict } from '../../harness/journal/index.ts'
import { type CheckContext, settle } from '../../harness/run/index.ts'
import { faultOfSample, type SamplePdf, samplePdf } from '../../fixtures/pdf.ts'
import { allOf, answerRule, type CaseRule, pairsVerdict, requestFor } from '../checks/rules.ts'
import { byCases, type Case, type Condition } from '../checks/case.ts'
import { freshFilename, once, sharedBy, upload } from '../checks/created.ts'
import { placeholderRequest } from '../checks/valid-request.ts'
import type { Pairs } from '../../catalogue/answers.ts'

type PdfResource = 'pdfFile' | 'corruptedPdfFile' | 'encryptedPdfFile' | 'oversizedPdfFile'

const samples: Readonly<Partial<Record<PdfResource, SamplePdf>>> = {
  pdfFile: 'good',
  corruptedPdfFile: 'corrupted',
  encryptedPdfFile: 'encrypted',
}

/** The sample to use; undefined if the target declares this PDF, or only others. */
export function ownSample(
  { target: { resources } }: Given,
  name: PdfResource,
): SamplePdf | undefined {
  return resources.pdfFile === undefined && resources[name] === undefined
    ? samples[name]
    : undefined
}

/**
 * The id of a PDF: declared, uploaded from the declared path, or (if no PDF is declared) a sample of the suite. Once
 * per run.
 */
export function pdfId(client: Client, given: Given, name: PdfResource): Promise<string> {
  return once(client, `pdf ${name}`, async () => {
    const declared = given.target.resources[name]
    if (typeof declared === 'string') return declared
    const [contentType, isSound] = ['application/pdf', name === 'pdfFile']
    if (declared)
      return upload(
        client,
        given,
        { bytes: declared.bytes, filename: declared.filename, contentType },
        isSound,
      )
    const kind = ownSample(given, name)
    if (kind === undefined) throw new NotExercised(`declare resources.${name}`)
    if (kind === 'good') return uploadUnderOneName(client, given, kind)
    const file = { bytes: samplePdf(kind), filename: `${kind}.pdf`, contentType }
    return upload(client, given, file, isSound).catch((error: unknown) => {
      if (!(error instanceof NotExercised) || given.options.readOnly) throw error
      // A server may refuse to store such a file (§7.3); then the target file has to name one.
      throw new NotExercised(
        `${error.message}; declare resources.${name}, the id of such a stored PDF`,
      )
    })
  })
}

/**
 * Uploads a PDF under the same name as the others of the run: a server may cache by name. If it refuses, uses another
 * name.
 */
async function uploadUnderOneName(client: Client, given: Given, kind: SamplePdf): Promise<string> {
  const filename = `${kind}.pdf`
  const file = { bytes: samplePdf(kind), filename, contentType: 'application/pdf' }
  const name = await once(client, 'name of PDFs', async () => freshFilename(given, 'pages.pdf'))
  return orElse(
    client,
    () => upload(client, given, file, true, name),
    () => upload(client, given, file),
  )
}

/** A sample PDF, uploaded once per run; throws `NotExercised` if refused. */
export function uploadSample(client: Client, given: Given, name: SamplePdf): Promise<string> {
  return once(client, `own pdf ${name}`, () => uploadUnderOneName(client, given, name))
}

/** The valid request of PDF parsing, which may need an upload. */
export const pdfRequest = async (client: Client, given: Given): Promise<Probe> =>
  operationProbe(given, 'pdf.parse', {
    params: { file_id: await pdfId(client, given, 'pdfFile') },
    json: { format: 'text' },
  })

type Unusable = Exclude<PdfResource, 'pdfFile'>

function describeFile(given: Given, name: Unusable): string {
  const sample = ownSample(given, name)
  if (sample === undefined || sample === 'good' || sample === 'other') return `resources.${name}`
  return `${sample}.pdf of the suite, a PDF ${faultOfSample[sample]}`
}

/** An unreadable file: in either format, and twice in the same format, since a server may cache the result. */
export const unusable = (name: Unusable, what: string, isTwice = false): Condition => ({
  inOrder: true,
  async casesIn(one) {
    const id = await pdfId(one.client, one.given, name)
    const asked: Case = {
      what: `with a valid body, for ${what} (${describeFile(one.given, name)})`,
      fault: `file: ${name}`,
      change: (valid) => ({ ...valid, params: { file_id: id } }),
    }
    if (one.given.options.depth === 'quick') return [asked]
    const again = { ...asked, what: `${asked.what}, once more` }
    const markdown: Case = {
      ...asked,
      what: `${asked.what}, with format markdown`,
      change: (valid) => asMarkdown(asked.change(valid)),
      // A target may not support markdown.
      control: asMarkdown,
    }
    return [
      asked,
      ...(isTwice && !sharedBy(one.client).uploads.at.has(id) ? [again] : []),
      markdown,
    ]
  },
})

const asMarkdown = (one: Probe): Probe => withJson(one, { format: 'markdown' })

/** An unknown file, and a deleted one. */
export const unreachable = byCases(
  (material) => {
    const { deletedFile } = material.target.resources
    const deleted: Case[] =
      deletedFile === undefined
        ? []
        : [
            {
              what: 'with a valid body, for a file that was deleted',
              fault: 'id: deleted',
              change: (probe) => ({ ...probe, params: { file_id: deletedFile } }),
            },
          ]
    return [...unknownIdCases(material, 'file_id'), ...deleted]
  },
  { inOrder: true },
)

const formats = ['text', 'markdown']

const outside = [
  ...['TEXT', 'Text', 'MARKDOWN', 'Markdown'],
  // Full-width letters, which NFKC normalization turns into plain ones.
  '\uff54\uff45\uff58\uff54',
  // Letters with diacritics, and invisible characters.
  ...['te\u0301xt', 'te\u200bxt', 'text\u200b', '\ufefftext', 'text\u0000'],
  ...[' text', 'text ', 'markdown\n'],
  ...['md', 'txt', 't', 'mark'],
  ...['plain', 'html', 'json', 'text,markdown', 'text/plain'],
  // Names that every JavaScript object has, and an index.
  ...['', 'constructor', '__proto__', '0'],
]

const withFormat = (format: unknown, fault?: string): Case => ({
  ...{ what: `with format ${preview(format)}`, fault },
  change: (probe) => withJson(probe, { format }),
})

const unsupported = (format: string): Case =>
  withFormat(format, `${format === '' ? 'empty' : 'value'} @ /format`)

const otherWord = fc
  .oneof(fc.stringMatching(/^[A-Za-z0-9_-]{1,16}$/), anyText(12))
  .filter((format) => !formats.includes(format))

/**
 * Strings outside the enum: other letter case, full-width letters, blanks, abbreviations, empty, names of object
 * members; then any.
 */
export const unsupportedFormat = byCases(() => outside.map(unsupported), {
  generated: () => otherWord.map(unsupported),
})

const other = ['null', 'boolean', 'number', 'array', 'object'] as const

const odd = [false, 0, 1, ['text'], ['markdown'], { format: 'text' }, { text: true }]

export const malformedFormat = byCases(
  () => [
    ...other.map((kind) => withFormat(inPlaceOf('text', sample[kind]), `${kind} @ /format`)),
    ...odd.map((value) => withFormat(value)),
  ],
  { generated: () => ofKindsAny(...other).map((value) => withFormat(value)) },
)

const gone: Pairs = [[404], [410]]

/** §9: after its removal the path returns 404 or 410 with any body; an envelope is not required. */
export async function removed(context: CheckContext): Promise<Verdict> {
  const { client, given, requirement } = context
  const { pdfFile, file } = given.target.resources
  const existing = typeof pdfFile === 'string' ? pdfFile : file
  const placeholder = await placeholderRequest(given, 'pdf.parse')
  // An existing file reveals a parser that is still there: an unknown one gives 404 either way.
  const params = existing === undefined ? placeholder.params : { file_id: existing }
  const source = { ...withJson(placeholder, { format: 'text' }), params }
  const ruleOf = (_: unknown, at: number): CaseRule => {
    const request = requestFor(context, String(at), source, { skipPassive: true, expects: gone })
    const what = 'after the removal of PDF parsing'
    return {
      judge: answerRule(context, request, (exchange) =>
        pairsVerdict(context, exchange, gone, what),
      ),
    }
  }
  const times = given.options.depth === 'quick' ? 1 : (requirement.times ?? 1)
  return settle(client, allOf(Array.from({ length: times }, ruleOf), { inOrder: true }))
}
