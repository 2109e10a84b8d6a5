/** Resolves each part of a target file, and checks what the schema cannot. */
import { basename } from 'node:path'
import { isRequirementId, requirementOf } from '../../catalogue/catalogue.ts'
import { isOperationId, type OperationId, operation } from '../../catalogue/operations.ts'
import { getAt } from '../../schemas/json.ts'
import type { HeaderLine } from '../http/index.ts'
import { fieldsOf, isNeeded, withEveryOperation } from './declared.ts'
import { headerProblem, headerValueProblem } from './http-values.ts'
import { type Context, keyOf, keysOf, labels, noteHeader } from './keys.ts'
import { readEnv, readNamedFile, refuse } from './keys.ts'
import { applicationNames, pdfNames } from './model.ts'
import type { HookRequest, OperationBinding, Resources, Scenario, Target } from './model.ts'
import { didYouMean, requirementIds } from './nearest.ts'
import type { ContentValue, HeaderValues, HookRequestValue } from './target-file.ts'
import type { OperationValue, ScenarioValue, TargetFile } from './target-file.ts'

type Part = 'headers' | 'query' | 'tls' | 'keys' | 'setup' | 'teardown' | 'resources'
export interface Given {
  readonly key?: string
  readonly headers?: HeaderValues
}

export function partsOf(
  context: Context,
  file: TargetFile,
  given: Given,
): Pick<Target, Part | 'operations' | 'absent' | 'scenarios'> {
  const keys = keysOf(context, file, given.key)
  const { operations = {} } = withEveryOperation(file)
  const again = new Set(Object.keys(given.headers ?? {}).map((name) => name.toLowerCase()))
  const headers = Object.entries(file.headers ?? {}).filter(
    ([name]) => !again.has(name.toLowerCase()),
  )
  return {
    headers: [
      ...headersOf(context, 'headers', Object.fromEntries(headers), 'give the key as keys.full'),
      ...linesOf({ ...context, source: undefined }, '--header ', given.headers, headerProblem),
    ],
    query: queryOf(context, 'query.', file.query),
    tls: Object.fromEntries(
      Object.entries(file.tls ?? {}).map(([name, path]) => [
        name,
        readNamedFile(context, path, `tls.${name}`)?.toString('utf8') ?? '',
      ]),
    ),
    keys,
    setup: hooksOf(context, 'setup', file.setup).map((request, at) => ({
      ...request,
      save: file.setup?.[at]?.save ?? {},
    })),
    teardown: hooksOf(context, 'teardown', file.teardown),
    resources: resourcesOf(context, file),
    operations: Object.fromEntries(
      Object.entries(operations).flatMap(([id, value]) =>
        typeof value === 'object' ? [[id, operationOf(context, id as OperationId, value)]] : [],
      ),
    ),
    absent: Object.fromEntries(
      Object.entries(operations).filter(([, value]) => typeof value === 'string'),
    ),
    scenarios: Object.fromEntries(
      Object.entries(file.scenarios ?? {}).flatMap(([id, value]) => {
        const scenario = scenarioOf(context, id, value)
        return scenario ? [[id, scenario]] : []
      }),
    ),
  }
}

function linesOf(
  context: Context,
  before: string,
  headers: HeaderValues = {},
  problemOf: (name: string, value: string) => string | undefined,
): HeaderLine[] {
  return Object.entries(headers).map(([name, declared]) => {
    const member = before + name
    const text = typeof declared === 'string' ? declared : readEnv(context, declared.env, member)
    const line = { name, value: text ?? '' }
    const problem = problemOf(name, line.value)
    if (problem !== undefined) refuse(context, `${member} ${problem}`)
    if (text !== undefined) noteHeader(context, member, line, declared)
    return line
  })
}

function headersOf(
  context: Context,
  place: string,
  headers?: HeaderValues,
  insteadOfAuthorization?: string,
): HeaderLine[] {
  return linesOf(context, `${place}.`, headers, (name, value) =>
    headerProblem(name, value, insteadOfAuthorization),
  )
}

function queryOf(context: Context, before: string, query?: HeaderValues): Record<string, string> {
  const lines = linesOf(context, before, query, (_, value) => headerValueProblem(value))
  return Object.fromEntries(lines.map(({ name, value }) => [name, value]))
}

function hooksOf(
  context: Context,
  place: string,
  requests: readonly HookRequestValue[] = [],
): HookRequest[] {
  return requests.map(({ method, url, headers, body }, at) => {
    const whole = /^https?:/i.test(url) ? url : `${context.baseUrl}/${url.replace(/^\/+/, '')}`
    const lines = headersOf(context, `${place}[${at}].headers`, headers)
    const hasOwn = lines.some(({ name }) => name.toLowerCase() === 'authorization')
    return {
      method: method.toUpperCase(),
      url: whole,
      headers: lines,
      ...(body !== undefined && { body }),
      withKey: !hasOwn && new URL(whole).origin === new URL(context.baseUrl).origin,
    }
  })
}

function resourcesOf(context: Context, { resources = {} }: TargetFile): Resources {
  const resolved: Record<string, unknown> = { ...resources }
  for (const name of applicationNames) {
    const application = resources[name]
    if (!application) continue
    const { requiredInputs = [] } = application
    const ids = application.inputs.map(({ id }) => id)
    for (const id of requiredInputs.filter((one) => !ids.includes(one)))
      refuse(
        context,
        `resources.${name}.requiredInputs names "${id}", which is not the id of one of its inputs`,
      )
    resolved[name] = { ...application, requiredInputs }
  }
  for (const name of pdfNames) {
    const pdf = resources[name]
    if (typeof pdf !== 'object') continue
    const bytes = new Uint8Array(readNamedFile(context, pdf.upload, `resources.${name}`) ?? [])
    resolved[name] = { bytes, filename: basename(pdf.upload) }
  }
  return resolved
}

function operationOf(context: Context, id: OperationId, value: OperationValue): OperationBinding {
  const { path, query, headers, body, content, contentType, filename, cleanup } = value
  const place = `operations.${id}`
  for (const [role, pointer] of Object.entries(value.fields ?? {})) {
    const problem = role === 'id' ? undefined : pointerProblem(id, role, pointer, body)
    if (problem !== undefined) refuse(context, `${place}.fields.${role} ${problem}`)
  }
  const isText = content && 'text' in content
  return compact<OperationBinding>({
    path,
    query: queryOf(context, `${place}.query.`, query),
    headers: headersOf(context, `${place}.headers`, headers, 'give the key as keys.full'),
    body,
    content: content && {
      bytes: bytesOf(content),
      contentType: contentType ?? (isText ? 'text/plain' : 'application/octet-stream'),
      filename: basename(filename ?? (isText ? 'conform.txt' : 'conform.bin')),
    },
    fields: fieldsOf(id, value),
    cleanup: hooksOf(context, `${place}.cleanup`, cleanup),
  })
}

function bytesOf(content: ContentValue): Uint8Array {
  return new Uint8Array(
    'text' in content ? Buffer.from(content.text) : Buffer.from(content.base64, 'base64'),
  )
}

/**
 * A role must point to an existing member, or one that can be added; the one that the operation works on must exist.
 */
function pointerProblem(
  id: OperationId,
  role: string,
  pointer: string,
  body: unknown,
): string | undefined {
  const at = pointer.lastIndexOf('/')
  const [parent, last] = [pointer.slice(0, at), pointer.slice(at + 1)]
  const holder = getAt(body, parent)
  const lacks = `points to ${pointer}, but operations.${id}.body`
  if (typeof holder !== 'object' || holder === null)
    return `${lacks} has no object ${parent === '' ? 'there' : `at ${parent}`}`
  if (Array.isArray(holder) && !(Number(last) <= holder.length))
    return `${lacks} has an array at ${parent}`
  if (!isNeeded(id, role) || getAt(body, pointer) !== undefined) return undefined
  const known = Object.keys(holder).map((name) => `${parent}/${name}`)
  return `${lacks} has no such member${didYouMean(pointer, known)}`
}

function scenarioOf(context: Context, id: string, value: ScenarioValue): Scenario | undefined {
  const place = `scenarios.${id}`
  if (!isRequirementId(id)) {
    refuse(context, `${place} names no requirement${didYouMean(id, requirementIds)}`)
    return undefined
  }
  const area = requirementOf(id).operation
  const of = isOperationId(area) ? area : value.operation
  if (of === undefined) {
    refuse(context, `${place} is not possible: envelope requirements are judged on every response`)
    return undefined
  }
  const { key, headers, params = {}, query, body, merge, raw, repeat, before, after } = value
  const names = [...operation(of).path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  for (const name of Object.keys(params).filter((one) => !names.includes(one)))
    refuse(
      context,
      `${place}.params.${name} is not a path parameter of ${of}${didYouMean(name, names)}`,
    )
  return compact<Scenario>({
    operation: of,
    key: key === undefined ? undefined : keyOf(context, `${place}.key`, key, labels.other),
    headers: headersOf(context, `${place}.headers`, headers, `give the key as ${place}.key`),
    params,
    query: queryOf(context, `${place}.query.`, query),
    body,
    merge,
    raw: raw && compact({ bytes: bytesOf(raw), contentType: raw.contentType }),
    repeat,
    before: hooksOf(context, `${place}.before`, before),
    after: hooksOf(context, `${place}.after`, after),
  })
}

export function compact<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T
}
