import type { ErrorObject } from 'ajv'
import { escapeToken, memberPath, preview } from './json.ts'
import { createRequire } from 'node:module'
import type { Ajv2020, Options, ValidateFunction } from 'ajv/dist/2020.js'
import { formats } from './formats.ts'
import { readFileSync } from 'node:fs'
import { precompiled } from './precompiled.ts'
import { fileURLToPath } from 'node:url'

/** The schemas that a run validates by: compiled at build time. The others would take a tenth of its memory. */
// oxfmt-ignore
export const runSchemas = [
  'llm-tool-completion', 'job', 'created-job', 'pdf-content', 'error-envelope', 'chat-completion', 'medical-entities',
  'target', 'baseline',
] as const
export type SchemaName = (typeof runSchemas)[number] | 'report' | 'certificate'

export function optionsFor(name: SchemaName): Options {
  // Every mistake in a target file is reported. References have sibling members.
  if (name === 'target')
    return { strictTypes: false, allErrors: true, verbose: true, inlineRefs: false, formats }
  return {
    strict: true,
    // Items after choices[0] are free.
    strictTuples: false,
    allErrors: false,
    // Members inherited from Object.prototype do not count.
    ownProperties: true,
    verbose: true,
    formats,
  }
}

/**
 * Loaded on demand: most runs compile nothing. `withFormats`: JSON Schema's formats, for schemas of others; added one
 * by one, since ajv-formats as a whole loads another ajv and non-standard keywords.
 */
export function newAjv(options: Options, { withFormats = false } = {}): Ajv2020 {
  const require = createRequire(import.meta.url)
  const { Ajv2020 } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  if (!withFormats) return new Ajv2020(options)
  const { fullFormats } =
    require('ajv-formats/dist/formats.js') as typeof import('ajv-formats/dist/formats.js')
  return new Ajv2020({ ...options, formats: fullFormats })
}

const compiled = new Map<SchemaName, ValidateFunction>()

export function validatorOf(name: SchemaName): ValidateFunction {
  const known = precompiled[name] ?? compiled.get(name)
  if (known) return known
  const file = packageFile(`schemas/${name}.schema.json`)
  const schema = JSON.parse(readFileSync(file, 'utf8')) as object
  // `tests/spec/strict-schemas` validates the schemas: it takes longer than compiling them.
  const validator = newAjv({ ...optionsFor(name), validateSchema: false }).compile(schema)
  compiled.set(name, validator)
  return validator
}

export type Validity = { valid: true } | { valid: false; problem: string }

export function validate(name: SchemaName, data: unknown): Validity {
  const check = validatorOf(name)
  if (check(data)) return { valid: true }
  const [error] = check.errors ?? []
  if (!error) throw new Error(`${name}: refused without an error`)
  return { valid: false, problem: problemOf(error) }
}

const formatNames: Readonly<Record<string, string>> = {
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

function wanted(error: ErrorObject): string {
  const { keyword, params } = error
  if (keyword === 'type')
    return `must be ${[params.type as string | string[]].flat().map(withArticle).join(' or ')}`
  if (keyword === 'format')
    return `must be ${formatNames[params.format as string] ?? `a ${params.format}`}`
  if (keyword === 'enum') return `must be one of ${(params.allowedValues as unknown[]).join(', ')}`
  if (keyword === 'const') return `must be ${preview(params.allowedValue)}`
  if (keyword === 'minItems')
    return `must have at least ${params.limit} item${params.limit === 1 ? '' : 's'}`
  return error.message ?? `must fit ${keyword}`
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

/** Path of a file of this package. Both this file and compiled code are one folder deep. */
export function packageFile(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url))
}

/** Path of a module of this package: compiled, or its source if the sources themselves run. */
export function moduleFile(compiled: string, source: string): string {
  return packageFile(import.meta.url.endsWith('.ts') ? source : compiled)
}

export const referenceTargetFile = packageFile('fixtures/reference.target.json')
