/** The target file as it is written: its schema, and in its types what fits it. The build adds the operations, and examples. */
import { catalogue } from '../../catalogue/catalogue.ts'
import { type DeprecatedId, type OperationId, operations } from '../../catalogue/operations.ts'
import type { Absence } from '../report/index.ts'
import { defined, type Fitting, object, oneOf, type Schema, text } from '../../schemas/closed.ts'
import { anything, byName, filled, formOf, headers, hookRequests, key } from './values.ts'
import { keyPerOperation, list, member, number, objectOr, queryValues } from './values.ts'
import { rawBody, texts, valueDefinitions, whole } from './values.ts'
import type { ContentValue, HeaderValues, HookRequestValue, SetupRequestValue } from './values.ts'

export type * from './values.ts'

const tenant = { 'x-tenant': { env: 'TENANT' } }

/** Answers requests in the same process: for example the `fetch` of an application. */
export type FetchHandler = (request: Request) => Response | Promise<Response>

/** An operation's valid request: which of these members it has follows from its record. */
export interface OperationValue {
  /** One of the paths that the interface shows for it (§4.4). */
  readonly path?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: HeaderValues
  readonly body?: unknown
  /** The file that an upload sends. */
  readonly content?: ContentValue
  readonly contentType?: string
  /** Extension included. */
  readonly filename?: string
  /** Role to JSON Pointer into `body`; `id` into the response. */
  readonly fields?: Readonly<Record<string, string>>
  /** Sent at the end of the run, once for each object that it created. */
  readonly cleanup?: readonly HookRequestValue[]
}

type OperationValues = Readonly<
  Partial<Record<Exclude<OperationId, DeprecatedId>, OperationValue | 'not-served'>>
> & {
  readonly [id in DeprecatedId]?: OperationValue | Absence
} & {
  readonly guardrails?: 'not-served'
  readonly general?: 'not-served'
  readonly '*'?: 'not-served'
}

const switched = (down: boolean) => [{ method: 'POST', url: '/admin/search', body: { down } }]
const scenarioForm = object(
  {},
  {
    operation: member(
      'Required for guardrails/* and general/*: the operation whose valid request is changed.',
      oneOf<OperationId>(...operations.map(({ id }) => id)),
    ),
    key: member('Sent in place of the full key.', key, { env: 'KEY_OF_FULL_ACCOUNT' }),
    headers: member('Sent besides.', headers, tenant),
    params: member('Path parameters.', texts, { file_id: '<file of another account>' }),
    query: member('Query members, besides.', texts, { file_types: 'zip' }),
    body: member('A JSON body in place of the valid one.', anything, {
      text: 'Hello',
      source: 'en',
      target: 'xx',
    }),
    merge: member('JSON Merge Patch (RFC 7396) to the valid body.', anything, {
      text: '<a text over the limit>',
    }),
    raw: member('Replaces the body by bytes.', rawBody, {
      text: 'Hello',
      contentType: 'application/x-unsupported',
    }),
    repeat: member(
      'Send up to that many, concurrently, until the condition shows.',
      whole(1, 100_000),
      100,
    ),
    before: member('Requests sent before.', hookRequests, switched(true)),
    after: member('Requests sent after, whatever happened.', hookRequests, switched(false)),
  },
)
/** A change to the operation's valid request that brings a condition about. */
export type ScenarioValue = Readonly<Fitting<typeof scenarioForm>>

const inputForm = object({
  id: member('Name of the application input.', filled, 'topic'),
  value: member('Texts.', list(text), ['tea']),
})
/** An item of `inputs` of a job (§2.5); further members are the application's own. */
type ApplicationInput = Fitting<typeof inputForm> & { readonly [member: string]: unknown }

const applicationForm = object(
  {
    id: member('Id of the application.', filled, '<application id>'),
    inputs: member(
      'Inputs with which a job is accepted.',
      list<ApplicationInput>({ ...inputForm, additionalProperties: true }),
      [{ id: '<input id>', value: ['tea'] }],
    ),
  },
  {
    requiredInputs: member(
      'Ids of those inputs without which a job is refused.',
      list(filled, { minItems: 1, uniqueItems: true }),
      ['topic'],
    ),
  },
)
/** An application on which jobs may be created, and inputs that it accepts. */
export type ApplicationValue = Readonly<Fitting<typeof applicationForm>>
const application = defined<ApplicationValue>('application')

const pdfForms = 'the id of a file or {"upload": "path"}'
const upload = object({
  upload: member('Path of a PDF that the suite uploads.', filled, 'sample.pdf'),
})
/** The id of a file, or the path of one to upload. */
export type PdfValue = string | Readonly<Fitting<typeof upload>>
const pdfForm: Schema<PdfValue> = objectOr(pdfForms, { title: pdfForms, ...upload }, filled)
const pdf = defined<PdfValue>('pdf')

const resources = object(
  {},
  {
    application: member('The application that jobs are created on.', application),
    otherApplication: member(
      'A second application: a job of the first must not block it.',
      application,
    ),
    slowApplication: member(
      'An application whose job stays in progress long enough for two more requests (over a network 1 s or more).',
      application,
    ),
    failingApplication: member('An application whose job ends as failed.', application),
    job: member('Id of an existing job; lets --read-only judge jobs.retrieve.', filled),
    pdfFile: member('A PDF that can be parsed.', pdf),
    pdfText: member(
      'Words that the declared pdfFile is known to hold, in their order: at least five.',
      filled,
    ),
    corruptedPdfFile: member('A corrupted PDF.', pdf),
    encryptedPdfFile: member('A PDF that is protected by a password.', pdf),
    oversizedPdfFile: member('A PDF over the size limit.', pdf),
    file: member('Id of an existing file.', filled),
    deletedFile: member('Id of a file that was deleted or has expired.', filled),
    graph: member('Id of an existing knowledge graph.', filled),
  },
)
export type ResourceValues = Readonly<Fitting<typeof resources>>

const day = 86_400_000
const limits = object(
  {},
  {
    concurrency: member('Most requests under way at once.', whole(1, 1000), 2),
    requestsPerSecond: member('Most requests a second; 0: no limit.', number({ minimum: 0 }), 10),
    timeoutMs: member('Longest time for one whole exchange, in ms.', whole(1, day)),
    jobTimeoutMs: member('Longest wait for a job to end, in ms.', whole(1, day)),
    settleMs: member(
      'How long what was just created may take until it can be used, in ms: a job read, an upload retrieved or added, a graph or application used.',
      whole(0, 3_600_000),
    ),
    maxAnswerBytes: member(
      'Longest answer that is read, in bytes, decoded.',
      whole(1024, 268_435_456),
    ),
    maxGenerations: member('Most requests that generate something; 0: no limit.', whole(0), 50),
    credentialProbes: member(
      'few: on most operations one wrong key of each kind, for targets that lock accounts out.',
      oneOf('all', 'few'),
      'few',
    ),
  },
)
export type Limits = Readonly<Required<Fitting<typeof limits>>>

const pem = (description: string, example: string): Schema<string> =>
  member(description, filled, example)
const tls = object(
  {},
  {
    ca: pem('PEM file of the certificate authorities to trust.', 'ca.pem'),
    cert: pem('PEM file of the client certificate.', 'client.pem'),
    key: pem('PEM file of the client key.', 'client-key.pem'),
  },
)
const keys = object(
  {},
  {
    full: member(
      'A key with all rights. -k wins over it; without either CONFORM_API_KEY is used.',
      key,
    ),
    expired: member('A key that was valid and has expired.', key),
    restricted: member(
      'A valid key without permission, or one for each operation id.',
      keyPerOperation,
    ),
  },
)

/** Ids that a scenario may have: `envelope/` requirements are judged on every response. */
const conditions: readonly string[] = catalogue
  .filter(({ operation }) => operation !== 'envelope')
  .map(({ id }) => id)
const setupExample = {
  method: 'POST',
  url: '/admin/applications',
  body: { name: 'conform' },
  save: { application: '/id' },
}
const file = object(
  {},
  {
    $schema: member(
      'Path of this schema, for the editor.',
      text,
      './node_modules/ai-content-conformance/schemas/target.schema.json',
    ),
    name: member(
      'How reports call the target; its host if it is not given.',
      filled,
      'Example staging',
    ),
    baseUrl: member(
      'http or https, may have a path; neither credentials, query nor fragment. A base URL on the command line wins over it.',
      filled,
      'https://staging.example.com/base',
    ),
    headers: member('Sent with every request.', headers, tenant),
    query: member('Query members sent with every request.', queryValues, { version: '2' }),
    tls: member(
      'Certificates for https.',
      formOf<Fitting<typeof tls>>({ ...tls, dependentRequired: { cert: ['key'], key: ['cert'] } }),
      { ca: 'ca.pem', cert: 'client.pem', key: 'client-key.pem' },
    ),
    keys: member('The keys of the target. Better than a key itself: {"env": "NAME"}.', keys, {
      full: { env: 'CONFORM_API_KEY' },
    }),
    setup: member(
      'Requests that prepare the target, sent once a run before anything is judged.',
      list(defined<SetupRequestValue>('setupRequest')),
      [setupExample],
    ),
    teardown: member('Requests sent once a run at its end, whatever happened.', hookRequests, [
      { method: 'DELETE', url: '/admin/applications/{application}' },
    ]),
    resources: member(
      'Objects that exist at the target; {name} stands for what setup saves.',
      resources,
      {
        application: { id: '<application id>', inputs: [{ id: '<input id>', value: ['tea'] }] },
        graph: '<graph id>',
      },
    ),
    operations: member<OperationValues>(
      'What each operation of which the interface shows no payload takes: a valid request, and what its members mean.',
      formOf<OperationValues>(object({})),
    ),
    scenarios: member(
      'By requirement id: how to bring about a condition that no client can cause by itself. Each is a change to the valid request of the operation.',
      byName(defined<ScenarioValue>('scenario'), oneOf(...conditions)),
    ),
    unreachable: member(
      'By requirement id or pattern (* matches any characters): why the condition cannot be brought about at this target.',
      byName(member('The reason; it is in every report and in the certificate.', filled)),
    ),
    limits: member('How hard the target may be used.', limits, {
      concurrency: 2,
      requestsPerSecond: 10,
    }),
  },
)

/** The server that is judged, and what the suite may use there. */
export interface TargetFile extends Readonly<Fitting<typeof file>> {
  /** Is judged in place of a base URL, in the same process; in modules only. */
  readonly fetch?: FetchHandler
}

export const targetFileForm: Schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Target file',
  description:
    'Says which server is judged and what the suite may use there. Relative paths are relative to this file.',
  ...file,
  $defs: {
    ...valueDefinitions,
    application: applicationForm,
    pdf: pdfForm,
    scenario: member('A change to the valid request.', scenarioForm),
  },
}
