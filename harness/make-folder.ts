import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes a folder and its parents. Node's recursive `mkdirSync` never returns where nothing can be made, as below /proc.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return
  const above = dirname(resolve(path))
  if (above !== resolve(path)) makeFolder(above)
  try {
    mkdirSync(path)
  } catch (error) {
    // Another run may have just made it.
    if (!existsSync(path)) throw error
  }
}
