import type { ErrorObject } from 'ajv/dist/2020.js'
import { isObject, memberPath } from '../../schemas/json.ts'
import { withArticle, validatorOf } from '../../schemas/validate.ts'
import { UserError } from '../user-error.ts'
import { didYouMean } from './nearest.ts'
import { plainFile } from './places.ts'
import type { TargetFile } from './target-file.ts'

/**
 * Checks that a value fits the schema of a target file, without reading anything that it refers to.
 * @param source name of the file in messages
 * @throws UserError that names each wrong member by its path
 */
export function checkTargetFile(value: unknown, source: string): TargetFile {
  const { fetch: handler, ...rest } = isObject(value) ? value : {}
  const data = isObject(value) ? rest : value
  const problems = unwritable(data) ?? schemaProblems(asJson(data))
  if (handler !== undefined && typeof handler !== 'function')
    problems.push('fetch must be a function, such as app.fetch')
  else if (handler !== undefined && isObject(data) && data['baseUrl'] !== undefined)
    problems.push('fetch replaces baseUrl: remove one of the two')
  refuseAll(problems.map((problem) => `${source}: ${problem}`))
  return value as TargetFile
}

export function baseUrlProblem(baseUrl: string): string | undefined {
  return schemaProblems({ baseUrl })[0]?.replace('baseUrl ', '')
}

const mostProblems = 10

export function refuseAll(problems: readonly string[]): void {
  const more = problems.length - mostProblems
  const last = more > 0 ? [`and ${more} more`] : []
  if (problems.length > 0)
    throw new UserError([...problems.slice(0, mostProblems), ...last].join('\n'))
}

/** Only a module can contain values outside JSON. */
function unwritable(value: unknown): string[] | undefined {
  try {
    JSON.stringify(value)
    return undefined
  } catch {
    return ['contains a value that JSON cannot represent']
  }
}

const asJson = (value: unknown): unknown =>
  plainFile(value, (key) => (typeof key === 'function' ? 'function' : key))

function schemaProblems(value: unknown): string[] {
  const validate = validatorOf('target')
  if (validate(value)) return []
  return [...new Set((validate.errors ?? []).filter(isSpecific).map(sentenceOf))]
}

function isSpecific(error: ErrorObject, _at: number, all: readonly ErrorObject[]): boolean {
  const { keyword, schemaPath, instancePath } = error
  const isUnknownHere = (other: ErrorObject): boolean =>
    other.keyword === 'additionalProperties' && other.instancePath === instancePath
  if (keyword === 'oneOf') return !all.some(isUnknownHere)
  return !['if', 'propertyNames'].includes(keyword) && !/\/oneOf\/\d/.test(schemaPath)
}

interface Schema {
  readonly title?: string
  readonly properties?: Readonly<Record<string, unknown>>
}

function sentenceOf(error: ErrorObject): string {
  const { keyword, instancePath, params, message, data, propertyName } = error
  const { title, properties = {} } = error.parentSchema as Schema
  const path = memberPath(instancePath)
  const inside = path === '' ? '' : `${path}.`
  const subject = propertyName === undefined ? path || 'the target file' : inside + propertyName
  if (keyword === 'additionalProperties') {
    const unknown = String(params['additionalProperty'])
    return `unknown member ${inside}${unknown}${didYouMean(unknown, Object.keys(properties), inside)}`
  }
  if (params['missingProperty'] !== undefined)
    return `${inside}${params['missingProperty']} is missing`
  if (title !== undefined && path !== '') return `${subject} must be ${title}`
  if (keyword === 'type') return `${subject} must be ${withArticle(String(params['type']))}`
  const choices = (params['allowedValues'] ?? []) as string[]
  if (choices.length > 3)
    return `${subject} is not a known name${didYouMean(String(propertyName ?? data), choices)}`
  const values = [params['allowedValue'] ?? choices].flat().map((one) => JSON.stringify(one))
  return `${subject} ${message}${values.length > 0 ? `: ${values.join(', ')}` : ''}`
}
