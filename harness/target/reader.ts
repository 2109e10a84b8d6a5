import { readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { isRequirementId, requirementOf } from '../../catalogue/catalogue.ts'
import {
  isOperationId,
  type OperationId,
  operation,
  operations as allOperations,
} from '../../catalogue/operations.ts'
import { getAt } from '../../schemas/json.ts'
import type { HeaderLine } from '../http/index.ts'
import { isAuthorization, isSecretName } from '../recording/index.ts'
import { whyUnreadable } from '../user-error.ts'
import { fieldsOf, isKeyPerOperation, isNeeded, withEveryOperation } from './declared.ts'
import { headerProblem, headerValueProblem, keyProblem } from './http-values.ts'
import { askedKey, type Environment, labels, note } from './keys.ts'
import {
  applicationNames,
  pdfNames,
  type HookRequest,
  type KeySource,
  type KeySources,
  type OperationBinding,
  type Resources,
  type Scenario,
  type Secret,
  type Target,
} from './model.ts'
import { didYouMean, requirementIds } from './nearest.ts'
import type {
  ContentValue,
  HeaderValues,
  HookRequestValue,
  KeyValue,
  OperationValue,
  ScenarioValue,
  TargetFile,
} from './target-file.ts'

export interface Given {
  readonly key?: string
  readonly headers?: HeaderValues
}

interface Surroundings {
  readonly dir: string
  readonly source?: string | undefined
  readonly env: Environment
  readonly baseUrl: string
}

type Part = 'headers' | 'query' | 'tls' | 'keys' | 'setup' | 'teardown' | 'resources'

/** Reads what a target file refers to, checks what the schema cannot, and collects what is wrong. */
export class Reader {
  readonly problems: string[] = []
  readonly secrets: Secret[] = []
  /** Header values from the environment: also hidden, unless the file itself shows them. */
  readonly hidden: Secret[] = []
  readonly warnings: string[] = []
  /** Commands and functions that provide keys, called before the run. */
  readonly asked: (() => Promise<string>)[] = []
  readonly #around: Surroundings

  constructor(around: Surroundings) {
    this.#around = around
  }

  refuse(sentence: string): void {
    this.problems.push(this.#placed(sentence))
  }

  #placed(sentence: string): string {
    const { source } = this.#around
    return source === undefined ? sentence : `${source}: ${sentence}`
  }

  parts(
    file: TargetFile,
    given: Given,
  ): Pick<Target, Part | 'operations' | 'absent' | 'scenarios'> {
    const entries = Object.entries(withEveryOperation(file).operations ?? {})
    const again = Object.keys(given.headers ?? {}).map((name) => name.toLowerCase())
    const own = Object.entries(file.headers ?? {}).filter(
      ([name]) => !again.includes(name.toLowerCase()),
    )
    const files = Object.entries(file.tls ?? {})
    return {
      keys: this.#keys(file, given.key),
      headers: [
        ...this.#headers('headers', Object.fromEntries(own), 'give the key as keys.full'),
        ...this.#lines('--header ', given.headers, (name, value) =>
          headerProblem(name, value, 'give the key by CONFORM_API_KEY'),
        ),
      ],
      query: this.#query('query.', file.query),
      tls: Object.fromEntries(
        files.map(([name, path]) => [
          name,
          this.#file(path, `tls.${name}`)?.toString('utf8') ?? '',
        ]),
      ),
      setup: this.#hooks('setup', file.setup).map((request, at) => ({
        ...request,
        save: file.setup?.[at]?.save ?? {},
      })),
      teardown: this.#hooks('teardown', file.teardown),
      resources: this.#resources(file),
      operations: Object.fromEntries(
        entries.flatMap(([id, value]) =>
          typeof value === 'object' ? [[id, this.#operation(id as OperationId, value)]] : [],
        ),
      ),
      absent: Object.fromEntries(entries.filter(([, value]) => typeof value === 'string')),
      scenarios: Object.fromEntries(
        Object.entries(file.scenarios ?? {}).flatMap(([id, value]) => {
          const scenario = this.#scenario(id, value)
          return scenario ? [[id, scenario]] : []
        }),
      ),
    }
  }

  #variable(name: string, place: string): string | undefined {
    const value = this.#around.env[name]
    if (value) return value
    const state = value === undefined ? 'not set' : 'empty'
    this.problems.push(`${place}: the environment variable ${name} is ${state}`)
    return undefined
  }

  #file(path: string, member: string): Buffer | undefined {
    try {
      return readFileSync(resolve(this.#around.dir, path))
    } catch (error) {
      this.refuse(`${member}: ${path} ${whyUnreadable(error)}`)
      return undefined
    }
  }

  #keys({ keys = {} }: TargetFile, given?: string): KeySources {
    const { full, expired, restricted } = keys
    const read = (value: KeyValue, member: string): KeySource =>
      this.#key(member, value, labels.restricted)
    const one = restricted === undefined || isKeyPerOperation(restricted) ? undefined : restricted
    const each = one ? undefined : (restricted as Partial<Record<OperationId, KeyValue>>)
    const ofAll = one && read(one, 'keys.restricted')
    return compact<KeySources>({
      full: this.#fullKey(full, given),
      expired:
        expired === undefined ? undefined : this.#key('keys.expired', expired, labels.expired),
      restricted: Object.fromEntries(
        ofAll
          ? allOperations.map((allOperation) => [allOperation.id, ofAll])
          : Object.entries(each ?? {}).map(([id, key]) => [id, read(key, `keys.restricted.${id}`)]),
      ),
    })
  }

  /** `-k`, else `keys.full`, else `CONFORM_API_KEY`, else none. */
  #fullKey(declared?: KeyValue, given?: string): KeySource | undefined {
    if (given === undefined && declared !== undefined)
      return this.#key('keys.full', declared, labels.full)
    // Unused, but still secret.
    if (typeof declared === 'string') note(this, this.#placed('keys.full'), declared, labels.other)
    const variable = 'CONFORM_API_KEY'
    const value = given ?? (this.#around.env[variable] || undefined)
    const from =
      given === undefined ? `the environment variable ${variable}` : 'the key on the command line'
    return value === undefined ? undefined : this.#fixed(from, value, labels.full)
  }

  #key(member: string, value: KeyValue, label: string): KeySource {
    const place = this.#placed(member)
    if (typeof value === 'string') return this.#fixed(place, value, label)
    if (typeof value === 'object' && 'env' in value) {
      const text = this.#variable(value.env, place)
      return this.#fixed(
        `${place} (from the environment variable ${value.env})`,
        text,
        `$${value.env}`,
      )
    }
    if (typeof value === 'object' && 'file' in value) {
      const text = this.#file(value.file, member)
        ?.toString('utf8')
        .replace(/\r?\n$/, '')
      return this.#fixed(`${place} (from the file ${value.file})`, text, label)
    }
    const { dir, source } = this.#around
    const { secrets, warnings } = this
    const ask = askedKey({ dir, source, secrets, warnings }, member, value, label)
    this.asked.push(ask)
    return { label, ask }
  }

  #fixed(place: string, value: string | undefined, label: string): KeySource {
    const problem = value === undefined ? undefined : keyProblem(value)
    if (problem !== undefined) this.problems.push(`${place} ${problem}`)
    else if (value !== undefined) note(this, place, value, label)
    return { label, value: value ?? '' }
  }

  /** @param before the names, `--header ` for those of the command line */
  #lines(
    before: string,
    headers: HeaderValues = {},
    problemOf: (name: string, value: string) => string | undefined,
  ): HeaderLine[] {
    return Object.entries(headers).map(([name, declared]) => {
      const member = before + name
      const place = before.startsWith('--') ? member : this.#placed(member)
      const variable = typeof declared === 'object' ? declared.env : undefined
      const text = typeof declared === 'string' ? declared : this.#variable(declared.env, place)
      const line = { name, value: text ?? '' }
      const problem = problemOf(name, line.value)
      if (problem !== undefined) this.problems.push(`${place} ${problem}`)
      if (text !== undefined) this.#noteHeader(place, line, variable)
      return line
    })
  }

  /** Notes the secret part of a header or query member, by its name or because it comes from the environment. */
  #noteHeader(place: string, line: HeaderLine, variable?: string): void {
    const label = variable === undefined ? labels.other : `$${variable}`
    if (isAuthorization(line.name)) {
      const [, credentials] = /^\S+ (.+)$/.exec(line.value) ?? []
      const behind = variable === undefined ? label : `\${${variable}#* }`
      note(this, place, credentials ?? line.value, credentials === undefined ? label : behind)
    } else if (isSecretName(line.name)) {
      note(this, place, line.value, label)
    } else if (variable !== undefined) this.hidden.push({ value: line.value, label })
  }

  /** @param instead what to do instead of an Authorization header, if the suite sends one */
  #headers(place: string, headers?: HeaderValues, instead?: string): HeaderLine[] {
    return this.#lines(`${place}.`, headers, (name, value) => headerProblem(name, value, instead))
  }

  #query(before: string, query?: HeaderValues): Record<string, string> {
    const lines = this.#lines(before, query, (_, value) => headerValueProblem(value))
    return Object.fromEntries(lines.map((line) => [line.name, line.value]))
  }

  #hooks(place: string, requests: readonly HookRequestValue[] = []): HookRequest[] {
    const { baseUrl } = this.#around
    return requests.map(({ method, url, headers, body }, at) => {
      const whole = /^https?:/i.test(url) ? url : `${baseUrl}/${url.replace(/^\/+/, '')}`
      const lines = this.#headers(`${place}[${at}].headers`, headers)
      const hasOwn = lines.some((line) => line.name.toLowerCase() === 'authorization')
      return {
        method: method.toUpperCase(),
        url: whole,
        headers: lines,
        body,
        withKey: !hasOwn && new URL(whole).origin === new URL(baseUrl).origin,
      }
    })
  }

  #resources({ resources = {} }: TargetFile): Resources {
    const resolved: Record<string, unknown> = { ...resources }
    for (const name of applicationNames) {
      const application = resources[name]
      if (!application) continue
      const { inputs, requiredInputs = [] } = application
      for (const id of requiredInputs.filter((one) => !inputs.some((input) => input.id === one)))
        this.refuse(
          `resources.${name}.requiredInputs names "${id}", which is not the id of one of its inputs`,
        )
      resolved[name] = { ...application, requiredInputs }
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
    for (const [role, pointer] of Object.entries(value.fields ?? {})) {
      const problem = role === 'id' ? undefined : pointerProblem(id, role, pointer, body)
      if (problem !== undefined) this.refuse(`${place}.fields.${role} ${problem}`)
    }
    const isText = content && 'text' in content
    return compact<OperationBinding>({
      path,
      query: this.#query(`${place}.query.`, query),
      headers: this.#headers(`${place}.headers`, headers, 'give the key as keys.full'),
      body,
      content: content && {
        bytes: bytesOf(content),
        contentType: contentType ?? (isText ? 'text/plain' : 'application/octet-stream'),
        filename: basename(filename ?? (isText ? 'conform.txt' : 'conform.bin')),
      },
      fields: fieldsOf(id, value),
      cleanup: this.#hooks(`${place}.cleanup`, cleanup),
    })
  }

  #scenario(id: string, value: ScenarioValue): Scenario | undefined {
    const place = `scenarios.${id}`
    const area = isRequirementId(id) ? requirementOf(id).operation : undefined
    const of = area && isOperationId(area) ? area : value.operation
    if (area === undefined || of === undefined) {
      const why =
        area === undefined
          ? `names no requirement${didYouMean(id, requirementIds)}`
          : 'is not possible: envelope requirements are judged on every response'
      this.refuse(`${place} ${why}`)
      return undefined
    }
    const { key, headers, params = {}, query, body, merge, raw, repeat, before, after } = value
    const names = [...operation(of).path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    for (const name of Object.keys(params).filter((one) => !names.includes(one)))
      this.refuse(
        `${place}.params.${name} is not a path parameter of ${of}${didYouMean(name, names)}`,
      )
    return compact<Scenario>({
      operation: of,
      key: key === undefined ? undefined : this.#key(`${place}.key`, key, labels.other),
      headers: this.#headers(`${place}.headers`, headers, `give the key as ${place}.key`),
      params,
      query: this.#query(`${place}.query.`, query),
      body,
      merge,
      raw: raw && compact({ bytes: bytesOf(raw), contentType: raw.contentType }),
      repeat,
      before: this.#hooks(`${place}.before`, before),
      after: this.#hooks(`${place}.after`, after),
    })
  }
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

export function compact<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T
}
