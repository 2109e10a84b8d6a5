/** The one walk through a target file: what its schema cannot say is looked at, and each part read as a run uses it. */
import { basename } from 'node:path'
import { isRequirementId, requirementOf } from '../../catalogue/catalogue.ts'
import { isOperationId, type OperationId, operation } from '../../catalogue/operations.ts'
import { escapeToken, getAt, tokensOf } from '../../schemas/json.ts'
import type { HeaderLine } from '../http/index.ts'
import { fieldsOf, isNeeded, withEveryOperation } from './declared.ts'
import { baseUrlProblem, headerProblem, headerValueProblem, isAbsoluteUrl } from './http-values.ts'
import { type Context, keyOf, keysOf, labels, noteHeader } from './keys.ts'
import { readEnv, readNamedFile, refuse } from './keys.ts'
import { applicationNames, pdfNames } from './model.ts'
import type { HookRequest, OperationBinding, Resources, Scenario, Target } from './model.ts'
import { didYouMean, nearest, requirementIds } from './nearest.ts'
import { namesSaved } from './places.ts'
import type { ContentValue, HeaderValues, HookRequestValue } from './target-file.ts'
import type { OperationValue, ScenarioValue, TargetFile } from './target-file.ts'

type Part = 'headers' | 'query' | 'tls' | 'keys' | 'setup' | 'teardown' | 'resources'
/** From the command line: these win over the file. */
export interface Given {
  readonly key?: string
  readonly headers?: HeaderValues
  /** Path of a PEM file, from the current folder. */
  readonly ca?: string
}

/** Reads the parts of a target; what is wrong becomes a problem of the context. */
export function partsOf(
  context: Context,
  file: TargetFile,
  given: Given = {},
): Pick<Target, Part | 'operations' | 'absent' | 'scenarios'> {
  const keys = keysOf(context, file, given.key)
  const again = new Set(Object.keys(given.headers ?? {}).map((name) => name.toLowerCase()))
  const headers = Object.entries(file.headers ?? {}).filter(
    ([name]) => !again.has(name.toLowerCase()),
  )
  const names = namesSaved(file.setup)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined)
    refuse(context, `setup saves ${twice} twice: give each value a name of its own`)
  const query = linesOf(context, 'query.', file.query, (_, value) => headerValueProblem(value))
  return {
    headers: [
      ...headersOf(context, 'headers', Object.fromEntries(headers), 'give the key as keys.full'),
      ...linesOf({ ...context, source: undefined }, '--header ', given.headers, headerProblem),
    ],
    query: Object.fromEntries(query.map(({ name, value }) => [name, value])),
    tls: tlsOf(context, file, given.ca),
    keys,
    setup: hooksOf(context, 'setup', file.setup).map((request, at) => ({
      ...request,
      save: file.setup?.[at]?.save ?? {},
    })),
    teardown: hooksOf(context, 'teardown', file.teardown),
    resources: resourcesOf(context, file),
    ...operationsOf(context, withEveryOperation(file)),
    scenarios: Object.fromEntries(
      Object.entries(file.scenarios ?? {}).flatMap(([id, value]) => {
        const scenario = scenarioOf(context, id, value)
        return scenario ? [[id, scenario]] : []
      }),
    ),
  }
}

/**
 * @param before stands before the name of each in a message
 * @param problemOf finds what is wrong with one
 */
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

/** @param insteadOfAuthorization what to do if the suite sends such a header of its own */
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

function tlsOf(context: Context, { tls = {} }: TargetFile, ca?: string): Target['tls'] {
  const read = (member: string, path: string, by = context): string =>
    readNamedFile(by, path, member)?.toString('utf8') ?? ''
  const here = { ...context, dir: process.cwd(), source: undefined }
  const files = Object.entries(tls).filter(([name]) => name !== 'ca' || ca === undefined)
  return {
    ...Object.fromEntries(files.map(([name, path]) => [name, read(`tls.${name}`, path)])),
    ...(ca !== undefined && { ca: read('--ca', ca, here) }),
  }
}

function hooksOf(
  context: Context,
  place: string,
  requests: readonly HookRequestValue[] = [],
): HookRequest[] {
  return requests.map(({ method, url, headers, body }, at) => {
    const isWhole = isAbsoluteUrl(url)
    const problem = isWhole ? baseUrlProblem(url.replace(/[?#].*$/s, '')) : undefined
    if (problem !== undefined) refuse(context, `${place}[${at}].url ${problem}`)
    const whole = isWhole ? url : `${context.baseUrl}/${url.replace(/^\/+/, '')}`
    const lines = headersOf(context, `${place}[${at}].headers`, headers)
    const hasOwn = lines.some(({ name }) => name.toLowerCase() === 'authorization')
    const isHere = (): boolean => new URL(whole).origin === new URL(context.baseUrl).origin
    return {
      method: method.toUpperCase(),
      url: whole,
      headers: lines,
      ...(body !== undefined && { body }),
      withKey: !hasOwn && problem === undefined && isHere(),
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
        `resources.${name}.requiredInputs names "${id}", which is not the id of one of its inputs${didYouMean(id, ids)}`,
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

function operationsOf(
  context: Context,
  { operations = {} }: TargetFile,
): Pick<Target, 'operations' | 'absent'> {
  const declared = Object.entries(operations)
  return {
    operations: Object.fromEntries(
      declared.flatMap(([id, value]) =>
        isOperationId(id) && typeof value === 'object'
          ? [[id, operationOf(context, id, value)]]
          : [],
      ),
    ),
    absent: Object.fromEntries(declared.filter(([, value]) => typeof value === 'string')),
  }
}

function operationOf(context: Context, id: OperationId, value: OperationValue): OperationBinding {
  const { path, query = {}, headers, body, content, contentType, filename, cleanup } = value
  const place = `operations.${id}`
  for (const [role, pointer] of Object.entries(value.fields ?? {})) {
    const problem = role === 'id' ? undefined : pointerProblem(id, role, pointer, body)
    if (problem !== undefined) refuse(context, `${place}.fields.${role} ${problem}`)
  }
  const isText = content && 'text' in content
  return compact<OperationBinding>({
    path,
    query,
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

/** A role points to a member that is there, or that a probe can add to an object or array that is there. */
function pointerProblem(
  id: OperationId,
  role: string,
  pointer: string,
  body: unknown,
): string | undefined {
  const inBody = `operations.${id}.body`
  if (body === undefined) return `points into ${inBody}, but there is no body`
  const parent = pointer.slice(0, pointer.lastIndexOf('/'))
  const where = parent === '' ? inBody : `${parent} of ${inBody}`
  const holder = getAt(body, parent)
  const last = tokensOf(pointer).at(-1) ?? ''
  if (typeof holder !== 'object' || holder === null)
    return `points to ${pointer}, but ${where} is ${holder === undefined ? 'absent' : 'no object'}`
  if (Array.isArray(holder) && !/^(0|[1-9]\d*)$/.test(last))
    return `points to ${pointer}, but ${where} is an array`
  if (Array.isArray(holder) && Number(last) > holder.length)
    return `points to ${pointer}, past the end of the array`
  if (Object.hasOwn(holder, last)) return undefined
  const names = Object.keys(holder)
  // A probe adds a member that is absent. One that the operation works on, or that is almost the name of another, is a slip.
  const long = names.filter(({ length }) => length > 4)
  const meant = last.length > 4 ? nearest(last, long) : undefined
  if (meant === undefined && !isNeeded(id, role)) return undefined
  const known = names.map((name) => `${parent}/${escapeToken(name)}`)
  const hint =
    meant === undefined ? didYouMean(pointer, known) : `; did you mean ${parent}/${meant}?`
  return `points to ${pointer}, which ${where} does not have${hint}`
}

function scenarioOf(context: Context, id: string, value: ScenarioValue): Scenario | undefined {
  const place = `scenarios.${id}`
  const wrong = (sentence: string): undefined => void refuse(context, `${place}${sentence}`)
  if (!isRequirementId(id))
    return wrong(
      id.includes('*')
        ? ' is a pattern, and scenarios takes none: write one entry for each id (a target file that is a module can make them in a loop)'
        : ` names no requirement${didYouMean(id, requirementIds)}`,
    )
  const area = requirementOf(id).operation
  if (area === 'envelope')
    return wrong(' is not possible: envelope requirements are judged on every response')
  if (isOperationId(area) && value.operation !== undefined)
    wrong(`.operation is not allowed here: the id already says that it is ${area}`)
  const of = isOperationId(area) ? area : value.operation
  if (of === undefined)
    return wrong('.operation is missing: name the operation whose request is changed')
  const { key, headers, params = {}, query = {}, body, merge, raw, repeat, before, after } = value
  const names = [...operation(of).path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  for (const name of Object.keys(params).filter((one) => !names.includes(one)))
    wrong(`.params.${name} is not a path parameter of ${of}${didYouMean(name, names)}`)
  if (raw !== undefined && (body !== undefined || merge !== undefined))
    wrong('.raw replaces the body: remove body and merge')
  return compact<Scenario>({
    operation: of,
    key: key === undefined ? undefined : keyOf(context, `${place}.key`, key, labels.other),
    headers: headersOf(context, `${place}.headers`, headers, `give the key as ${place}.key`),
    params,
    query,
    body,
    merge,
    raw: raw && compact({ bytes: bytesOf(raw), contentType: raw.contentType }),
    repeat,
    before: hooksOf(context, `${place}.before`, before),
    after: hooksOf(context, `${place}.after`, after),
  })
}

/** Drops the members that are undefined. */
export function compact<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T
}
