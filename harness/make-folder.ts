import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Makes a folder and those above it. The recursive `mkdirSync` of Node never ends if nothing can be made, as below /proc. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(resolve(path)))
  mkdirSync(path)
}
