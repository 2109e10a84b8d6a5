/** The target file as it is written: its schema, and in its types what fits it. The build adds the operations, and examples. */
import { catalogue } from '../../catalogue/catalogue.ts'
import { type DeprecatedId, type OperationId, operations } from '../../catalogue/operations.ts'
import type { Absence } from '../report/index.ts'
import { defined, type Fitting, object, oneOf, type Schema, text } from '../../schemas/closed.ts'
import { anything, byName, filled, formOf, headers, hookRequests, key } from './values.ts'
import { keyPerOperation, list, member, number, pointer, queryValues, resources } from './values.ts'
import { rawBody, texts, valueDefinitions, whole } from './values.ts'
import type { ContentValue, SetupRequestValue } from './values.ts'

export type * from './values.ts'

const tenant = { 'x-tenant': { env: 'TENANT' } }

/** Answers requests in the same process: for example the `fetch` of an application. */
export type FetchHandler = (request: Request) => Response | Promise<Response>

/** Every member that a valid request may have. The build picks those of each operation, with its paths and roles. */
export const operationForm = object(
  {},
  {
    path: text,
    query: member('Query members sent with each request of this operation.', texts, {
      version: '2',
    }),
    headers: member('Headers sent with each request of this operation.', headers, tenant),
    body: member('A JSON body that is known to succeed.', anything),
    content: member(
      'The bytes of a file that is known to be accepted.',
      defined<ContentValue>('content'),
      { text: 'Tea is a drink.' },
    ),
    contentType: member(
      'Media type of the file; text/plain for text, application/octet-stream for base64 if it is not given.',
      filled,
      'text/plain',
    ),
    filename: member(
      'Name of the file, with its extension; a suffix is put to it.',
      filled,
      'tea.txt',
    ),
    fields: byName(pointer),
    cleanup: member(
      'Requests sent at the end of the run, once for each object that it created; {id} is filled in.',
      hookRequests,
      [{ method: 'DELETE', url: '/admin/objects/{id}' }],
    ),
  },
)
/** An operation's valid request: which of these members it has follows from its record. */
export type OperationValue = Readonly<Fitting<typeof operationForm>>

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
    scenario: member('A change to the valid request.', scenarioForm),
  },
}
