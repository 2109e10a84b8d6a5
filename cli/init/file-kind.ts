import { extname } from 'node:path'
import { UserError } from '../../harness/user-error.ts'

const modules = ['.ts', '.mts', '.js', '.mjs']

/** Whether a target file of that name is a module; throws UserError if it can be no target file. */
export function isModule(file: string): boolean {
  const extension = extname(file)
  if (extension === '.json') return false
  if (modules.includes(extension)) return true
  throw new UserError(`${file}: a target file ends in .json, ${modules.join(', ')}`)
}
