import { readFileSync } from 'node:fs'
import { dirname, extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import { packageFile } from '../../schemas/package-file.ts'
import { noteModule, waitForForeign } from '../foreign-code.ts'
import { foreignWords, noteLiterals } from '../recording/index.ts'
import { doubledMember } from '../report/index.ts'
import { unreadable, Unjudgeable, UserError } from '../user-error.ts'
import { checkTargetFile } from './check.ts'
import type { TargetFile } from './target-file.ts'

const endings = ['.json', '.ts', '.mts', '.js', '.mjs']

/**
 * Reads a target file and checks its form: JSON, possibly with comments, or a module's default export. Without a path,
 * returns an empty one. `dir` is the base folder for relative paths.
 */
export async function loadTargetFile(
  path: string | undefined,
): Promise<{ readonly file: TargetFile; readonly dir: string }> {
  if (path === undefined) return { file: {}, dir: process.cwd() }
  const extension = extname(path).toLowerCase()
  const text = readText(path)
  if (!endings.includes(extension))
    throw new UserError(`${path}: a target file ends in ${endings.join(', ')}`)
  const value = extension === '.json' ? parseJson(text, path) : await importDefault(path, text)
  return { file: checkTargetFile(value, path), dir: dirname(resolve(path)) }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw unreadable(path, error)
  }
}

function parseJson(written: string, path: string): unknown {
  const text = written.replace(/^\uFEFF/, '')
  const errors: ParseError[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  const [error] = errors
  // For example two scenarios with one id, one of which would be ignored.
  const doubled = error ? undefined : doubledMember(text)
  const at = error ?? doubled
  if (!at) return value
  const what = doubled ? `"${doubled.name}" appears twice` : `not JSON: ${wordsOf(error!)}`
  const before = text.slice(0, at.offset).split('\n')
  const place = `line ${before.length}, column ${before.at(-1)!.length + 1}`
  throw new UserError(`${path}: ${what} at ${place}`)
}

function wordsOf(error: ParseError): string {
  return printParseErrorCode(error.error)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
}

async function importDefault(path: string, source: string): Promise<unknown> {
  noteLiterals(source)
  noteModule(path)
  const exported = await waitForForeign(
    importModule(path),
    `${path}: loading the module never finishes: an await in it does not settle`,
    { keepsAlive: false },
  )
  const value = (exported as { readonly default?: unknown } | null)?.default
  if (value !== undefined) return value
  throw new UserError(`${path}: no default export; write export default defineTarget({ ... })`)
}

/**
 * jiti reads TypeScript, and what Node itself cannot: an ES module named `.js`, or an import of the suite if it is not
 * installed.
 */
async function importModule(path: string): Promise<unknown> {
  try {
    return await (/\.m?js$/i.test(path) ? importNatively(path) : importByJiti(path))
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

/** Each load is fresh: the module may have changed. */
let readings = 0

async function importNatively(path: string): Promise<unknown> {
  try {
    return (await import(`${pathToFileURL(resolve(path)).href}?reading=${readings++}`)) as unknown
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException
    if (code !== 'ERR_MODULE_NOT_FOUND' && name !== 'SyntaxError') throw error
    return importByJiti(path)
  }
}

/**
 * Nothing is cached on disk: a target file may contain a key. `defineTarget` resolves even if the suite is not
 * installed beside it.
 */
const loading = {
  ...{ interopDefault: false, moduleCache: false, fsCache: false },
  alias: { 'ai-content-conformance': packageFile('dist/index.js') },
}

async function importByJiti(path: string): Promise<unknown> {
  const { createJiti } = await import('jiti')
  return createJiti(import.meta.url, loading).import(resolve(path))
}

function placeIn(path: string, message: string, place: string): string {
  const [, file = '', line, column] = /^\s*(.+):(\d+):(\d+)$/.exec(place) ?? []
  if (!message.startsWith('ParseError') || line === undefined) return path
  return `${file === resolve(path) ? path : file}:${line}:${Number(column) + 1}`
}
