/** Texts of a target file that stand for others: `{name}` for what `setup` saves, and placeholders that somebody still has to fill in. */
import { applicationNames, type HookRequest, type Resources, type Target } from './model.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import { operations } from '../../catalogue/operations.ts'
import { scenarioExample } from '../../catalogue/scenario-examples.ts'
import { isObject } from '../../schemas/json.ts'
import { resourceExamples } from './declared.ts'
import { didYouMean } from './nearest.ts'
import type { HookRequestValue, SetupRequestValue, TargetFile } from './target-file.ts'

/** The value of each name. */
type Saved = ReadonlyMap<string, string>

function namesIn(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}

function namesSaved(setup: readonly Pick<SetupRequestValue, 'save'>[] = []): string[] {
  return setup.flatMap(({ save = {} }) => Object.keys(save))
}

/** Every text of a value, by its place (`resources.application.id`). */
export function textsOf(value: unknown, place: string): [place: string, text: string][] {
  if (typeof value === 'string') return [[place, value]]
  if (Array.isArray(value)) return value.flatMap((item, at) => textsOf(item, `${place}[${at}]`))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, item]) => textsOf(item, `${place}.${name}`))
}

/** True for the id of an object of the target: in `resources`, or a path parameter of a scenario. */
export function isIdPlace(place: string): boolean {
  return /^resources\.(\w+\.id|(?!pdfText)\w+)$|^scenarios\..+\.params\.\w+$/.test(place)
}

export function savedProblems({ setup = [], teardown = [], resources = {} }: TargetFile): string[] {
  const names = namesSaved(setup)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  const urls = (
    path: string,
    requests: readonly HookRequestValue[],
    known: (at: number) => string[],
  ): string[] => requests.flatMap(({ url }, at) => unknownIn(`${path}[${at}].url`, url, known(at)))
  return [
    ...(twice === undefined
      ? []
      : [`setup saves ${twice} twice: give each value a name of its own`]),
    ...urls('setup', setup, (at) => namesSaved(setup.slice(0, at))),
    ...urls('teardown', teardown, () => names),
    // Ids are filled in or wrong, any other text may hold braces of its own; `${NAME}` is a mistake of another kind: check.ts.
    ...textsOf(resources, 'resources')
      .filter(([place]) => isIdPlace(place))
      .flatMap(([place, id]) => unknownIn(place, id.replaceAll('${', ''), names)),
  ]
}

function unknownIn(place: string, text: string, known: readonly string[]): string[] {
  return namesIn(text)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const remedy =
        known.length > 0
          ? didYouMean(name, known)
          : `; a request of setup saves it with "save": {${JSON.stringify(name)}: "/id"}`
      return `${place} has {${name}}, which no request of setup has saved by then${remedy}`
    })
}

/** Names in other texts of `resources` that may be slips: they are sent as they are. */
export function savedWarnings({ setup, resources = {} }: TargetFile): string[] {
  const names = namesSaved(setup)
  if (names.length === 0) return []
  return textsOf(resources, 'resources').flatMap(([place, text]) =>
    namesIn(text)
      .filter((name) => !names.includes(name))
      .map((name) => `${place} has {${name}}, which setup does not save: it is sent as it is`),
  )
}

/** Words in angle brackets, which reasons, pages and `conform explain` give to paste. */
let known: ReadonlySet<string> | undefined

function placeholders(): ReadonlySet<string> {
  const examples = [resourceExamples, operations, catalogue.map(({ id }) => scenarioExample(id))]
  known ??= new Set(JSON.stringify(examples).match(/<[^<>"]+>/g))
  return known
}

/** Finds what is still to be filled in, each in one sentence. */
export function unfilledProblems(file: TargetFile): string[] {
  return textsOf(file, '').flatMap(([at, text]) => {
    const place = at.slice(1)
    const problem = placeholderProblem(place, text) ?? variableProblem(place, text)
    return problem === undefined ? [] : [problem]
  })
}

function placeholderProblem(place: string, text: string): string | undefined {
  // A text may be about a <model>; in an id, in a key and in the name of a member angle brackets are never meant.
  const inText = (text.match(/<[^<>]+>/g) ?? []).find(
    (one) => (one === text || one.includes(' ')) && placeholders().has(one),
  )
  const inId = isIdPlace(place) || isKeyPlace(place) ? /^<[^<>]+>$/.exec(text)?.[0] : undefined
  const inName = place.match(/<[^<>]+>/g)?.find((one) => placeholders().has(one))
  const found = inText ?? inId ?? inName
  return found === undefined
    ? undefined
    : `${place} still has the placeholder ${found}: put in what your target has, or remove the entry`
}

/** A key as text: in `keys`, or of a scenario. */
export function isKeyPlace(place: string): boolean {
  return /^keys\.|^scenarios\..+\.key$/.test(place) && !/\.(env|file|command\[\d+\])$/.test(place)
}

/** Nothing expands `$NAME` in a target file: sent as it is, it would be a wrong key. */
function variableProblem(place: string, text: string): string | undefined {
  const takesVariable = isKeyPlace(place) || /(^|\.)(headers|query)\.[^.]+$/.test(place)
  if (!takesVariable && !isIdPlace(place)) return undefined
  const [whole, braced, bare] = /\$\{([A-Z_][A-Z\d_]*)\}|^\$([A-Z_][A-Z\d_]*)$/.exec(text) ?? []
  const name = braced ?? bare
  if (whole === undefined || name === undefined) return undefined
  const remedy = takesVariable
    ? `write {"env": ${JSON.stringify(name)}} as its whole value`
    : `write the id, or make the target file a module (.ts, .mjs), which can read process.env.${name}`
  return `${place} has ${whole}, which nothing fills in: ${remedy}`
}

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
    textsOf(value, '').every(([, text]) => !namesIn(text).some((name) => names.includes(name)))
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
