import { dirname, extname, resolve } from 'node:path'
import { moduleFile } from '../../schemas/validate.ts'
import { noteModule, waitForForeign } from '../foreign-code.ts'
import { foreignWords, noteLiterals } from '../recording/index.ts'
import { parseJson, readBytes } from '../report/index.ts'
import { Unjudgeable, UserError } from '../user-error.ts'
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
  const text = readBytes(path).toString()
  if (!endings.includes(extension))
    throw new UserError(`${path}: a target file ends in ${endings.join(', ')}`)
  const value =
    extension === '.json' ? parseJson(text, path, true) : await importDefault(path, text)
  return { file: checkTargetFile(value, path), dir: dirname(resolve(path)) }
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
 * jiti reads TypeScript, and an import of the suite that is not installed beside the file. Nothing is cached: the file
 * may have changed, and may contain a key.
 */
async function importModule(path: string): Promise<unknown> {
  try {
    const { createJiti } = await import('jiti')
    const suite = moduleFile('dist/index.js', 'library/define-target.ts')
    const alias = { 'ai-content-conformance': suite }
    const loading = { interopDefault: false, moduleCache: false, fsCache: false, alias }
    return await createJiti(import.meta.url, loading).import(resolve(path))
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
