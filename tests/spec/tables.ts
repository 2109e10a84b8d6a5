import { readFileSync } from 'node:fs'

// The tables of §7 once more, as the text has them, so that a slip in catalogue/answers.ts shows here.
const statusTable = `
400 BadRequest
400 InvalidInputParameters
400 InvalidContentType
401 Unauthorized / BadCredentials / BadToken
403 Forbidden / InsufficientAccessRights
404 NotFound / ResourceNotFound
409 Conflict
410 Gone
413 PayloadTooLarge
422 UnprocessableEntity
429 TooManyRequests / QuotaExceeded / CompletionModelQuotaError
500 InternalServerError / InternalError
503 ServiceUnavailable
507 InsufficientStorage`

/** §7.2: each status with each of its code names. */
export const statusRequirements = statusTable
  .trim()
  .split('\n')
  .flatMap((line) =>
    line
      .slice(4)
      .split(' / ')
      .map((name) => [Number(line.slice(0, 3)), name] as const),
  )

const operationRows = `
pdf.parse  POST /v1/tools/pdf-parser/{file_id}  INVALID; QuotaExceeded 429; InternalError 500
jobs.create  POST /v1/applications/{application_id}/jobs  INVALID; ResourceNotFound 404; BadRequest 409; QuotaExceeded 429; InternalError 500
jobs.retrieve  GET /v1/applications/jobs/{job_id}
completion.create  POST /v1/completion  INVALID; InvalidContentType 400; CompletionModelQuotaError 429; CompletionModelUnavailableError 500; CompletionModelInternalError 500
chat.create  POST /v1/chat/completions  INVALID; InvalidContentType 400; CompletionModelUnsafeRequestError 400; CompletionModelQuotaError 429; CompletionModelInternalError 500; CompletionModelUnavailableError 503
files.upload  POST /v1/files  INVALID; InvalidContentType 400; BadRequest 413; QuotaExceeded 429; InternalError 500; QuotaExceeded 507
files.list  GET /v1/files
files.retrieve  GET /v1/files/{file_id}  ResourceNotFound 404; ResourceNotFound 410
graphs.create  POST /v1/knowledge-graphs  INVALID; QuotaExceeded 429; InternalError 500
graphs.add-file  POST /v1/knowledge-graphs/{graph_id}/files  INVALID; ResourceNotFound 404; BadRequest 409; QuotaExceeded 429
graphs.query  POST /v1/knowledge-graphs/{graph_id}/query  INVALID; ResourceNotFound 404; QuotaExceeded 429; InternalError 500
applications.create  POST /v1/applications  INVALID; QuotaExceeded 429; InternalError 500
ai-detect.run  POST /v1/tools/ai-detect  INVALID; QuotaExceeded 429; InternalError 500
web-search.run  POST /v1/tools/web-search  INVALID; QuotaExceeded 429; InternalError 500; InternalError 503
medical.comprehend  POST /v1/tools/comprehend/medical
translate.run  POST /v1/translate  INVALID; QuotaExceeded 429; InternalError 500; InternalError 503
vision.analyze  POST /v1/vision/analyze  INVALID; InvalidContentType 400; QuotaExceeded 429; InternalError 500; InternalError 503`

/** §4, §7.3: the method and the path of each operation, and its row of the errors. */
export const operationTable = Object.fromEntries(
  operationRows
    .replaceAll('INVALID', 'BadRequest 400; InvalidInputParameters 400')
    .trim()
    .split('\n')
    .map((line): [string, [route: string, errors?: string]] => {
      const [operation = '', route = '', errors] = line.split('  ')
      return [operation, [route, errors]]
    }),
)

/** `BadRequest 400; QuotaExceeded 429` */
export const pairsOf = (cell: string): [tpe: string, status: number][] =>
  cell.split('; ').map((pair) => [pair.slice(0, -4), Number(pair.slice(-3))])

/** The pairs that §7.3 lists for an operation. */
export const listedPairs = (operation: string): [tpe: string, status: number][] =>
  pairsOf(operationTable[operation]?.[1] ?? '').filter(([name]) => name !== '')

/** The lines of requirements.txt: what a person read in the interface, a condition with its operations each. */
const lines = readFileSync(new URL('requirements.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split('  '))

/** A name in capitals has a line of its own. */
const named = (text: string): string =>
  lines.find(([name, , more]) => name === text && more === undefined)?.[1] ?? text

/** `JSON but pdf.parse` or `jobs.create pdf.parse` */
function operationsIn(text: string): string[] {
  const [some = '', others = ''] = text.split(' but ')
  return named(some)
    .split(' ')
    .filter((operation) => !others.split(' ').includes(operation))
}

/** Level and effect, and the answers, of each requirement, by its id. */
export const requirementsByHand: ReadonlyMap<string, readonly [level: string, answers: string]> =
  new Map(
    lines.flatMap(([level = '', condition, answers, of]) =>
      answers === undefined || of === undefined
        ? []
        : operationsIn(of).map((operation) => [
            `${operation}/${condition}`,
            [level, named(answers)],
          ]),
    ),
  )
