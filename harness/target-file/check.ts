import { applicationNames } from './model.ts'
import { isAbsoluteUrl, baseUrlProblem, headerProblems, keyProblem } from './http-values.ts'
import type {
  HeaderValues,
  HookRequestValue,
  ScenarioValue,
  TargetFile,
  OperationValue,
} from './target-file.ts'
import type { ApplicationValue } from './resource-values.ts'
import { isRequirementId, requirementOf } from '../../catalogue/catalogue.ts'
import { type OperationId, isOperationId, operation } from '../../catalogue/operations.ts'
import { didYouMean, nearest, requirementIds } from './nearest.ts'
import { isObject, escapeToken, getAt, memberPath, tokensOf } from '../../schemas/json.ts'
import { UserError } from '../user-error.ts'
import { unreachableProblems } from './declared.ts'
import { isNeeded } from './roles.ts'
import { plainData } from './resolve.ts'
import { isKeyPlace, savedProblems, textsOf, unfilledProblems } from './saved.ts'
import type { ErrorObject } from 'ajv/dist/2020.js'
import { validatorOf } from '../../schemas/validators.ts'
import { withArticle } from '../../schemas/validate.ts'

/** Finds faults of the target's own requests beyond their form. */
function hookRequestProblems(path: string, requests: readonly HookRequestValue[] = []): string[] {
  return requests.flatMap(({ url, headers }, at) => [
    ...told(
      `${path}[${at}].url`,
      isAbsoluteUrl(url) ? baseUrlProblem(url.replace(/[?#].*$/s, '')) : undefined,
    ),
    ...headersProblems(`${path}[${at}].headers`, headers),
  ])
}

/** A problem as a sentence, if it is one. */
function told(path: string, problem: string | undefined): string[] {
  return problem === undefined ? [] : [`${path} ${problem}`]
}

function headersProblems(
  path: string,
  headers: HeaderValues | undefined,
  insteadOfAuthorization?: string,
): string[] {
  return headerProblems(headers, insteadOfAuthorization).map(
    ([name, problem]) => `${path}.${name} ${problem}`,
  )
}

function problemsOfScenario(id: string, scenario: ScenarioValue): string[] {
  const path = `scenarios.${id}`
  if (!isRequirementId(id) && id.includes('*'))
    return [
      `${path} is a pattern, and scenarios takes none: write one entry for each id (a target file that is a module can make them in a loop)`,
    ]
  if (!isRequirementId(id)) return [`${path} names no requirement${didYouMean(id, requirementIds)}`]
  const { operation: area } = requirementOf(id)
  if (area === 'envelope')
    return [`${path} is not possible: envelope requirements are judged on every response`]
  return [
    ...operationProblem(path, area, scenario),
    ...paramProblems(path, isOperationId(area) ? area : scenario.operation, scenario),
    ...bodyProblems(path, scenario),
    ...headersProblems(`${path}.headers`, scenario.headers, `give the key as ${path}.key`),
    ...hookRequestProblems(`${path}.before`, scenario.before),
    ...hookRequestProblems(`${path}.after`, scenario.after),
  ]
}

function operationProblem(path: string, area: string, scenario: ScenarioValue): string[] {
  const required = area === 'guardrails' || area === 'general'
  if (required && scenario.operation === undefined)
    return [`${path}.operation is missing: name the operation whose request is changed`]
  if (!required && scenario.operation !== undefined)
    return [`${path}.operation is not allowed here: the id already says that it is ${area}`]
  return []
}

function paramProblems(
  path: string,
  id: OperationId | undefined,
  { params = {} }: ScenarioValue,
): string[] {
  const names = id
    ? [...operation(id).path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
    : []
  return Object.keys(params)
    .filter((name) => !names.includes(name))
    .map(
      (name) => `${path}.params.${name} is not a path parameter of ${id}${didYouMean(name, names)}`,
    )
}

function bodyProblems(path: string, { body, merge, raw }: ScenarioValue): string[] {
  if (raw !== undefined && (body !== undefined || merge !== undefined))
    return [`${path}.raw replaces the body: remove body and merge`]
  return []
}

const most = 10

/**
 * Gives the value back as a target file, or throws one `UserError` that names each wrong member by its path.
 * @param source how the file is called in the message
 */
export function checkTargetFile(value: unknown, source: string): TargetFile {
  const problems: string[] = []
  const { handler, rest } = withoutHandler(value)
  const data = plainData(rest, (pointer, what) =>
    problems.push(`${memberPath(pointer) || 'the target file'}: ${what}`),
  )
  problems.push(...handlerProblems(handler, data))
  // Each step counts on the one before: form on plain data, meaning on form.
  if (problems.length === 0) problems.push(...schemaProblems(data))
  if (problems.length === 0) problems.push(...meaningProblems(data as TargetFile))
  if (problems.length === 0) return value as TargetFile
  const more = problems.length > most ? [`and ${problems.length - most} more`] : []
  throw new UserError(
    [...problems.slice(0, most), ...more].map((problem) => `${source}: ${problem}`).join('\n'),
  )
}

/** The handler of a module stands apart: the rest is data, and has a schema. */
function withoutHandler(value: unknown): { readonly handler?: unknown; readonly rest: unknown } {
  if (!isObject(value) || !Object.hasOwn(value, 'fetch')) return { rest: value }
  const { fetch: handler, ...rest } = value
  return { handler, rest }
}

function handlerProblems(handler: unknown, data: unknown): string[] {
  if (handler === undefined) return []
  if (typeof handler !== 'function')
    return [
      'fetch must be a function, such as app.fetch: the target is then a module, or an object in a program',
    ]
  return getAt(data, '/baseUrl') === undefined
    ? []
    : ['fetch stands in place of baseUrl: remove one of the two']
}

function meaningProblems(file: TargetFile): string[] {
  return [
    ...told('baseUrl', file.baseUrl === undefined ? undefined : baseUrlProblem(file.baseUrl)),
    ...headersProblems('headers', file.headers, 'give the key as keys.full'),
    ...keyProblems(file),
    ...requiredInputProblems(file),
    ...Object.entries(file.operations ?? {}).flatMap(([id, value]) =>
      problemsOfOperation(id, value),
    ),
    ...Object.entries(file.scenarios ?? {}).flatMap(([id, scenario]) =>
      problemsOfScenario(id, scenario),
    ),
    ...savedProblems(file),
    ...unreachableProblems(file),
    ...unfilledProblems(file),
  ]
}

function keyProblems({ keys = {}, scenarios = {} }: TargetFile): string[] {
  const all = [...textsOf(keys, 'keys'), ...textsOf(scenarios, 'scenarios')]
  return all.flatMap(([place, text]) => (isKeyPlace(place) ? told(place, keyProblem(text)) : []))
}

function requiredInputProblems({ resources = {} }: TargetFile): string[] {
  return applicationNames.flatMap((name) => {
    const { inputs = [], requiredInputs = [] }: Partial<ApplicationValue> = resources[name] ?? {}
    const ids = inputs.map(({ id }) => id)
    return requiredInputs
      .filter((id) => !ids.includes(id))
      .map(
        (id) =>
          `resources.${name}.requiredInputs names "${id}", which is not the id of one of its inputs${didYouMean(id, ids)}`,
      )
  })
}

function problemsOfOperation(id: string, value: OperationValue | string): string[] {
  if (!isOperationId(id) || typeof value === 'string') return []
  return [
    ...headersProblems(`operations.${id}.headers`, value.headers, 'give the key as keys.full'),
    ...hookRequestProblems(`operations.${id}.cleanup`, value.cleanup),
    ...Object.entries(value.fields ?? {})
      .filter(([role]) => role !== 'id')
      .flatMap(([role, pointer]) => pointerProblem(id, role, pointer, value.body)),
  ]
}

/** A role points to a member that is there, or that a probe can add to an object or array that is there. */
function pointerProblem(id: OperationId, role: string, pointer: string, body: unknown): string[] {
  const path = `operations.${id}`
  const at = `${path}.fields.${role}`
  if (body === undefined) return [`${at} points into ${path}.body, but there is no body`]
  const parent = pointer.slice(0, pointer.lastIndexOf('/'))
  const holder = getAt(body, parent)
  const last = tokensOf(pointer).at(-1) ?? ''
  if (Array.isArray(holder) && !/^(0|[1-9]\d*)$/.test(last))
    return [`${at} points to ${pointer}, but ${where(parent, path)} is an array`]
  if (Array.isArray(holder) && Number(last) > holder.length)
    return [`${at} points to ${pointer}, past the end of the array`]
  if (typeof holder !== 'object' || holder === null)
    return [
      `${at} points to ${pointer}, but ${where(parent, path)} is ${holder === undefined ? 'absent' : 'no object'}`,
    ]
  if (Object.hasOwn(holder, last)) return []
  const names = Object.keys(holder)
  // A probe adds a member that is absent. One that the operation works on, or that is almost the name of another, is a slip.
  const meant =
    last.length > 4
      ? nearest(
          last,
          names.filter(({ length }) => length > 4),
        )
      : undefined
  if (meant === undefined && !isNeeded(id, role)) return []
  const known = names.map((name) => `${parent}/${escapeToken(name)}`)
  const hint =
    meant === undefined ? didYouMean(pointer, known) : `; did you mean ${parent}/${meant}?`
  return [`${at} points to ${pointer}, which ${where(parent, path)} does not have${hint}`]
}

function where(parent: string, path: string): string {
  return parent === '' ? `${path}.body` : `${parent} of ${path}.body`
}

interface Schema {
  readonly title?: string
  readonly properties?: Readonly<Record<string, unknown>>
  readonly enum?: readonly unknown[]
}

/** Finds what does not fit the schema, each in one sentence that names the member. */
function schemaProblems(value: unknown): string[] {
  const validate = validatorOf('target')
  if (validate(value)) return []
  const sentences = (validate.errors ?? []).filter(isSpecific).map(sentence)
  return [...new Set(sentences)]
}

/** False for errors that only repeat what another says: `if`, the branches of `oneOf`, a `oneOf` that fails for an unknown member. */
function isSpecific(
  { keyword, schemaPath, instancePath }: ErrorObject,
  _at: number,
  all: readonly ErrorObject[],
): boolean {
  if (keyword === 'oneOf')
    return !all.some(
      (other) => other.keyword === 'additionalProperties' && other.instancePath === instancePath,
    )
  // The check of scenarios reports an id that no requirement has, with a near one.
  const isId = schemaPath.startsWith('#/properties/scenarios/propertyNames')
  return !isId && keyword !== 'if' && keyword !== 'propertyNames' && !/\/oneOf\/\d/.test(schemaPath)
}

function inside(pointer: string, member: string): string {
  const path = memberPath(pointer)
  return path === '' ? member : `${path}.${member}`
}

function sentence(error: ErrorObject): string {
  const { keyword, instancePath, params, parentSchema } = error
  const { title, properties } = (parentSchema ?? {}) as Schema
  const path = memberPath(instancePath)
  const subject = path === '' ? 'the target file' : path
  switch (keyword) {
    case 'additionalProperties': {
      const unknown = String(params['additionalProperty'])
      return `unknown member ${inside(instancePath, unknown)}${didYouMean(unknown, Object.keys(properties ?? {}), inside(instancePath, ''))}`
    }
    case 'required':
      return `${inside(instancePath, String(params['missingProperty']))} is missing`
    case 'dependentRequired':
      return `${inside(instancePath, String(params['property']))} needs ${inside(instancePath, String(params['missingProperty']))} beside it`
    case 'type':
      return `${subject} must be ${(path && title) || withArticle(String(params['type']))}`
    case 'oneOf':
      return `${subject} must be ${title}, exactly one of these`
    case 'enum':
    case 'const':
      return wrongChoice(error, subject)
    case 'minLength':
      return `${subject} must not be empty`
    case 'pattern':
      return error.propertyName === undefined
        ? `${subject} must ${title === undefined ? `match ${String(params['pattern'])}` : `be ${title}`}`
        : `${inside(instancePath, error.propertyName)} is not ${title}`
    default:
      return `${subject} ${error.message ?? 'is not valid'}`
  }
}

function wrongChoice({ data, params }: ErrorObject, subject: string): string {
  const choices = (params['allowedValues'] as string[] | undefined) ?? [
    String(params['allowedValue']),
  ]
  const valid =
    choices.length > 3 ? '' : ` must be ${choices.map((choice) => `"${choice}"`).join(' or ')}`
  if (typeof data !== 'string' || valid !== '')
    return `${subject}${valid || ` must be one of ${choices.join(', ')}`}`
  return `${subject} must be another name than "${data}"${didYouMean(data, choices)}`
}
