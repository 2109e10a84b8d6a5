import { basename } from 'node:path'
import { isOperationId, type OperationId } from '../../catalogue/operations.ts'
import { UserError } from '../user-error.ts'
import type { HeaderLine } from '../http/index.ts'
import { isAuthorization, isSecretName, shortestKey } from '../recording/index.ts'
import { isAbsoluteUrl, headerValueProblem } from './http-values.ts'
import { type Context, note, placed, readEnv, labels, resolveKey } from './resolve-key.ts'
import type {
  ContentValue,
  HookRequest,
  HookRequestValue,
  HeaderValue,
  HeaderValues,
  OperationBinding,
  OperationValue,
  Scenario,
  ScenarioValue,
  SetupRequest,
  SetupRequestValue,
  UploadContent,
} from './model.ts'
import { fieldsOf } from './roles.ts'

/** Drops the members that are undefined. */
export function compact<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T
}

export function resolveHeaders(
  context: Context,
  member: string,
  headers: HeaderValues = {},
): HeaderLine[] {
  return namedHeaders(context, headers, (name) => placed(context, `${member}.${name}`))
}

/** @param placeOf how an error calls the header of that name */
export function namedHeaders(
  context: Context,
  headers: HeaderValues,
  placeOf: (name: string) => string,
): HeaderLine[] {
  return Object.entries(headers).map(([name, declared]) => {
    const at = placeOf(name)
    const value = typeof declared === 'string' ? declared : readEnv(context, declared.env, at)
    const problem = headerValueProblem(value)
    if (problem !== undefined) throw new UserError(`${at} ${problem}`)
    if (isAuthorization(name)) noteCredentials(context, at, value, declared)
    else if (isSecretName(name)) noteSecret(context, at, value, declared)
    else if (typeof declared === 'object') context.hidden.push({ value, label: `$${declared.env}` })
    return { name, value }
  })
}

/** The value is a secret; of a cookie also each of its values by itself, which a target may repeat. */
function noteSecret(context: Context, member: string, value: string, declared: HeaderValue): void {
  note(context, member, {
    value,
    label: typeof declared === 'object' ? `$${declared.env}` : labels.other,
  })
  if (!/cookie$/i.test(member)) return
  for (const part of value.split(/;\s*/)) {
    const single = part.slice(part.indexOf('=') + 1)
    if (single !== value && single.length >= shortestKey)
      context.secrets.push({ value: single, label: labels.other })
  }
}

/** Query members of every request; the name of one may tell that it is a secret. */
export function resolveQuery(context: Context, query: HeaderValues = {}): Record<string, string> {
  return Object.fromEntries(
    resolveHeaders(context, 'query', query).map(({ name, value }) => [name, value]),
  )
}

/** Notes a credential as secret: what follows the scheme, not the scheme. */
function noteCredentials(
  context: Context,
  member: string,
  value: string,
  declared: HeaderValue,
): void {
  const [, scheme, credentials] = /^(\S+) (.+)$/.exec(value) ?? []
  const name = typeof declared === 'object' ? declared.env : undefined
  if (scheme === undefined || credentials === undefined) {
    note(context, member, { value, label: name === undefined ? labels.other : `$${name}` })
  } else {
    note(context, member, {
      value: credentials,
      label: name === undefined ? labels.other : `\${${name}#* }`,
    })
  }
}

export function resolveHookRequests(
  context: Context,
  member: string,
  requests: readonly HookRequestValue[] = [],
): HookRequest[] {
  return requests.map(({ method, url, headers, body }, at) => {
    const whole = isAbsoluteUrl(url) ? url : `${context.baseUrl}/${url.replace(/^\/+/, '')}`
    const ownAuthorization = Object.keys(headers ?? {}).some(
      (name) => name.toLowerCase() === 'authorization',
    )
    return {
      method: method.toUpperCase(),
      url: whole,
      headers: resolveHeaders(context, `${member}[${at}].headers`, headers),
      ...(body !== undefined && { body }),
      withKey: !ownAuthorization && new URL(whole).origin === new URL(context.baseUrl).origin,
    }
  })
}

export function resolveSetup(
  context: Context,
  requests: readonly SetupRequestValue[] = [],
): SetupRequest[] {
  return resolveHookRequests(context, 'setup', requests).map((request, at) => ({
    ...request,
    save: requests[at]?.save ?? {},
  }))
}

function bytesOf(content: ContentValue): Uint8Array {
  return new Uint8Array(
    'text' in content ? Buffer.from(content.text) : Buffer.from(content.base64, 'base64'),
  )
}

function uploadContent({
  content,
  contentType,
  filename,
}: OperationValue): UploadContent | undefined {
  if (content === undefined) return undefined
  const isText = 'text' in content
  return {
    bytes: bytesOf(content),
    contentType: contentType ?? (isText ? 'text/plain' : 'application/octet-stream'),
    filename: basename(filename ?? (isText ? 'conform.txt' : 'conform.bin')),
  }
}

export function resolveOperation(
  context: Context,
  id: OperationId,
  value: OperationValue,
): OperationBinding {
  const { path, query, headers, body, cleanup } = value
  return compact<OperationBinding>({
    path,
    query: query ?? {},
    headers: resolveHeaders(context, `operations.${id}.headers`, headers),
    body,
    content: uploadContent(value),
    fields: fieldsOf(id, value),
    cleanup: resolveHookRequests(context, `operations.${id}.cleanup`, cleanup),
  })
}

export async function resolveScenario(
  context: Context,
  id: string,
  value: ScenarioValue,
): Promise<Scenario> {
  const { key, headers, params, query, body, merge, raw, repeat, before, after } = value
  const member = `scenarios.${id}`
  const area = id.slice(0, id.indexOf('/'))
  const operation = isOperationId(area) ? area : value.operation
  if (operation === undefined) throw new UserError(`${member}.operation is missing`)
  return compact<Scenario>({
    operation,
    key:
      key === undefined ? undefined : await resolveKey(context, `${member}.key`, key, labels.other),
    headers: resolveHeaders(context, `${member}.headers`, headers),
    params: params ?? {},
    query: query ?? {},
    body,
    merge,
    raw: raw && {
      bytes: bytesOf(raw),
      ...(raw.contentType !== undefined && { contentType: raw.contentType }),
    },
    repeat,
    before: resolveHookRequests(context, `${member}.before`, before),
    after: resolveHookRequests(context, `${member}.after`, after),
  })
}
