import { takenKinds, operations, refusals } from './kinds.ts'
import { allowsAnyName, allowsAnyStatus } from './pairs.ts'

/** Defects of one requirement by their variants; the first one has none. */
function waysToBreak(id: string, ...variants: readonly string[]): string[] {
  return variants.map((variant) => id + variant)
}

const applications = ['#other-application', '#slow-application', '#failing-application']

/** A requirement that is broken for the jobs of one application alone, or for the job that the target file declares. */
function placesOf(requirement: string): readonly string[] {
  // What was created before the server began can be compared with no creation response.
  const places = requirement === '200-created-at' ? applications : [...applications, '#declared-job']
  return waysToBreak(`jobs.retrieve/${requirement}`, ...places)
}

/** Defects of granted requests about jobs, and further ones of refused creations. */
const ofJobs: readonly string[] = [
  ...waysToBreak('jobs.create/202-created', '', '#id', '#no-id', '#job-status', '#no-job-status', '#created-at'),
  ...waysToBreak('jobs.create/202-created', '#no-created-at', '#later', '#answer-lost', '#second-5xx'),
  'jobs.create/202-created#created-application',
  'jobs.create/202-created#fewer-inputs',
  'jobs.create/409-job-in-progress#preloaded-only',
  ...waysToBreak('jobs.create/202-retrievable', '', '#late'),
  ...waysToBreak('jobs.create/202-required-inputs-only', '', '#5xx'),
  ...waysToBreak('jobs.create/202-any-text', '', '#emoji', '#nul', '#backslash', '#empty', '#blank', '#line-ends'),
  ...waysToBreak('jobs.create/202-any-text', '#digits', '#64-kib'),
  ...waysToBreak('jobs.create/400-malformed-inputs', '#ignores-item-null', '#ignores-item-boolean'),
  ...waysToBreak('jobs.create/400-malformed-inputs', '#ignores-item-number', '#ignores-item-string'),
  ...waysToBreak('jobs.create/400-malformed-inputs', '#ignores-item-array', '#ignores-id-null', '#ignores-id-boolean'),
  ...waysToBreak('jobs.create/400-malformed-inputs', '#ignores-id-number', '#ignores-id-array', '#ignores-id-object'),
  ...waysToBreak('jobs.create/400-malformed-inputs', '#ignores-later-items', '#ignores-later-texts'),
  ...waysToBreak('jobs.create/409-job-in-progress', '#parallel', '#identical-only', '#slow-only', '#plain-only'),
  'jobs.create/409-job-in-progress#as-many-inputs',
  'jobs.create/409-job-in-progress#answered-again',
  // Only in a part of the job's life.
  ...waysToBreak('jobs.create/409-job-in-progress', '#at-once-only', '#later-only', '#unread-only', '#read-only'),
  ...waysToBreak('jobs.create/409-released', '', '#slow', '#after-failed', '#after-third', '#late'),
  'jobs.create/409-released#created',
  'jobs.create/409-per-application',
  ...waysToBreak('jobs.create/409-atomic', '', '#short', '#slow-only'),
  ...waysToBreak('jobs.create/4xx-no-effect', '', '#starts-job', '#blocks', '#unauthorized', '#required-input'),
  ...waysToBreak('jobs.create/4xx-no-effect', '#other-key', '#forbidden', '#content-type', '#locks', '#later'),
  'jobs.create/4xx-no-effect#unknown',
  ...waysToBreak('jobs.retrieve/200-job', '', '#updated-at', '#updated-at-blank', '#updated-at-offset'),
  ...waysToBreak('jobs.retrieve/200-job', '#updated-at-colon', '#completed-at', '#data', '#data-array', '#error'),
  ...waysToBreak('jobs.retrieve/200-job', '#null-members', '#status', '#ended-status', '#id', '#no-application-id'),
  ...waysToBreak('jobs.retrieve/200-job', '#no-created-at', '#second-5xx'),
  ...waysToBreak('jobs.retrieve/200-identity', '', '#id', '#one-id', '#newest-job', '#newest-only'),
  ...waysToBreak('jobs.retrieve/200-created-at', '', '#drifting', '#same-for-all', '#backwards', '#newest-job'),
  ...['200-job', '200-identity', '200-created-at', '200-stable'].flatMap((requirement) => placesOf(requirement)),
  ...waysToBreak('jobs.retrieve/200-outcome', '', '#slow', '#failing'),
  ...waysToBreak('jobs.retrieve/200-failed', '', '#error'),
  ...waysToBreak('jobs.retrieve/200-stable', '', '#status', '#newest-status'),
]

/** Operations with a requirement `2xx-accepted`. `files.list` stands apart: without an answer to it a run does not begin. */
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

/** Things that servers trip over in a body that is JSON, and the operations that do. */
const trippedOver: Readonly<Record<string, readonly string[]>> = {
  nul: ['graphs.query', 'applications.create', 'ai-detect.run'],
  'line-end': ['chat.create', 'web-search.run'],
  surrogate: ['translate.run', 'graphs.create', 'jobs.create'],
  long: ['graphs.create', 'vision.analyze'],
  'empty-text': ['vision.analyze', 'graphs.add-file', 'applications.create'],
  blank: ['translate.run', 'ai-detect.run'],
  'empty-array': ['chat.create', 'vision.analyze'],
  'empty-object': ['chat.create', 'applications.create'],
  negative: ['completion.create'],
  zero: ['completion.create'],
  repeated: ['chat.create', 'vision.analyze'],
  huge: ['completion.create', 'graphs.query'],
  infinite: ['completion.create', 'graphs.query'],
  fraction: ['completion.create'],
  'member-names': ['pdf.parse', 'web-search.run'],
  nested: ['medical.comprehend', 'graphs.add-file'],
  'later-item': ['vision.analyze'],
  'later-absent': ['vision.analyze'],
  'unknown-id': ['graphs.add-file', 'vision.analyze'],
  'unknown-word': ['medical.comprehend', 'chat.create'],
  alone: ['chat.create'],
  'byte-order-mark': ['translate.run', 'graphs.query'],
  'no-content-type': ['web-search.run', 'applications.create'],
  'no-members': ['translate.run', 'medical.comprehend'],
}

/** Servers that break on bad input which no other requirement names. */
const breaking: readonly string[] = [
  ...operations.json.map((operation) => `${operation}/bad-input-no-5xx`),
  'completion.create/bad-input-no-5xx#coercible',
  'completion.create/bad-input-no-5xx#null-member',
  'medical.comprehend/bad-input-no-5xx#null-body',
  'translate.run/bad-input-no-5xx#empty-body',
  'web-search.run/bad-input-no-5xx#absent-member',
  'applications.create/bad-input-no-5xx#deep-member',
  ...Object.entries(trippedOver).flatMap(([kind, names]) => names.map((name) => `${name}/bad-input-no-5xx#${kind}`)),
]

/** Defects of requirements about granted requests, and more of refusals. The code that they change asks for them by name. */
const placed: readonly string[] = [
  ...ofJobs,
  ...waysToBreak('pdf.parse/200-text', '', '#missing', '#status', '#spelling'),
  'pdf.parse/400-missing-format#remembered',
  ...waysToBreak('pdf.parse/200-markdown', '', '#missing', '#status'),
  ...waysToBreak('pdf.parse/200-content', '', '#bytes', '#constant', '#empty', '#half', '#scrambled', '#text'),
  ...waysToBreak('pdf.parse/200-content', '#markdown', '#numbers', '#at-once'),
  ...waysToBreak('files.upload/2xx-retrievable', '', '#gone', '#5xx', '#late'),
  ...waysToBreak('graphs.create/2xx-usable', '', '#gone', '#5xx', '#late'),
  ...waysToBreak('applications.create/2xx-usable', '', '#gone', '#5xx', '#late'),
  ...waysToBreak('files.upload/2xx-retrievable', '#forbidden', '#last-only', '#at-once', '#in-graph'),
  ...waysToBreak('graphs.create/2xx-usable', '#additions', '#last-only', '#at-once', '#asked-twice'),
  ...waysToBreak('applications.create/2xx-usable', '#last-only', '#at-once', '#asked-twice'),
  ...['files.upload', 'graphs.create', 'applications.create'].flatMap((id) =>
    waysToBreak(`${id}/2xx-own-id`, '', '#at-once'),
  ),
  ...['graphs.create', 'graphs.add-file', 'applications.create'].flatMap((id) =>
    waysToBreak(`${id}/4xx-no-effect`, '', '#forbidden', '#content-type'),
  ),
  'applications.create/4xx-no-effect#blueprint',
  ...['graphs.create/400-atomic', 'applications.create/400-atomic', 'graphs.add-file/409-atomic'],
  ...[
    'graphs.create/400-duplicate-name',
    'applications.create/400-duplicate-name',
    'graphs.add-file/409-already-in-graph',
  ].flatMap((id) => waysToBreak(id, '#third', '#latest-only', '#few-known')),
  'graphs.create/400-duplicate-name#used',
  ...['files.list/2xx-accepted#many', 'graphs.add-file/2xx-accepted#many'],
  ...waysToBreak('graphs.add-file/2xx-other-graph', '', '#moves'),
  ...['files.list', ...answered].flatMap((operation) => waysToBreak(`${operation}/2xx-accepted`, '', '#envelope')),
  ...['files.upload', 'graphs.create', 'applications.create'].map((id) => `${id}/2xx-accepted#first-only`),
  ...['graphs.create', 'applications.create'].map((id) => `${id}/2xx-accepted#later-400`),
  ...['ai-detect.run', 'translate.run', 'vision.analyze'].map((id) => `${id}/2xx-accepted#once`),
  'ai-detect.run/2xx-accepted#after-refusal',
  ...waysToBreak('chat.create/200-completion', '', '#no-choices', '#empty-choices'),
  ...waysToBreak('chat.create/200-text-parts', '', '#echoed'),
  ...waysToBreak('chat.create/200-image-parts', '', '#echoed'),
  ...waysToBreak('chat.create/200-image-url', '', '#echoed'),
  ...waysToBreak('chat.create/200-tool-choice-auto', '', '#parts'),
  ...waysToBreak('chat.create/200-structured-output', '', '#schema'),
  ...waysToBreak('chat.create/200-llm-tool', '', '#model', '#missing'),
  ...waysToBreak('chat.create/200-query-config', '', '#bounds', '#parts'),
  ...waysToBreak('graphs.add-file/2xx-accepted', '#added-400', '#added-404', '#always-409', '#one-file'),
  ...waysToBreak('graphs.add-file/409-already-in-graph', '#dropped'),
  ...waysToBreak('files.upload/2xx-attached-to-graph', '', '#refused', '#unknown-5xx'),
  ...waysToBreak('files.list/2xx-file-types', '', '#5xx', '#two', '#two-5xx', '#unknown-5xx', '#none-5xx'),
  ...waysToBreak('files.list/429-quota-exceeded', '#granted-envelope'),
  ...waysToBreak('graphs.query/2xx-query-config', '', '#bounds'),
  ...waysToBreak('medical.comprehend/200-entities', '', '#traits', '#missing'),
  ...waysToBreak('guardrails/400-blocked', '#extras'),
  ...waysToBreak('envelope/shape', '', '#no-errors', '#errors-object', '#errors-text', '#description-number'),
  ...waysToBreak('envelope/shape', '#key-number', '#item-extras-text', '#extras-array', '#extras-null', '#no-tpe'),
  ...waysToBreak('envelope/shape', '#tpe-number', '#array'),
  ...waysToBreak('envelope/status-tpe-pair', '', '#unknown-name', '#file'),
  ...waysToBreak('envelope/content-type', '', '#success', '#missing'),
  ...waysToBreak('envelope/message-keys', '', '#not-found', '#forbidden'),
  ...waysToBreak('envelope/unknown-path', '', '#5xx', '#page', '#empty', '#granted'),
  ...waysToBreak('envelope/unsupported-method', '', '#5xx', '#page', '#empty'),
  ...waysToBreak('envelope/bad-input-no-5xx', '', '#text'),
  ...waysToBreak('envelope/large-body', '', '#one-path', '#upload', '#closed'),
  ...waysToBreak('envelope/charset-parameter', '', '#one-path', '#creations'),
  ...waysToBreak('graphs.query/2xx-query-config', '#together', '#empty', '#defaults'),
  ...waysToBreak('chat.create/200-query-config', '#together', '#absent'),
  ...waysToBreak('chat.create/200-text-parts', '#two', '#type-first'),
  ...['pdf.parse/200-content#first', 'pdf.parse/200-content#first-page', 'pdf.parse/200-content#size'],
]

/** Requests without an answer: nothing comes for a while, the connection is closed, or what comes is no HTTP. */
const lost: readonly string[] = [
  ...answered.map((operation) => `${operation}/2xx-accepted`),
  ...['jobs.create/202-created', 'jobs.retrieve/200-job', 'pdf.parse/200-text', 'pdf.parse/200-markdown'],
  ...['chat.create/200-completion', 'medical.comprehend/200-entities'],
  // Refusals, whose control is granted.
  ...['completion.create/400-empty-prompt', 'jobs.create/400-missing-inputs', 'files.retrieve/404-unknown-file'],
].flatMap((id) => waysToBreak(id, '#no-answer', '#closed', '#no-http'))

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
  ...breaking,
  ...lost,
  ...spoiling,
]
