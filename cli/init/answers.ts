import type { OperationId } from '../../catalogue/operations.ts'
import { extname } from 'node:path'
import { UserError } from '../../harness/user-error.ts'

/** What a starter file is made from. */
export interface Answers {
  readonly name: string
  readonly baseUrl: string
  /** Environment variable that holds the full key. */
  readonly keyVariable: string
  readonly notServed: readonly OperationId[]
  readonly application?: { readonly id: string; readonly inputs: readonly { id: string; value: string[] }[] }
  /** Ids of files that the target listed. */
  readonly file?: string
  readonly pdfFile?: string
}

export const KEY_VARIABLE = 'CONFORM_API_KEY'
export const EXAMPLE_URL = 'https://staging.example.com'

/** The name that a target goes by if nobody gives it one: its host. */
export function nameOf(baseUrl: string): string {
  return new URL(baseUrl).host
}

/** Reads `topic=tea, tone=dry` as inputs of an application; null if it is nothing of the kind. */
export function parseInputs(text: string): { id: string; value: string[] }[] | null {
  if (text.trim() === '') return []
  const pairs = text.split(',').map((pair) => /^\s*([^=\s]+)\s*=\s*(.+?)\s*$/.exec(pair))
  return pairs.every((pair) => pair !== null) ? pairs.map((pair) => ({ id: pair[1]!, value: [pair[2]!] })) : null
}

const modules = ['.ts', '.mts', '.js', '.mjs']

/** Whether a target file of that name is a module; throws UserError if it can be no target file. */
export function isModule(file: string): boolean {
  const extension = extname(file)
  if (extension === '.json') return false
  if (modules.includes(extension)) return true
  throw new UserError(`${file}: a target file ends in .json, ${modules.join(', ')}`)
}
