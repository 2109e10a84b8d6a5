import type { ErrorObject } from 'ajv/dist/2020.js'
import { isObject, memberPath } from '../../schemas/json.ts'
import { withArticle } from '../../schemas/validate.ts'
import { validatorOf } from '../../schemas/validators.ts'
import { UserError } from '../user-error.ts'
import { didYouMean } from './nearest.ts'
import { plainFile } from './places.ts'
import type { TargetFile } from './target-file.ts'

/**
 * Gives the value back as a target file that fits the schema. Nothing that it refers to is read.
 * @param source how the file is called in messages
 * @throws UserError that names each wrong member by its path
 */
export function checkTargetFile(value: unknown, source: string): TargetFile {
  // The handler of a module stands apart: the rest is data, and has a schema.
  const { fetch: handler, ...rest } = isObject(value) ? value : {}
  const data = isObject(value) ? rest : value
  const problems = unwritable(data) ?? schemaProblems(asJson(data))
  if (handler !== undefined && typeof handler !== 'function')
    problems.push('fetch must be a function, such as app.fetch')
  else if (handler !== undefined && isObject(data) && data['baseUrl'] !== undefined)
    problems.push('fetch stands in place of baseUrl: remove one of the two')
  refuseAll(problems.map((problem) => `${source}: ${problem}`))
  return value as TargetFile
}

/** Finds what is wrong with a base URL, in words that do not repeat it; undefined if nothing is. */
export function baseUrlProblem(baseUrl: string): string | undefined {
  return schemaProblems({ baseUrl })[0]?.replace('baseUrl ', '')
}

const mostProblems = 10

/** Throws one `UserError` for all that is wrong, if anything is; of much the first sentences. */
export function refuseAll(problems: readonly string[]): void {
  const more = problems.length - mostProblems
  const last = more > 0 ? [`and ${more} more`] : []
  if (problems.length > 0)
    throw new UserError([...problems.slice(0, mostProblems), ...last].join('\n'))
}

/** Only a module can hold what JSON cannot. */
function unwritable(value: unknown): string[] | undefined {
  try {
    JSON.stringify(value)
    return undefined
  } catch {
    return ['holds a value that JSON cannot']
  }
}

/** A function is a key as good as a text. */
const asJson = (value: unknown): unknown =>
  plainFile(value, (key) => (typeof key === 'function' ? 'function' : key))

function schemaProblems(value: unknown): string[] {
  const validate = validatorOf('target')
  if (validate(value)) return []
  return [...new Set((validate.errors ?? []).filter(isSpecific).map(sentenceOf))]
}

/** False for errors that only repeat what another says. */
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

/** The member's path, what is expected there, and the nearest valid name. */
function sentenceOf(error: ErrorObject): string {
  const { keyword, instancePath, params, message, data, propertyName } = error
  const { title, properties = {} } = error.parentSchema as Schema
  const path = memberPath(instancePath)
  const inside = path === '' ? '' : `${path}.`
  const subject = propertyName === undefined ? path || 'the target file' : inside + propertyName
  switch (keyword) {
    case 'additionalProperties': {
      const unknown = String(params['additionalProperty'])
      return `unknown member ${inside}${unknown}${didYouMean(unknown, Object.keys(properties), inside)}`
    }
    case 'required':
      return `${inside}${params['missingProperty']} is missing`
    case 'dependentRequired':
      return `${inside}${params['property']} needs ${inside}${params['missingProperty']} beside it`
    case 'minLength':
      return `${subject} must not be empty`
  }
  if (title !== undefined && path !== '') return `${subject} must be ${title}`
  if (keyword === 'type') return `${subject} must be ${withArticle(String(params['type']))}`
  if (keyword !== 'enum' && keyword !== 'const') return `${subject} ${message}`
  const choices = [params['allowedValues'] ?? params['allowedValue']].flat() as string[]
  if (choices.length <= 3)
    return `${subject} must be ${choices.map((choice) => `"${choice}"`).join(' or ')}`
  return `${subject} is not a known name${didYouMean(String(propertyName ?? data), choices)}`
}
