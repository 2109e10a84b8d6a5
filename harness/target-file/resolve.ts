import { isOperationId } from '../../catalogue/operations.ts'
import { UserError } from '../user-error.ts'
import type { Absence } from '../report/index.ts'
import { baseUrlProblem, normalBaseUrl } from './http-values.ts'
import type { Context, Environment } from './resolve-key.ts'
import { placed, readNamedText, readNamedFile, labels, resolveKeys } from './resolve-key.ts'
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { isKeyPerOperation, unreachableIds, withEveryOperation } from './declared.ts'
import { escapeToken, isObject, memberPath, tokensOf } from '../../schemas/json.ts'
import type {
  FetchHandler,
  HeaderValue,
  HeaderValues,
  KeySources,
  KeyValue,
  Limits,
  OperationBinding,
  Scenario,
  Target,
  TargetFile,
  ApplicationResource,
  Resources,
  Upload,
} from './model.ts'
import type { PdfValue } from './resource-values.ts'
import { applicationNames, defaultLimits, pdfNames } from './model.ts'
import {
  compact,
  namedHeaders,
  resolveHeaders,
  resolveHookRequests,
  resolveOperation,
  resolveQuery,
  resolveScenario,
  resolveSetup,
} from './resolve-requests.ts'
import { savedWarnings } from './saved.ts'
import { inProcessUrl, isSecretName, printed } from '../recording/index.ts'
import { basename } from 'node:path'

async function resolveResources(
  context: Context,
  { resources = {} }: TargetFile,
): Promise<Resources> {
  const uploads: Partial<Record<string, string | Upload>> = {}
  for (const name of pdfNames) {
    const value = resources[name]
    if (value !== undefined) uploads[name] = await resolvePdf(context, `resources.${name}`, value)
  }
  const applications = applicationNames.flatMap((name): [string, ApplicationResource][] => {
    const value = resources[name]
    return value ? [[name, { ...value, requiredInputs: value.requiredInputs ?? [] }]] : []
  })
  return compact<object>({ ...resources, ...Object.fromEntries(applications), ...uploads })
}

async function resolvePdf(
  context: Context,
  member: string,
  value: PdfValue,
): Promise<string | Upload> {
  if (typeof value === 'string') return value
  return {
    bytes: await readNamedFile(context.dir, value.upload, placed(context, member)),
    filename: basename(value.upload),
  }
}

export interface ResolveOptions {
  /** Folder that relative paths of the file are relative to. */
  readonly dir: string
  /** How the file is called in messages: its path. */
  readonly source?: string | undefined
  readonly env: Environment
  /** From the command line: these win over the file. */
  readonly baseUrl?: string
  readonly key?: string
  readonly limits?: Partial<Limits>
  readonly headers?: HeaderValues
  /** Path of a PEM file, from the current folder. */
  readonly ca?: string
}

export interface Resolved {
  readonly target: Target
  readonly handler?: FetchHandler
  readonly warnings: readonly string[]
}

/** Reads everything that a checked target file refers to; throws a `UserError` if something is not there. */
export async function resolveTarget(given: TargetFile, options: ResolveOptions): Promise<Resolved> {
  const { fetch, ...written } = given
  const file = withEveryOperation(written)
  // A base URL that somebody gives wins over what the file names.
  const handler = options.baseUrl === undefined ? fetch : undefined
  const baseUrl = handler ? inProcessUrl : resolveBaseUrl(file, options.baseUrl)
  const { dir, source, env } = options
  const context: Context = { dir, source, env, baseUrl, secrets: [], hidden: [], warnings: [] }
  const keys = await resolveKeys(context, file, options.key)
  const shown = shownFile(file, keys)
  const leaves = leavesOf(shown)
  const kept = [...new Set([baseUrl, new URL(baseUrl).host, ...leaves])]
  for (const text of kept) printed.keep(text)
  const target: Target = {
    name: file.name ?? (handler ? 'a handler in this process' : new URL(baseUrl).host),
    baseUrl,
    headers: [
      ...resolveHeaders(context, 'headers', withoutGiven(file.headers, options.headers)),
      ...namedHeaders(context, options.headers ?? {}, (name) => `--header ${name}`),
    ],
    query: resolveQuery(context, file.query),
    tls: await resolveTls(context, file, options.ca),
    keys,
    setup: resolveSetup(context, file.setup),
    teardown: resolveHookRequests(context, 'teardown', file.teardown),
    resources: await resolveResources(context, file),
    ...resolveOperations(context, file),
    scenarios: await resolveScenarios(context, file),
    unreachable: unreachableIds(shown),
    limits: { ...defaultLimits, ...file.limits, ...compact<Partial<Limits>>(options.limits ?? {}) },
    timeoutDeclared: (options.limits?.timeoutMs ?? file.limits?.timeoutMs) !== undefined,
    applicationIds: new Set(applicationNames.flatMap((name) => file.resources?.[name]?.id ?? [])),
    ids: new Set(leaves.map((leaf) => leaf.toLowerCase())),
    file: shown,
    digest: targetDigest(written),
    secrets: [
      ...context.secrets,
      ...context.hidden.filter(({ value }) => !kept.some((text) => text.includes(value))),
    ],
    kept,
  }
  for (const { value, label } of target.secrets) printed.add(value, label)
  const warnings = [
    ...context.warnings,
    ...savedWarnings(file).map((warning) => placed(context, warning)),
  ]
  return { target, handler, warnings }
}

function resolveBaseUrl(file: TargetFile, given: string | undefined): string {
  const text = given ?? file.baseUrl
  if (text === undefined)
    throw new UserError(
      'no base URL: give one on the command line or as baseUrl in the target file',
    )
  const problem = baseUrlProblem(text)
  if (problem !== undefined) throw new UserError(`the base URL ${problem}`)
  return normalBaseUrl(text)
}

/** The file with each key written as its label, the full key of the command line or environment included. */
function shownFile(file: TargetFile, { full }: KeySources): TargetFile {
  const data = plainData(file, () => undefined) as TargetFile
  const shown = mapKeys(data, (path, value) => labelOf(path, value))
  return full ? { ...shown, keys: { ...shown.keys, full: full.label } } : shown
}

function labelOf(path: string, value: unknown): string {
  if (typeof value === 'object' && value !== null && 'env' in value) return `$${String(value.env)}`
  const [, name = ''] = /^keys\.(expired|restricted)/.exec(path) ?? []
  return name === 'expired' || name === 'restricted' ? labels[name] : labels.other
}

/** The declared headers, without those that somebody gives again, in whatever letter case. */
function withoutGiven(declared: HeaderValues = {}, given: HeaderValues = {}): HeaderValues {
  const names = new Set(Object.keys(given).map((name) => name.toLowerCase()))
  return Object.fromEntries(
    Object.entries(declared).filter(([name]) => !names.has(name.toLowerCase())),
  )
}

async function resolveTls(
  context: Context,
  { tls: declared = {} }: TargetFile,
  ca?: string,
): Promise<Target['tls']> {
  const contents: Record<string, string> = {}
  const { ca: _, ...own } = declared
  const tls = ca === undefined ? declared : own
  if (ca !== undefined) contents['ca'] = await readNamedText(process.cwd(), ca, '--ca')
  for (const [name, path] of Object.entries(tls))
    contents[name] = await readNamedText(context.dir, path, placed(context, `tls.${name}`))
  return contents
}

function resolveOperations(
  context: Context,
  { operations = {} }: TargetFile,
): Pick<Target, 'operations' | 'absent'> {
  const bindings: Record<string, OperationBinding> = {}
  const absent: Record<string, Absence> = {}
  for (const [id, value] of Object.entries(operations)) {
    if (typeof value === 'string') absent[id] = value
    else if (isOperationId(id)) bindings[id] = resolveOperation(context, id, value)
  }
  return { operations: bindings, absent }
}

async function resolveScenarios(
  context: Context,
  { scenarios = {} }: TargetFile,
): Promise<Record<string, Scenario>> {
  const resolved: Record<string, Scenario> = {}
  for (const [id, value] of Object.entries(scenarios))
    resolved[id] = await resolveScenario(context, id, value)
  return resolved
}

/** Every text and number that a value holds, as text. */
function leavesOf(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : []
}

/** Gives what is put in the place of a key at that path of members; undefined leaves it out. */
type Replace = (path: string, value: KeyValue | HeaderValue) => string | undefined

/** The place of a key; of `keys.restricted` with one key per operation, of each of them. */
const keyPlace = /^\/keys\/[^/]+(\/[^/]+)?$|^\/scenarios\/[^/]+\/key$/

/** The place of a header or query member, whose name may call it a secret. */
const headerPlace =
  /^(\/query|(\/(setup|teardown)\/\d+|\/(operations|scenarios)\/[^/]+(\/(cleanup|before|after)\/\d+)?)?\/headers)\/[^/]+$/

function isKey(pointer: string, value: unknown): boolean {
  if (headerPlace.test(pointer)) return isSecretName(tokensOf(pointer).at(-1) ?? '')
  return keyPlace.test(pointer) && !(pointer === '/keys/restricted' && isKeyPerOperation(value))
}

/** The file with every key replaced: those of `keys`, of scenarios, and what the name of a header or query member calls a secret. */
export function mapKeys(file: TargetFile, replace: Replace): TargetFile {
  const mapped = (value: unknown, pointer: string): unknown => {
    if (isKey(pointer, value)) return replace(memberPath(pointer), value as KeyValue | HeaderValue)
    if (Array.isArray(value)) return value.map((item, at) => mapped(item, `${pointer}/${at}`))
    if (!isObject(value)) return value
    const inside = ([name, item]: [string, unknown]) =>
      [name, mapped(item, `${pointer}/${escapeToken(name)}`)] as const
    return compact(Object.fromEntries(Object.entries(value).map(inside)))
  }
  return mapped(file, '') as TargetFile
}

/** The canonical JSON (RFC 8785) of the target file without its keys and secret headers. */
export function canonicalTarget(file: TargetFile): string {
  const { keys: _, ...rest } = mapKeys(
    plainData(file, () => undefined) as TargetFile,
    () => undefined,
  )
  return canonicalize(rest) ?? ''
}

/** `sha256:...` over that JSON. */
export function targetDigest(file: TargetFile): string {
  return `sha256:${createHash('sha256').update(canonicalTarget(file)).digest('hex')}`
}

/**
 * The value as JSON would hold it, functions in place of keys written as a word; `problem` is called with the pointer of
 * whatever JSON cannot hold.
 */
export function plainData(
  value: unknown,
  problem: (pointer: string, what: string) => void,
  pointer = '',
  around: readonly object[] = [],
): unknown {
  if (typeof value === 'function' && keyPlace.test(pointer)) return 'function'
  if (typeof value === 'number' && !Number.isFinite(value))
    problem(pointer, `${value} is not a JSON number`)
  if (['function', 'symbol', 'bigint'].includes(typeof value))
    problem(pointer, `a ${typeof value} is not allowed here`)
  if (typeof value !== 'object' || value === null) return value
  if (around.includes(value)) return problem(pointer, 'holds itself')
  const inside = [...around, value]
  if (Array.isArray(value))
    return value.map((item, index) => plainData(item, problem, `${pointer}/${index}`, inside))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    problem(pointer, 'must be a plain object')
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(
    members.map(([name, member]) => [
      name,
      plainData(member, problem, `${pointer}/${escapeToken(name)}`, inside),
    ]),
  )
}
