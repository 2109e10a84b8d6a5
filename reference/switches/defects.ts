import { jobDefects } from './job-defects.ts'
import { takenKinds } from './kinds.ts'
import { allowsAnyName, allowsAnyStatus } from './pairs.ts'
import { refusals } from './refusals.ts'

/** Operations with a row `2xx-accepted`. `files.list` stands apart: without an answer to it a run does not begin. */
const answered = [
  'completion.create',
  'files.upload',
  'files.retrieve',
  'graphs.create',
  'graphs.add-file',
  'graphs.query',
  'applications.create',
  'ai-detect.run',
  'web-search.run',
  'translate.run',
  'vision.analyze',
]

/** Defects of requirements about granted requests, and more of refusals. The code that they change asks for them by name. */
const placed: readonly string[] = [
  ...jobDefects,
  ...['200-text', '200-markdown'].flatMap((row) =>
    ['', '#missing', '#status'].map((name) => `pdf.parse/${row}${name}`),
  ),
  ...['', '#bytes', '#constant', '#empty', '#half', '#scrambled', '#text', '#markdown'].map(
    (name) => `pdf.parse/200-content${name}`,
  ),
  ...['files.upload/2xx-retrievable', 'graphs.create/2xx-usable', 'applications.create/2xx-usable'].flatMap((id) =>
    ['', '#gone', '#5xx', '#late'].map((name) => `${id}${name}`),
  ),
  'files.upload/2xx-retrievable#forbidden',
  'graphs.add-file/2xx-other-graph',
  ...['files.list', ...answered].flatMap((operation) => [
    `${operation}/2xx-accepted`,
    `${operation}/2xx-accepted#envelope`,
  ]),
  ...['files.upload', 'graphs.create', 'applications.create'].map((id) => `${id}/2xx-accepted#first-only`),
  'chat.create/200-completion',
  'chat.create/200-completion#no-choices',
  'chat.create/200-completion#empty-choices',
  'chat.create/200-text-parts',
  'chat.create/200-image-parts',
  'chat.create/200-image-url',
  'chat.create/200-tool-choice-auto',
  'chat.create/200-structured-output',
  'chat.create/200-structured-output#schema',
  'chat.create/200-llm-tool',
  'chat.create/200-llm-tool#model',
  'chat.create/200-llm-tool#missing',
  'chat.create/200-query-config',
  'chat.create/200-query-config#bounds',
  ...['#added-400', '#added-404', '#always-409'].map((name) => `graphs.add-file/2xx-accepted${name}`),
  'graphs.add-file/409-already-in-graph#dropped',
  'files.upload/2xx-attached-to-graph',
  'files.upload/2xx-attached-to-graph#refused',
  'files.list/2xx-file-types',
  'files.list/2xx-file-types#5xx',
  'files.list/2xx-file-types#two',
  'files.list/2xx-file-types#two-5xx',
  'files.list/429-quota-exceeded#granted-envelope',
  'graphs.query/2xx-query-config',
  'graphs.query/2xx-query-config#bounds',
  'medical.comprehend/200-entities',
  'medical.comprehend/200-entities#traits',
  'medical.comprehend/200-entities#missing',
  'guardrails/400-blocked#extras',
  'envelope/shape',
  ...[
    '#no-errors',
    '#errors-object',
    '#errors-text',
    '#description-number',
    '#key-number',
    '#item-extras-text',
    '#extras-array',
    '#extras-null',
    '#no-tpe',
    '#tpe-number',
    '#array',
  ].map((name) => `envelope/shape${name}`),
  'envelope/status-tpe-pair',
  'envelope/status-tpe-pair#unknown-name',
  'envelope/status-tpe-pair#file',
  'envelope/content-type',
  'envelope/content-type#success',
  'envelope/content-type#missing',
  'envelope/message-keys',
  'envelope/message-keys#not-found',
  'envelope/message-keys#forbidden',
  'envelope/unknown-path',
  ...['#5xx', '#page', '#empty', '#granted'].map((name) => `envelope/unknown-path${name}`),
  'envelope/unsupported-method',
  ...['#5xx', '#page', '#empty'].map((name) => `envelope/unsupported-method${name}`),
  'envelope/bad-input-no-5xx',
  'envelope/bad-input-no-5xx#text',
]

/** Requests without an answer: nothing comes for a while, the connection is closed, or what comes is no HTTP. */
const lost: readonly string[] = [
  ...answered.map((operation) => `${operation}/2xx-accepted`),
  ...['jobs.create/202-created', 'jobs.retrieve/200-job', 'pdf.parse/200-text', 'pdf.parse/200-markdown'],
  ...['chat.create/200-completion', 'medical.comprehend/200-entities'],
  // Refusals, whose control is granted.
  ...['completion.create/400-empty-prompt', 'jobs.create/400-missing-inputs', 'files.retrieve/404-unknown-file'],
].flatMap((id) => ['#no-answer', '#closed', '#no-http'].map((name) => `${id}${name}`))

/** Refusals after which the server reads what is left of the request as the next one on that connection. */
const spoiling: readonly string[] = [
  'completion.create/400-wrong-content-type',
  'jobs.create/400-malformed-json',
  'files.upload/413-body-too-large',
].map((id) => `${id}#spoils-connection`)

function ofRefusal(id: string): readonly string[] {
  return [id, ...(allowsAnyStatus(id) ? [`${id}#5xx`] : [`${id}#status`]), ...(allowsAnyName(id) ? [] : [`${id}#tpe`])]
}

/**
 * Every defect that the reference can have. A defect is named like the requirement that it breaks, further ones for the
 * same requirement `<id>#<variant>`: `#status` refuses with another status, `#tpe` with another code name of the same,
 * `#takes-<kind>` lets one kind of fault pass, `#ignores-<kind>` leaves one out of account and looks at the rest;
 * `#no-answer`, `#closed` and `#no-http` give no answer, `#spoils-connection` a wrong one to the next request.
 */
export const defects: readonly string[] = [
  ...refusals.flatMap(ofRefusal),
  ...takenKinds,
  ...placed,
  ...lost,
  ...spoiling,
]
