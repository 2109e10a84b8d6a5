import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Makes a folder and those above it. The recursive `mkdirSync` of Node never ends if nothing can be made, as below /proc. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return
  const above = dirname(resolve(path))
  if (above !== resolve(path)) makeFolder(above)
  try {
    mkdirSync(path)
  } catch (error) {
    // Another run may have made it meanwhile.
    if (!existsSync(path)) throw error
  }
}
