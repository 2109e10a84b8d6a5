import type { ErrorObject } from 'ajv/dist/2020.js'
import { validatorOf } from '../../schemas/validators.ts'
import { didYouMean } from './nearest.ts'
import { memberPath } from '../../schemas/json.ts'
import { withArticle } from '../../schemas/validate.ts'

interface Schema {
  readonly title?: string
  readonly properties?: Readonly<Record<string, unknown>>
  readonly enum?: readonly unknown[]
}

/** Finds what does not fit the schema, each in one sentence that names the member. */
export function schemaProblems(value: unknown): string[] {
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
    return !all.some((other) => other.keyword === 'additionalProperties' && other.instancePath === instancePath)
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
  const choices = (params['allowedValues'] as string[] | undefined) ?? [String(params['allowedValue'])]
  const valid = choices.length > 3 ? '' : ` must be ${choices.map((choice) => `"${choice}"`).join(' or ')}`
  if (typeof data !== 'string' || valid !== '') return `${subject}${valid || ` must be one of ${choices.join(', ')}`}`
  return `${subject} must be another name than "${data}"${didYouMean(data, choices)}`
}
