import type { SchemaName } from './ajv.ts'
import { validatorOf } from './validators.ts'
import type { ErrorObject } from 'ajv'
import { escapeToken, memberPath, preview } from './json.ts'

const formats: Readonly<Record<string, string>> = {
  uuid: 'a uuid',
  'date-time': 'an RFC 3339 date-time',
  date: 'a day written YYYY-MM-DD',
}

export function withArticle(type: string): string {
  if (type === 'null') return type
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`
}

function inWords(pointer: string): string {
  return memberPath(pointer, 60) || 'the body'
}

function wanted({ keyword, params, message }: ErrorObject): string {
  if (keyword === 'type')
    return `must be ${[params.type as string | string[]].flat().map(withArticle).join(' or ')}`
  if (keyword === 'format')
    return `must be ${formats[params.format as string] ?? `a ${params.format}`}`
  if (keyword === 'enum') return `must be one of ${(params.allowedValues as unknown[]).join(', ')}`
  if (keyword === 'const') return `must be ${preview(params.allowedValue)}`
  if (keyword === 'minItems')
    return `must have at least ${params.limit} item${params.limit === 1 ? '' : 's'}`
  return message ?? `must fit ${keyword}`
}

/** One sentence for the implementer of the server. */
function problemOf(error: ErrorObject): string {
  const { keyword, params, instancePath, data } = error
  const inside = (name: string): string => inWords(`${instancePath}/${escapeToken(name)}`)
  if (keyword === 'required') return `${inside(params.missingProperty as string)} is missing`
  if (keyword === 'additionalProperties')
    return `${inside(params.additionalProperty as string)} is not a known member`
  return `${inWords(instancePath)} ${wanted(error)}, got ${preview(data)}`
}

export type { SchemaName } from './ajv.ts'

export type Validity = { valid: true } | { valid: false; problem: string }

export function validate(name: SchemaName, data: unknown): Validity {
  const check = validatorOf(name)
  if (check(data)) return { valid: true }
  const [error] = check.errors ?? []
  if (!error) throw new Error(`${name}: refused without an error`)
  return { valid: false, problem: problemOf(error) }
}
