/** What stands where in a target file: keys, ids, and texts that stand for others. */
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { catalogue } from '../../catalogue/catalogue.ts'
import { operations } from '../../catalogue/operations.ts'
import { scenarioExample } from '../../catalogue/scenario-examples.ts'
import { escapeToken, isObject, memberPath, tokensOf } from '../../schemas/json.ts'
import { isSecretName } from '../recording/index.ts'
import { isKeyPerOperation, resourceExamples } from './declared.ts'
import { applicationNames, type HookRequest, type Resources, type Target } from './model.ts'
import { didYouMean } from './nearest.ts'
import type { HeaderValue, KeyValue, SetupRequestValue, TargetFile } from './target-file.ts'

/** The place of a key; of `keys.restricted` with one key per operation, of each of them. */
const keyPlace = /^\/keys\/[^/]+(\/[^/]+)?$|^\/scenarios\/[^/]+\/key$/
/** The place of a header or query member, whose name may call it a secret. */
const headerPlace =
  /^(\/query|(\/(setup|teardown)\/\d+|\/(operations|scenarios)\/[^/]+(\/(cleanup|before|after)\/\d+)?)?\/headers)\/[^/]+$/
/** The id of an object of the target: in `resources`, or a path parameter of a scenario. */
const idPlace = /^\/resources\/(\w+\/id|(?!pdfText)\w+)$|^\/scenarios\/[^/]+\/params\/\w+$/

function isKey(pointer: string, value: unknown): boolean {
  if (headerPlace.test(pointer)) return isSecretName(tokensOf(pointer).at(-1) ?? '')
  return keyPlace.test(pointer) && !(pointer === '/keys/restricted' && isKeyPerOperation(value))
}

interface PlainOptions {
  /** Gives what is put in the place of a key, of `keys`, of a scenario, or of a header or query member whose name tells of a secret; undefined leaves it out. */
  key?(value: KeyValue | HeaderValue, path: string): string | undefined
  /** Called with whatever JSON cannot hold. */
  problem?(path: string, what: string): void
}

/** The target file as JSON would hold it; functions in place of keys are written as a word. */
export function plainFile(
  value: unknown,
  options: PlainOptions,
  pointer = '',
  around: readonly object[] = [],
): unknown {
  const problem = (what: string): void => options.problem?.(memberPath(pointer), what)
  if (options.key && isKey(pointer, value))
    return options.key(value as KeyValue | HeaderValue, memberPath(pointer))
  if (typeof value === 'function' && keyPlace.test(pointer)) return 'function'
  if (typeof value === 'number' && !Number.isFinite(value)) problem(`${value} is not a JSON number`)
  if (['function', 'symbol', 'bigint'].includes(typeof value))
    problem(`a ${typeof value} is not allowed here`)
  if (typeof value !== 'object' || value === null) return value
  if (around.includes(value)) return problem('holds itself')
  const inside = (item: unknown, name: string | number): unknown =>
    plainFile(item, options, `${pointer}/${escapeToken(String(name))}`, [...around, value])
  if (Array.isArray(value)) return value.map(inside)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    problem('must be a plain object')
  const members = Object.entries(value).map(([name, member]) => [name, inside(member, name)])
  return Object.fromEntries(members.filter(([, member]) => member !== undefined))
}

/** The canonical JSON (RFC 8785) of the target file without its keys and secret headers. */
export function canonicalTarget(file: TargetFile): string {
  const { keys: _, ...rest } = plainFile(file, { key: () => undefined }) as TargetFile
  return canonicalize(rest) ?? ''
}

/** `sha256:...` over that JSON. */
export function targetDigest(file: TargetFile): string {
  return `sha256:${createHash('sha256').update(canonicalTarget(file)).digest('hex')}`
}

/** Every text and number of a value, by its pointer. */
export function leavesOf(value: unknown, pointer = ''): [pointer: string, leaf: string | number][] {
  if (typeof value === 'string' || typeof value === 'number') return [[pointer, value]]
  // The bytes of an upload are no text.
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return []
  return Object.entries(value).flatMap(([name, item]) =>
    leavesOf(item, `${pointer}/${escapeToken(name)}`),
  )
}

function namesIn(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}

export function namesSaved(setup: readonly Pick<SetupRequestValue, 'save'>[] = []): string[] {
  return setup.flatMap(({ save = {} }) => Object.keys(save))
}

/** Finds names in a text that `setup` does not save: those that have to be filled in, and others that may be slips. */
export function unknownNames(
  { setup = [] }: TargetFile,
  pointer: string,
  text: string,
): { readonly problems: readonly string[]; readonly warnings: readonly string[] } {
  const inResources = pointer.startsWith('/resources/')
  const [, list, at] = /^\/(setup|teardown)\/(\d+)\/url$/.exec(pointer) ?? []
  const known = namesSaved(list === 'setup' ? setup.slice(0, Number(at)) : setup)
  const unknownIn = (searched: string, sentence: (name: string) => string): string[] =>
    namesIn(searched)
      .filter((name) => !known.includes(name))
      .map((name) => `${memberPath(pointer)} has {${name}}, which ${sentence(name)}`)
  const remedy = (name: string): string =>
    known.length > 0
      ? didYouMean(name, known)
      : `; a request of setup saves it with "save": {${JSON.stringify(name)}: "/id"}`
  // Ids are filled in or wrong, any other text may hold braces of its own; `${NAME}` is a mistake of another kind.
  const filled = inResources && idPlace.test(pointer) ? text.replaceAll('${', '') : list && text
  const isSlip = inResources && known.length > 0
  return {
    problems: unknownIn(
      filled ?? '',
      (name) => `no request of setup has saved by then${remedy(name)}`,
    ),
    warnings: unknownIn(isSlip ? text : '', () => 'setup does not save: it is sent as it is'),
  }
}

/** Words in angle brackets, which reasons, pages and `conform explain` give to paste. */
let placeholders: ReadonlySet<string> | undefined

function isPlaceholder(word: string): boolean {
  placeholders ??= new Set(
    JSON.stringify([
      resourceExamples,
      operations,
      catalogue.map(({ id }) => scenarioExample(id)),
    ]).match(/<[^<>"]+>/g),
  )
  return placeholders.has(word)
}

/** Says what in a text is still to be filled in: a placeholder, or a variable as a shell writes it. */
export function unfilledProblem(pointer: string, text: string): string | undefined {
  const problem = placeholderProblem(pointer, text) ?? variableProblem(pointer, text)
  return problem && `${memberPath(pointer)} ${problem}`
}

const inBrackets = /<[^<>]+>/g

function placeholderProblem(pointer: string, text: string): string | undefined {
  // A text may be about a <model>; in an id, in a key and in the name of a member angle brackets are never meant.
  const isWhole = idPlace.test(pointer) || isKeyText(pointer)
  const found =
    (text.match(inBrackets) ?? []).find(
      (one) =>
        (one === text && isWhole) || ((one === text || one.includes(' ')) && isPlaceholder(one)),
    ) ?? (pointer.match(inBrackets) ?? []).find(isPlaceholder)
  return (
    found && `still has the placeholder ${found}: put in what your target has, or remove the entry`
  )
}

/** A key that is written down. */
function isKeyText(pointer: string): boolean {
  return keyPlace.test(pointer) && !/\/(env|file)$/.test(pointer)
}

/** Nothing expands `$NAME` in a target file: sent as it is, it would be a wrong key. */
function variableProblem(pointer: string, text: string): string | undefined {
  const takesVariable = isKeyText(pointer) || /\/(headers|query)\/[^/]+$/.test(pointer)
  if (!takesVariable && !idPlace.test(pointer)) return undefined
  const [whole, braced, bare] = /\$\{([A-Z_][A-Z\d_]*)\}|^\$([A-Z_][A-Z\d_]*)$/.exec(text) ?? []
  const name = braced ?? bare
  if (whole === undefined || name === undefined) return undefined
  const remedy = takesVariable
    ? `write {"env": ${JSON.stringify(name)}} as its whole value`
    : `write the id, or make the target file a module (.ts, .mjs), which can read process.env.${name}`
  return `has ${whole}, which nothing fills in: ${remedy}`
}

/** The value of each name. */
type Saved = ReadonlyMap<string, string>

function fill(text: string, saved: Saved, written: (value: string) => string): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = saved.get(name)
    return value === undefined ? whole : written(value)
  })
}

function fillIn<T>(value: T, saved: Saved): T {
  const filled = (inner: unknown): unknown => {
    if (typeof inner === 'string') return fill(inner, saved, (text) => text)
    if (Array.isArray(inner)) return inner.map(filled)
    // The bytes of an upload stay.
    if (!isObject(inner) || inner instanceof Uint8Array) return inner
    return Object.fromEntries(Object.entries(inner).map(([name, item]) => [name, filled(item)]))
  }
  return filled(value) as T
}

/** The request with what is known of its names filled in. */
export function fillRequest<R extends HookRequest>(request: R, saved: Saved): R {
  const url = fill(request.url, saved, encodeURIComponent)
  return {
    ...request,
    url,
    ...(request.body === undefined ? {} : { body: fillIn(request.body, saved) }),
  }
}

/** The target whose resources have what `setup` saved. */
export function fillTarget(target: Target, saved: Saved): Target {
  if (saved.size === 0) return target
  const resources = fillIn(target.resources, saved)
  const values = [...saved.values()].map((value) => value.toLowerCase())
  return {
    ...target,
    resources,
    applicationIds: new Set(applicationNames.flatMap((name) => resources[name]?.id ?? [])),
    ids: new Set([...target.ids, ...values]),
    file: {
      ...target.file,
      ...(target.file.resources && { resources: fillIn(target.file.resources, saved) }),
    },
  }
}

function onlyRead(requests: readonly HookRequest[]): boolean {
  return requests.every(({ method }) => method === 'GET' || method === 'HEAD')
}

/** The target as `--read-only` meets it: without a `setup` or `teardown` that may change it, and what such a setup would save. */
export function readOnlyTarget(target: Target): Target {
  const teardown = onlyRead(target.teardown) ? target.teardown : []
  if (onlyRead(target.setup)) return { ...target, teardown }
  const names = namesSaved(target.setup)
  const isKept = ([, value]: [string, unknown]): boolean =>
    leavesOf(value).every(([, leaf]) => !namesIn(String(leaf)).some((one) => names.includes(one)))
  const kept = <T extends object>(value: T): T =>
    Object.fromEntries(Object.entries(value).filter(isKept)) as T
  const { resources: declared, ...file } = target.file
  return {
    ...target,
    setup: [],
    teardown,
    resources: kept<Resources>(target.resources),
    file: { ...file, ...(declared && { resources: kept(declared) }) },
  }
}
