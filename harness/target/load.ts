import { dirname, extname, resolve } from 'node:path'
import { moduleFile, withArticle, validatorOf } from '../../schemas/validate.ts'
import { modulesRun, waitForForeign, Unjudgeable, UserError } from '../user-error.ts'
import { foreignWords, noteSecretsIn } from '../recording/redactor.ts'
import { matchesId, parseJson, readBytes } from '../report/index.ts'
import type { TargetFile } from './model.ts'
import type { ErrorObject } from 'ajv/dist/2020.js'
import { isObject, memberPath } from '../../schemas/json.ts'
import { plainFile } from './places.ts'
import { closest, distance } from 'fastest-levenshtein'
import { catalogue } from '../../catalogue/catalogue.ts'

const modules = ['.ts', '.mts', '.js', '.mjs']

/** Whether a target file of that name is a module; throws UserError for another extension than theirs and .json. */
export function isModule(path: string): boolean {
  const extension = extname(path).toLowerCase()
  if (extension === '.json') return false
  if (modules.includes(extension)) return true
  throw new UserError(`${path}: a target file ends in .json, ${modules.join(', ')}`)
}

/**
 * Reads a target file and checks its form: JSON, possibly with comments, or a module's default export. Without a path,
 * returns an empty one. `dir` is the base folder for relative paths.
 */
export async function loadTargetFile(
  path: string | undefined,
): Promise<{ readonly file: TargetFile; readonly dir: string }> {
  if (path === undefined) return { file: {}, dir: process.cwd() }
  const text = readBytes(path).toString()
  const value = isModule(path) ? await importDefault(path, text) : parseJson(text, path, true)
  return { file: checkTargetFile(value, path), dir: dirname(resolve(path)) }
}

async function importDefault(path: string, source: string): Promise<unknown> {
  noteSecretsIn(source)
  if (!modulesRun.includes(path)) modulesRun.push(path)
  const value = await waitForForeign(
    importModule(path),
    `${path}: loading the module never finishes: an await in it does not settle`,
    { keepsAlive: false },
  )
  if (value !== undefined) return value
  throw new UserError(`${path}: no default export; write export default defineTarget({ ... })`)
}

/**
 * jiti reads TypeScript, and an import of the suite that is not installed beside the file. Nothing is cached: the file
 * may have changed, and may contain a key.
 */
async function importModule(path: string): Promise<unknown> {
  try {
    const { createJiti } = await import('jiti')
    const suite = moduleFile('dist/index.js', 'library/define-target.ts')
    const alias = { 'ai-content-conformance': suite }
    const loading = { interopDefault: false, moduleCache: false, fsCache: false, alias }
    const exported = await createJiti(import.meta.url, loading).import(resolve(path))
    // What a promise is rejected with, or a getter throws, is the module's fault as well.
    const value = await (exported as { readonly default?: unknown } | null)?.default
    return isObject(value) ? { ...value } : value
  } catch (error) {
    if (error instanceof Unjudgeable) throw error
    const [message = '', place = ''] = (
      error instanceof Error ? error.message : String(error)
    ).split('\n')
    throw new UserError(
      `${placeIn(path, message, place)}: the module cannot be loaded: ${foreignWords(error)}`,
    )
  }
}

function placeIn(path: string, message: string, place: string): string {
  const [, file = '', line, column] = /^\s*(.+):(\d+):(\d+)$/.exec(place) ?? []
  if (!message.startsWith('ParseError') || line === undefined) return path
  return `${file === resolve(path) ? path : file}:${line}:${Number(column) + 1}`
}

/**
 * Checks that a value fits the schema of a target file, without reading anything that it refers to.
 * @param source name of the file in messages
 * @throws UserError that names each wrong member by its path
 */
export function checkTargetFile(value: unknown, source: string): TargetFile {
  const { fetch: handler, ...rest } = isObject(value) ? value : {}
  const data = isObject(value) ? rest : value
  const problems: string[] = []
  try {
    JSON.stringify(data)
  } catch {
    // Only a module can contain such values.
    problems.push('contains a value that JSON cannot represent')
  }
  if (problems.length === 0) {
    const plain = plainFile(data, (key) => (typeof key === 'function' ? 'function' : key))
    problems.push(...schemaProblems(plain))
  }
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

function schemaProblems(value: unknown): string[] {
  const validate = validatorOf('target')
  if (validate(value)) return []
  return [...new Set((validate.errors ?? []).filter(isSpecific).map(sentenceOf))]
}

function isSpecific(error: ErrorObject, _at: number, all: readonly ErrorObject[]): boolean {
  const { keyword, schemaPath, instancePath } = error
  if (keyword === 'oneOf')
    return !all.some(
      (other) => other.keyword === 'additionalProperties' && other.instancePath === instancePath,
    )
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
  // Other patterns have a title.
  if (keyword === 'pattern' || keyword === 'minItems') return `${subject} must not be empty`
  const choices = (params['allowedValues'] ?? []) as string[]
  if (choices.length > 3)
    return `${subject} is not a known name${didYouMean(String(propertyName ?? data), choices)}`
  const values = [params['allowedValue'] ?? choices].flat().map((one) => JSON.stringify(one))
  return `${subject} ${message}${values.length > 0 ? `: ${values.join(', ')}` : ''}`
}

/** The most likely candidate: one that contains the word, or differs by a slip; undefined if none is near. */
export function nearest(written: string, candidates: readonly string[]): string | undefined {
  const word = written.toLowerCase()
  if (word === '' || candidates.length === 0) return undefined
  const part = candidates.find((one) => word.length > 2 && one.toLowerCase().includes(word))
  const near = closest(written, candidates)
  const most = Math.min(written.length - 1, Math.max(2, Math.floor(written.length / 3)))
  return part ?? (distance(written, near) <= most ? near : undefined)
}

/** `; did you mean x?`, the nearest candidate; empty if there is none. */
export function didYouMean(written: string, candidates: readonly string[], prefix = ''): string {
  if (candidates.length === 0) return ''
  return `; did you mean ${prefix}${nearest(written, candidates) ?? closest(written, candidates)}?`
}

export const requirementIds: readonly string[] = catalogue.map((one) => one.id)

const patterns = [
  ...new Set(catalogue.map((one) => `${one.operation}/*`)),
  ...new Set(catalogue.map((one) => `${one.operation.split('.')[0]}.*`)),
]

/** How to list all, after the nearest id or pattern; where no pattern is accepted, after an id, if one is near. */
export function idMeant(written: string, takesPatterns: boolean): string {
  const known = [...patterns, ...requirementIds]
  const plain = written.replaceAll('*', '')
  const near = nearest(plain, known) ?? (takesPatterns ? closest(plain, known) : '')
  const meant = takesPatterns ? near : requirementIds.find((id) => matchesId(id, near))
  return `${meant === undefined ? '' : `; did you mean ${meant}?`} (conform list shows all)`
}
