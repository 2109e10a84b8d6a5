import { didYouMean, requirementIds, baseUrlProblem, refuseAll } from './load.ts'
import { catalogue, findRequirement } from '../../catalogue/catalogue.ts'
import { mayBeUnreachable } from '../../catalogue/requirement.ts'
import { memberPath, getAt } from '../../schemas/json.ts'
import { matchesId } from '../report/index.ts'
import { inProcessUrl } from '../recording/recorder.ts'
import {
  passwordIn,
  printed,
  isAuthorization,
  isSecretName,
  foreignWords,
  redacted,
  secretsInQuery,
  shortestKey,
} from '../recording/redactor.ts'
import { UserError, whyUnreadable, Unjudgeable, foreignMs, waitForForeign } from '../user-error.ts'
import { isDeclared, withEveryOperation, isKeyPerOperation } from './declared.ts'
import {
  applicationNames,
  defaultLimits,
  type Target,
  type Limits,
  type TargetFile,
  pdfNames,
  type HookRequest,
  type KeySource,
  type KeySources,
  type OperationBinding,
  type Resources,
  type Scenario,
  type Secret,
  type ContentValue,
  type HeaderValues,
  type SetupRequestValue,
  type KeyValue,
  type OperationValue,
  type ScenarioValue,
  type FromCommand,
  type KeyFunction,
} from './model.ts'
import { idPlace, leavesOf, namesIn, namesSaved, plainFile, targetDigest } from './places.ts'
import { readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import {
  isOperationId,
  type OperationId,
  operationOf,
  operations,
} from '../../catalogue/operations.ts'
import type { HeaderLine } from '../http/index.ts'
import { execFile, type ExecFileException } from 'node:child_process'

export interface ResolveOptions {
  /** Base folder of relative paths. */
  readonly dir: string
  /** The name of the file in messages. */
  readonly source?: string
  readonly env: NodeJS.ProcessEnv
  readonly baseUrl?: string
  readonly key?: string
  readonly headers?: HeaderValues
  readonly limits?: Partial<Limits>
}

/** Reads everything that a valid target file refers to; throws a `UserError` that names everything wrong or missing. */
export async function resolveTarget({ fetch, ...file }: TargetFile, options: ResolveOptions) {
  const handler = options.baseUrl === undefined ? fetch : undefined
  const url = handler ? inProcessUrl : (options.baseUrl ?? file.baseUrl)
  if (url === undefined)
    throw new UserError(
      'no base URL: give one on the command line or as baseUrl in the target file',
    )
  // That of the file has the form that its schema demands.
  const problem = options.baseUrl && baseUrlProblem(options.baseUrl)
  if (problem !== undefined) throw new UserError(`the base URL ${problem}`)
  const baseUrl = normalBaseUrl(url)
  const reader = new Reader(options, baseUrl)
  const whole = withEveryOperation(file)
  const parts = reader.parts(whole)
  reader.checkNames(file)
  refuseAll(reader.problems)
  for (const ask of reader.asked) await ask()
  const plain = plainFile(whole, (value, pointer) => {
    if (typeof value === 'object' && 'env' in value) return `$${value.env}`
    const [, name] = /^\/keys\/(expired|restricted)/.exec(pointer) ?? []
    return labels[(name as 'expired' | 'restricted' | undefined) ?? 'other']
  }) as TargetFile
  const full = parts.keys.full?.label
  const shown = full === undefined ? plain : { ...plain, keys: { ...plain.keys, full } }
  const unreachable = Object.entries(shown.unreachable ?? {})
  const texts = leavesOf(shown).map((leaf) => leaf.text)
  const kept = [...new Set([baseUrl, new URL(baseUrl).host, ...texts.filter(Boolean)])]
  const isKept = (value: string): boolean => kept.some((text) => text.includes(value))
  const given = Object.entries<unknown>(options.limits ?? {}).filter(
    ([, limit]) => limit !== undefined,
  )
  const limits: Partial<Limits> = Object.fromEntries(given)
  const target: Target = {
    name: file.name ?? (handler ? 'a handler in this process' : new URL(baseUrl).host),
    baseUrl,
    ...parts,
    // Those that an entry matches, unless they cannot be unreachable or are declared.
    unreachable: Object.fromEntries(
      catalogue.flatMap((one) => {
        const entry = unreachable.find(([pattern]) => matchesId(one.id, pattern))
        const isUnreachable = entry && mayBeUnreachable(one) && !isDeclared(shown, one)
        return isUnreachable ? [[one.id, entry[1]]] : []
      }),
    ),
    limits: { ...defaultLimits, ...file.limits, ...limits },
    timeoutDeclared: (limits.timeoutMs ?? file.limits?.timeoutMs) !== undefined,
    ids: new Set(texts.map((text) => text.toLowerCase())),
    file: shown,
    digest: targetDigest(file),
    secrets: [...reader.secrets, ...reader.hidden.filter((one) => !isKept(one.value))],
    kept,
  }
  for (const text of kept) printed.keys.keep(text)
  for (const { value, label } of target.secrets) printed.keys.add(value, label)
  return { target, handler, warnings: reader.warnings }
}

/** Reads what a target file refers to, checks what the schema cannot, and collects what is wrong. */
class Reader {
  readonly problems: string[] = []
  readonly secrets: Secret[] = []
  /** Header values from the environment: also hidden, unless the file itself shows them. */
  readonly hidden: Secret[] = []
  readonly warnings: string[] = []
  /** Commands and functions that provide keys, called before the run. */
  readonly asked: (() => Promise<string>)[] = []
  readonly #options: ResolveOptions
  readonly #baseUrl: string
  /** The name of the file, before the place in it. */
  readonly #before: string

  constructor(options: ResolveOptions, baseUrl: string) {
    this.#options = options
    this.#baseUrl = baseUrl
    this.#before = options.source === undefined ? '' : `${options.source}: `
  }

  refuse(sentence: string): void {
    this.problems.push(this.#before + sentence)
  }

  /** Checks the names in ids and URLs, which `setup` saves, and the requirements in `unreachable`. */
  checkNames(file: TargetFile): void {
    const { setup = [], unreachable = {} } = file
    for (const { pointer, text } of leavesOf(file)) {
      const [, list, at] = /^\/(setup|teardown)\/(\d+)\/url$/.exec(pointer) ?? []
      if (list === undefined && !idPlace.test(pointer)) continue
      for (const name of namesIn(text)) {
        const known = namesSaved(list === 'setup' ? setup.slice(0, Number(at)) : setup)
        if (!known.includes(name))
          this.refuse(
            `${memberPath(pointer)} has {${name}}, which no earlier request of setup saves${didYouMean(name, known)}`,
          )
      }
    }
    for (const entry of Object.keys(unreachable)) {
      const matched = catalogue.filter((one) => matchesId(one.id, entry))
      const possible = matched.filter(mayBeUnreachable)
      const isWhole = findRequirement(entry) && possible.some((one) => isDeclared(file, one))
      const place = `unreachable.${entry}`
      if (matched.length === 0)
        this.refuse(`${place} matches no requirement${didYouMean(entry, requirementIds)}`)
      else if (possible.length === 0)
        this.refuse(
          `${place} matches only requirements that the full key and a valid request can reach: they cannot be unreachable`,
        )
      else if (isWhole)
        this.refuse(
          `${place}: the target file declares what this requirement needs; remove that, or this entry`,
        )
    }
  }

  parts(file: TargetFile) {
    const { headers = {} } = this.#options
    const operations = Object.entries(file.operations ?? {})
    const given = Object.keys(headers).map((name) => name.toLowerCase())
    const own = Object.entries(file.headers ?? {}).filter(
      ([name]) => !given.includes(name.toLowerCase()),
    )
    return {
      keys: this.#keys(file),
      headers: [
        ...this.#lines('header', 'headers', Object.fromEntries(own), 'give the key as keys.full'),
        ...this.#lines('header', '--header', headers, 'give the key by CONFORM_API_KEY'),
      ],
      query: this.#query('query', file.query),
      tls: Object.fromEntries(
        Object.entries(file.tls ?? {}).map(([name, path]) => [
          name,
          this.#file(path, `tls.${name}`)?.toString() ?? '',
        ]),
      ),
      setup: this.#hooks('setup', file.setup),
      teardown: this.#hooks('teardown', file.teardown),
      resources: this.#resources(file),
      operations: Object.fromEntries(
        operations.flatMap(([id, value]) =>
          typeof value === 'object' ? [[id, this.#operation(id as OperationId, value)]] : [],
        ),
      ),
      absent: Object.fromEntries(operations.filter(([, value]) => typeof value === 'string')),
      scenarios: Object.fromEntries(
        Object.entries(file.scenarios ?? {}).flatMap(([id, value]) => {
          const scenario = this.#scenario(id, value)
          return scenario ? [[id, scenario]] : []
        }),
      ),
    }
  }

  #variable(name: string, place: string): string | undefined {
    const value = this.#options.env[name]
    if (value) return value
    const state = value === undefined ? 'not set' : 'empty'
    this.problems.push(`${place}: the environment variable ${name} is ${state}`)
    return undefined
  }

  #file(path: string, member: string): Buffer | undefined {
    try {
      return readFileSync(resolve(this.#options.dir, path))
    } catch (error) {
      this.refuse(`${member}: ${path} ${whyUnreadable(error)}`)
      return undefined
    }
  }

  /** The full key is `-k`, else `keys.full`, else `CONFORM_API_KEY`, else none. */
  #keys(file: TargetFile): KeySources {
    const { full: declared, expired: declaredExpired, restricted = {} } = file.keys ?? {}
    const { key, env } = this.#options
    let full: KeySource | undefined
    if (key !== undefined) full = this.#fixed('the key on the command line', key, labels.full)
    else if (declared !== undefined) full = this.#key('keys.full', declared, labels.full)
    else if (env['CONFORM_API_KEY']) {
      const place = 'the environment variable CONFORM_API_KEY'
      full = this.#fixed(place, env['CONFORM_API_KEY'], labels.full)
    }
    // Unused, but still secret.
    if (key !== undefined && typeof declared === 'string')
      note(this, `${this.#before}keys.full`, declared, labels.other)
    const expired =
      declaredExpired === undefined
        ? undefined
        : this.#key('keys.expired', declaredExpired, labels.expired)
    const ofOperation: Record<string, KeySource> = {}
    if (isKeyPerOperation(restricted))
      for (const [id, key] of Object.entries(restricted))
        ofOperation[id] = this.#key(`keys.restricted.${id}`, key, labels.restricted)
    else {
      const ofAll = this.#key('keys.restricted', restricted, labels.restricted)
      for (const { id } of operations) ofOperation[id] = ofAll
    }
    return { full, expired, restricted: ofOperation }
  }

  #key(member: string, value: KeyValue, label: string): KeySource {
    const place = this.#before + member
    if (typeof value === 'string') return this.#fixed(place, value, label)
    if (typeof value === 'object' && 'env' in value) {
      const from = `${place} (from the environment variable ${value.env})`
      return this.#fixed(from, this.#variable(value.env, place), `$${value.env}`)
    }
    if (typeof value === 'object' && 'file' in value) {
      const text = this.#file(value.file, member)
        ?.toString('utf8')
        .replaceAll(/^\ufeff|\r?\n$/g, '')
      return this.#fixed(`${place} (from the file ${value.file})`, text, label)
    }
    const { dir } = this.#options
    const { secrets, warnings } = this
    const ask = askedKey({ dir, secrets, warnings }, place, value, label)
    this.asked.push(ask)
    return { label, ask }
  }

  #fixed(place: string, value: string | undefined, label: string): KeySource {
    const problem = value === undefined ? undefined : keyProblem(value)
    if (problem !== undefined) this.problems.push(`${place} ${problem}`)
    else if (value !== undefined) note(this, place, value, label)
    return { label, value: value ?? '' }
  }

  /**
   * Headers, or members of a query.
   * @param instead what to do instead of an Authorization header, if the suite sends one
   */
  #lines(
    kind: 'header' | 'query',
    where: string,
    values: HeaderValues = {},
    instead?: string,
  ): HeaderLine[] {
    const before = where === '--header' ? '--header ' : `${this.#before}${where}.`
    return Object.entries(values).map(([name, declared]) => {
      const place = before + name
      const variable = typeof declared === 'object' ? declared.env : undefined
      const value = typeof declared === 'object' ? this.#variable(declared.env, place) : declared
      const lower = name.toLowerCase()
      let problem = kind === 'header' ? headerValueProblem(value ?? '') : undefined
      if (kind === 'header' && framing.includes(lower))
        problem = 'is set by the suite itself; remove it'
      if (kind === 'header' && lower === 'authorization' && instead !== undefined)
        problem = `is set by the suite itself; ${instead}`
      if (problem !== undefined) this.problems.push(`${place} ${problem}`)
      if (value !== undefined) {
        // Its secret part, by its name or because it comes from the environment.
        const label = variable === undefined ? labels.other : `$${variable}`
        const [, credentials] = (isAuthorization(name) && /^\S+ (.+)$/.exec(value)) || []
        const behind = variable === undefined ? label : `\${${variable}#* }`
        if (credentials !== undefined) {
          note(this, place, credentials, behind)
          const passwords = /^basic /i.test(value) ? passwordIn(credentials) : []
          for (const password of passwords) note(this, place, password, labels.other)
        } else if (isSecretName(name)) note(this, place, value, label)
        else if (variable !== undefined) this.hidden.push({ value, label })
      }
      return { name, value: value ?? '' }
    })
  }

  #query(where: string, query?: HeaderValues): Record<string, string> {
    const lines = this.#lines('query', where, query)
    return Object.fromEntries(lines.map((line) => [line.name, line.value]))
  }

  #hooks(place: string, requests: readonly SetupRequestValue[] = []): HookRequest[] {
    const baseUrl = this.#baseUrl
    return requests.map(({ method, url, headers, body, save }, at) => {
      const whole = /^https?:/i.test(url) ? url : `${baseUrl}/${url.replace(/^\/+/, '')}`
      const lines = this.#lines('header', `${place}[${at}].headers`, headers)
      for (const value of new Set(secretsInQuery(url)))
        if (namesIn(value).length === 0) note(this, `${place}[${at}].url`, value, labels.other)
      const hasOwn = lines.some((line) => line.name.toLowerCase() === 'authorization')
      return {
        method: method.toUpperCase(),
        url: whole,
        headers: lines,
        body,
        save,
        withKey: !hasOwn && new URL(whole).origin === new URL(baseUrl).origin,
      }
    })
  }

  #resources(file: TargetFile): Resources {
    const { resources = {} } = file
    const resolved: Record<string, unknown> = { ...resources }
    for (const name of applicationNames) {
      const { inputs = [], requiredInputs = [] } = resources[name] ?? {}
      for (const id of requiredInputs.filter((one) => !inputs.some((input) => input.id === one)))
        this.refuse(
          `resources.${name}.requiredInputs names "${id}", which is not the id of one of its inputs`,
        )
    }
    for (const name of pdfNames) {
      const pdf = resources[name]
      if (typeof pdf !== 'object') continue
      const bytes = new Uint8Array(this.#file(pdf.upload, `resources.${name}`) ?? [])
      resolved[name] = { bytes, filename: basename(pdf.upload) }
    }
    return resolved
  }

  #operation(id: OperationId, value: OperationValue): OperationBinding {
    const { path, query, headers, body, content, contentType, filename, cleanup } = value
    const place = `operations.${id}`
    // A role must point to an existing member, or one that can be added; that of the text or file that the operation
    // works on must exist.
    const { freshFileAt, members } = operationOf(id)
    for (const [role, pointer] of Object.entries(value.fields ?? {})) {
      if (role === 'id') continue
      const at = pointer.lastIndexOf('/')
      const [parent, last] = [pointer.slice(0, at), pointer.slice(at + 1)]
      const holder = getAt(body, parent)
      const isText = members.find((one) => one.role === role)?.tolerates?.includes('array')
      const isNeeded = isText || freshFileAt === role
      const lacks = `${place}.fields.${role} points to ${pointer}, but ${place}.body`
      if (typeof holder !== 'object' || holder === null)
        this.refuse(`${lacks} has no object ${parent === '' ? 'there' : `at ${parent}`}`)
      else if (Array.isArray(holder) && !(Number(last) <= holder.length))
        this.refuse(`${lacks} has an array at ${parent}`)
      else if (isNeeded && getAt(body, pointer) === undefined) {
        const known = Object.keys(holder).map((name) => `${parent}/${name}`)
        this.refuse(`${lacks} has no such member${didYouMean(pointer, known)}`)
      }
    }
    const isText = content && 'text' in content
    return {
      path,
      query: this.#query(`${place}.query`, query),
      headers: this.#lines('header', `${place}.headers`, headers, 'give the key as keys.full'),
      body,
      content: content && {
        bytes: bytesOf(content),
        contentType: contentType ?? (isText ? 'text/plain' : 'application/octet-stream'),
        filename: basename(filename ?? (isText ? 'conform.txt' : 'conform.bin')),
      },
      fields: { ...operationOf(id).fields, ...value.fields },
      cleanup: this.#hooks(`${place}.cleanup`, cleanup),
    }
  }

  #scenario(id: string, value: ScenarioValue): Scenario | undefined {
    const place = `scenarios.${id}`
    const area = findRequirement(id)?.operation
    const of = area && isOperationId(area) ? area : value.operation
    if (area === undefined || of === undefined) {
      const why =
        area === undefined
          ? `names no requirement${didYouMean(id, requirementIds)}`
          : 'is not possible: envelope requirements are judged on every response'
      this.refuse(`${place} ${why}`)
      return undefined
    }
    const { key, headers, params = {}, query, raw, before, after } = value
    const names = namesIn(operationOf(of).path)
    for (const name of Object.keys(params).filter((one) => !names.includes(one)))
      this.refuse(
        `${place}.params.${name} is not a path parameter of ${of}${didYouMean(name, names)}`,
      )
    return {
      ...value,
      operation: of,
      key: key === undefined ? undefined : this.#key(`${place}.key`, key, labels.other),
      headers: this.#lines('header', `${place}.headers`, headers, `give the key as ${place}.key`),
      params,
      query: this.#query(`${place}.query`, query),
      raw: raw && { bytes: bytesOf(raw), contentType: raw.contentType },
      before: this.#hooks(`${place}.before`, before),
      after: this.#hooks(`${place}.after`, after),
      isExclusive: Boolean(before?.length) || Boolean(after?.length) || value.repeat !== undefined,
    }
  }
}

function bytesOf(content: ContentValue): Uint8Array {
  return new Uint8Array(
    'text' in content ? Buffer.from(content.text) : Buffer.from(content.base64, 'base64'),
  )
}

export function normalBaseUrl(text: string): string {
  return new URL(text).href.replace(/\/+$/, '')
}

/** Headers that frame a message or belong to the connection: the suite sets them itself. */
const framing = [
  ...['content-length', 'transfer-encoding', 'connection', 'keep-alive'],
  ...['upgrade', 'expect', 'te', 'trailer'],
]

function headerValueProblem(value: string): string | undefined {
  if (/[\u0000-\u001f\u007f]/.test(value)) return 'has a control character'
  if (/[^\u0000-\u007f]/.test(value)) return 'has a character that is not ASCII'
  return undefined
}

function keyProblem(value: string): string | undefined {
  if (value === '') return 'is empty'
  if (value !== value.trim()) return 'begins or ends with a blank'
  if (/^bearer\s/i.test(value))
    return 'begins with the word Bearer, which is sent before it; remove it'
  return headerValueProblem(value)
}

interface Noted {
  readonly secrets: Secret[]
  readonly warnings: string[]
}

export const labels = {
  full: '$CONFORM_API_KEY',
  expired: '$CONFORM_KEY_EXPIRED',
  restricted: '$CONFORM_KEY_RESTRICTED',
  other: redacted,
} as const

export function note(noted: Noted, place: string, value: string, label: string): void {
  noted.secrets.push({ value, label })
  printed.keys.add(value, label)
  if (value.length < shortestKey)
    noted.warnings.push(
      `${place} is shorter than ${shortestKey} characters: reports can only hide it where it appears alone`,
    )
}

const functionTtlMs = 60_000

/** Gets a key from a command or function and caches it; each one is registered before use. */
export function askedKey(
  context: Noted & { readonly dir: string },
  place: string,
  source: FromCommand | KeyFunction,
  label: string,
): () => Promise<string> {
  const isFunction = typeof source === 'function'
  const ttlMs = isFunction ? functionTtlMs : (source.ttlSeconds ?? Infinity) * 1000
  const ask = async (): Promise<string> => {
    const value = await (isFunction
      ? callFunction(place, source)
      : runCommand(place, source.command, context.dir))
    const problem = keyProblem(value)
    const what = isFunction ? 'function' : 'command'
    if (problem !== undefined)
      throw new UserError(`${place}: the key that the ${what} gives ${problem}`)
    note(context, place, value, label)
    return value
  }
  let askedAt = 0
  let known: Promise<string> | undefined
  return () => {
    if (known && performance.now() - askedAt < ttlMs) return known
    askedAt = performance.now()
    const response = ask()
    known = response
    response.catch(() => {
      if (known === response) known = undefined
    })
    return response
  }
}

async function callFunction(place: string, source: KeyFunction): Promise<string> {
  const what = `${place}: the function that gives the key`
  let value: unknown
  try {
    const answer = Promise.resolve(source())
    value = await waitForForeign(answer, `${what} never answers`, { keepsAlive: true })
  } catch (error) {
    if (error instanceof Unjudgeable) throw error
    throw new UserError(`${what} threw ${foreignWords(error)}`)
  }
  if (typeof value !== 'string') throw new UserError(`${what} must return a string`)
  return value
}

function runCommand(place: string, command: readonly string[], cwd: string): Promise<string> {
  const [program = '', ...args] = command
  const options = { cwd, timeout: foreignMs, windowsHide: true }
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout.trim())
      const lastLine = foreignWords(stderr.trim().split('\n').at(-1))
      const why = lastLine === '' ? failure(error) : `${failure(error)}: ${lastLine}`
      reject(new UserError(`${place}: the command "${program}" ${why}`))
    })
  })
}

function failure(error: ExecFileException): string {
  const { code, killed } = error
  if (killed) return `took longer than ${foreignMs / 1000} s`
  if (code === 'ENOENT') return 'was not found'
  return typeof code === 'number' ? `failed with exit code ${code}` : `failed (${code ?? 'signal'})`
}
