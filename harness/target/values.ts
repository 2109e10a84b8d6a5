/** Values that stand at several places of a target file: their schema, and in its type what they are. */
import { type OperationId, operations } from '../../catalogue/operations.ts'
import {
  defined,
  described,
  type Fitting,
  object,
  type Schema,
  text,
} from '../../schemas/closed.ts'

/** A member of the target file: what it is for, its form, and an example if the place has none of its own. */
export function member<T>(
  description: string,
  form: Schema<T>,
  ...examples: readonly unknown[]
): Schema<T> {
  return { ...described(description, form), ...(examples.length > 0 && { examples }) }
}

type Keywords = Readonly<Record<string, unknown>>
/** A schema whose keywords do not tell what fits it. */
export const formOf = <T>(keywords: Keywords): Schema<T> => keywords

export const anything: Schema = {}
export const filled: Schema<string> = { type: 'string', minLength: 1 }
export const list = <T>(items: Schema<T>, limits: Keywords = {}): Schema<readonly T[]> => ({
  ...{ type: 'array', items },
  ...limits,
})
export const number = (limits: Keywords): Schema<number> => ({ type: 'number', ...limits })
/** A whole number of that range; without `maximum` of any size. */
export const whole = (minimum: number, maximum?: number): Schema<number> => ({
  ...{ type: 'integer', minimum },
  ...(maximum !== undefined && { maximum }),
})

/** A text of that form; `title` is what a refusal calls it. */
function matching(pattern: string, title?: string): Schema<string> {
  return { ...(title !== undefined && { title }), type: 'string', pattern }
}

/** Values by names that the author of the file gives. */
export function byName<T>(
  value: Schema<T>,
  names?: Schema<string>,
): Schema<Readonly<Record<string, T>>> {
  return { type: 'object', ...(names && { propertyNames: names }), additionalProperties: value }
}

/** An object of one form, and whatever is no object of another: so that a refusal speaks of the one that was meant. */
export function objectOr<T, U>(
  title: string,
  asObject: Schema<T>,
  otherwise: Schema<U>,
): Schema<T | U> {
  return { title, if: { type: 'object' }, then: asObject, else: { title, ...otherwise } }
}

/** Exactly one of these members. */
const oneMemberOf = (...names: readonly string[]): Keywords => ({
  oneOf: names.map((name) => ({ required: [name] })),
})

const variable = member(
  'Name of an environment variable.',
  matching('^[A-Za-z_][A-Za-z0-9_]*$'),
  'CONFORM_API_KEY',
)
const textOrVariable = 'a string or {"env": "NAME"}'

const env = { title: textOrVariable, ...object({ env: variable }) }
/** The value of an environment variable; one that is not set is an error that names it. */
interface FromEnv {
  readonly env: string
}

const headerValue: Schema<HeaderValue> = objectOr(textOrVariable, defined<FromEnv>('env'), text)
export type HeaderValue = string | FromEnv

const headerName = matching("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", 'a header name')
const headersByName = member(
  'Headers by name.',
  byName(defined<HeaderValue>('headerValue'), headerName),
)
/** Header names and values. */
export type HeaderValues = Fitting<typeof headersByName>
export const headers = defined<HeaderValues>('headers')
export const queryValues = byName(defined<HeaderValue>('headerValue'))
export const texts = defined<Readonly<Record<string, string>>>('texts')

const keyForms =
  'a string, {"env": "NAME"}, {"file": "path"} or {"command": ["program", "argument"], "ttlSeconds": 300}'
const keySources = object(
  {},
  {
    env: variable,
    file: member('Path of a file that holds the key.', filled, 'key.jwt'),
    command: member(
      'A program and its arguments that print the key; no shell.',
      list(text, { minItems: 1 }),
      ['vault', 'read', '-field=key', 'secret/staging'],
    ),
    ttlSeconds: member(
      'The command is asked again when its answer is older than this; without it, once.',
      number({ exclusiveMinimum: 0 }),
      300,
    ),
  },
)
const fromElsewhere = formOf<FromEnv | FromFile | FromCommand>({
  ...{ title: keyForms, ...keySources, ...oneMemberOf('env', 'file', 'command') },
  dependentRequired: { ttlSeconds: ['command'] },
})
interface FromFile {
  readonly file: string
}
/** A key that a program prints. */
export type FromCommand = Pick<Required<Fitting<typeof keySources>>, 'command'> &
  Pick<Fitting<typeof keySources>, 'ttlSeconds'>
export type KeyFunction = () => string | Promise<string>
/** A key, or where it comes from; functions in modules only. */
export type KeyValue = string | FromEnv | FromFile | FromCommand | KeyFunction
const keyValue: Schema<KeyValue> = objectOr(keyForms, fromElsewhere, filled)
export const key = defined<KeyValue>('key')
/** One key for all operations, or one for each. */
export type KeyPerOperation = Readonly<Partial<Record<OperationId, KeyValue>>>
const ofOperation = (id: OperationId): Schema<KeyValue> =>
  member(`A valid key without permission for ${id}.`, key, { env: 'CONFORM_KEY_RESTRICTED' })
export const keyPerOperation = formOf<KeyValue | KeyPerOperation>({
  if: {
    type: 'object',
    not: { anyOf: ['env', 'file', 'command'].map((name) => ({ required: [name] })) },
  },
  then: object({}, Object.fromEntries(operations.map(({ id }) => [id, ofOperation(id)]))),
  else: key,
})

const jsonPointer = matching('^(/([^~/]|~[01])*)+$', 'a JSON Pointer like /prompt')
export const pointer = defined<string>('pointer')

const base64 = matching('^[A-Za-z0-9+/\\s]*={0,2}\\s*$', 'text in base64')
const bytes = {
  base64: member('Bytes in base64.', base64, 'SGVsbG8='),
  text: member('Sent as UTF-8.', text, 'Hello'),
}
const bytesForms = '{"base64": "..."} or {"text": "..."}'
const oneOfBytes = oneMemberOf('base64', 'text')
export type ContentValue = { readonly base64: string } | { readonly text: string }
const contentOfFile = formOf<ContentValue>({
  title: bytesForms,
  ...object({}, bytes),
  ...oneOfBytes,
})
const contentType = member('Content-Type of the request.', filled, 'text/plain')
/** Bytes in place of a body. */
export const rawBody = formOf<ContentValue & { readonly contentType?: string }>({
  ...{
    title: `${bytesForms}, with "contentType"`,
    ...object({}, { ...bytes, contentType }),
    ...oneOfBytes,
  },
})

const method = member('HTTP method.', matching('^[A-Za-z]+$'), 'POST')
const hookHeaders = member('Headers of this request.', headers, { 'x-tenant': { env: 'TENANT' } })
const hookUrl =
  'Relative to baseUrl, or whole. The full key goes with it on the origin of baseUrl only.'
const hookRequest = object(
  { method, url: member(hookUrl, filled, '/admin/search') },
  { headers: hookHeaders, body: member('Sent as JSON.', anything, { down: true }) },
)
/** A request of the target's own: `before` and `after` of a scenario, `cleanup` of what a run created, `setup` and `teardown`. */
export type HookRequestValue = Readonly<Fitting<typeof hookRequest>>
export const hookRequests = defined<readonly HookRequestValue[]>('hookRequests')

const savedName = '{name} stands for what an earlier request saved.'
const setupRequest = object(
  {
    method,
    url: member(`Relative to baseUrl, or absolute; ${savedName}`, filled, '/admin/search'),
  },
  {
    headers: hookHeaders,
    body: member(`Sent as JSON; ${savedName}`, anything, { name: 'conform' }),
    save: member(
      'What the response is kept for: a JSON Pointer into it for each name.',
      byName(pointer, matching('^\\w+$', 'a name of letters, digits and _')),
      { application: '/id' },
    ),
  },
)
/** A request that prepares the target for a run, and what its response is kept for. */
export type SetupRequestValue = Readonly<Fitting<typeof setupRequest>>

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

export const resources = object(
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

/** The definitions of these values. */
export const valueDefinitions: Readonly<Record<string, Schema>> = {
  env,
  headerValue,
  headers: headersByName,
  texts: byName(text),
  key: keyValue,
  pointer: jsonPointer,
  content: contentOfFile,
  hookRequest: member('A request of your own.', hookRequest),
  setupRequest: member('A request that prepares the target.', setupRequest),
  hookRequests: list(defined<HookRequestValue>('hookRequest')),
  application: applicationForm,
  pdf: pdfForm,
}
