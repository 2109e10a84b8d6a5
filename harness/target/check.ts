import type { ErrorObject } from 'ajv/dist/2020.js'
import { isObject, memberPath } from '../../schemas/json.ts'
import { withArticle } from '../../schemas/validate.ts'
import { validatorOf } from '../../schemas/validators.ts'
import { placed, refuseAll } from './keys.ts'
import { didYouMean } from './nearest.ts'
import { plainFile } from './places.ts'
import { problemsOf } from './resolve.ts'
import type { TargetFile } from './target-file.ts'

/**
 * Gives the value back as a target file, or throws one `UserError` that names each wrong member by its path. Nothing that it
 * refers to is read.
 * @param source how the file is called in the message
 */
export function checkTargetFile(value: unknown, source: string): TargetFile {
  const file = checkForm(value, source)
  refuseAll(problemsOf(file, source), source)
  return file
}

/** As `checkTargetFile`, but for what the schema cannot say: that is looked at where the target is resolved. */
export function checkForm(value: unknown, source: string): TargetFile {
  const problems: string[] = []
  // The handler of a module stands apart: the rest is data, and has a schema.
  const { fetch: handler, ...rest } = isObject(value) ? value : {}
  const data = plainFile(isObject(value) ? rest : value, {
    problem: (path, what) => problems.push(`${path || 'the target file'}: ${what}`),
  })
  if (handler !== undefined && typeof handler !== 'function')
    problems.push(
      'fetch must be a function, such as app.fetch: the target is then a module, or an object in a program',
    )
  else if (handler !== undefined && isObject(data) && data['baseUrl'] !== undefined)
    problems.push('fetch stands in place of baseUrl: remove one of the two')
  // The schema counts on plain data.
  if (problems.length === 0) problems.push(...formProblems(data))
  refuseAll(
    problems.map((problem) => placed({ source }, problem)),
    source,
  )
  return value as TargetFile
}

interface Schema {
  readonly title?: string
  readonly properties?: Readonly<Record<string, unknown>>
}

/** Finds what does not fit the schema, each in one sentence that names the member. */
function formProblems(value: unknown): Iterable<string> {
  const validate = validatorOf('target')
  if (validate(value)) return []
  return new Set((validate.errors ?? []).filter(isSpecific).map(sentence))
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
  // An id that no requirement has is found later, with a near one.
  const isId = schemaPath.startsWith('#/properties/scenarios/propertyNames')
  return !isId && keyword !== 'if' && keyword !== 'propertyNames' && !/\/oneOf\/\d/.test(schemaPath)
}

function sentence(error: ErrorObject): string {
  const { keyword, instancePath, params, parentSchema } = error
  const { title, properties } = (parentSchema ?? {}) as Schema
  const path = memberPath(instancePath)
  const subject = path === '' ? 'the target file' : path
  const prefix = path === '' ? '' : `${path}.`
  switch (keyword) {
    case 'additionalProperties': {
      const unknown = String(params['additionalProperty'])
      return `unknown member ${prefix}${unknown}${didYouMean(unknown, Object.keys(properties ?? {}), prefix)}`
    }
    case 'required':
      return `${prefix}${params['missingProperty']} is missing`
    case 'dependentRequired':
      return `${prefix}${params['property']} needs ${prefix}${params['missingProperty']} beside it`
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
      if (error.propertyName !== undefined) return `${prefix}${error.propertyName} is not ${title}`
      return `${subject} must ${title === undefined ? `match ${params['pattern']}` : `be ${title}`}`
    default:
      return `${subject} ${error.message ?? 'is not valid'}`
  }
}

function wrongChoice({ data, params }: ErrorObject, subject: string): string {
  const choices = (params['allowedValues'] ?? [params['allowedValue']]) as string[]
  if (choices.length <= 3)
    return `${subject} must be ${choices.map((choice) => `"${choice}"`).join(' or ')}`
  return typeof data === 'string'
    ? `${subject} must be another name than "${data}"${didYouMean(data, choices)}`
    : `${subject} must be one of ${choices.join(', ')}`
}
