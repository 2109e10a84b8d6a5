import type { Stats } from 'node:fs'
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { UserError } from '../harness/user-error.ts'

/** A file to be written, and the option that names it. */
export interface Output {
  readonly option: string
  readonly path: string
}

/** Throws UserError if an output is an input, by whatever name or link, or another output, or a file that holds a key. */
export function refuseOverwriting(outputs: readonly Output[], inputs: readonly string[]): void {
  const taken = new Map(inputs.map((path) => [placeOf(path), path]))
  for (const { option, path } of outputs) {
    const other = taken.get(placeOf(path))
    if (other !== undefined) {
      throw new UserError(`${option} ${path}: would overwrite ${other}; give another file`)
    }
    if (holdsKey(path)) throw new UserError(`${option} ${path}: holds a key, which is never overwritten`)
    taken.set(placeOf(path), path)
  }
}

/** Writes the file whole or not at all, and the folders it needs; throws UserError if that cannot be done. */
export function writeWhole({ option, path }: Output, bytes: Uint8Array): void {
  const beside = join(dirname(path), `.${basename(path)}.${process.pid}.part`)
  try {
    mkdirSync(dirname(path), { recursive: true })
    if (isSpecial(path)) return writeFileSync(path, bytes)
    writeFileSync(beside, bytes, { flag: 'wx' })
    renameSync(beside, path)
  } catch (error) {
    discard(beside)
    throw new UserError(`${option} ${path}: cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** What was half-written, if anything was. */
function discard(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // Its folder is no folder: nothing was written there.
  }
}

/** One word for a file by whatever name: device and number of what is there, else the path. */
function placeOf(path: string): string {
  const there = whatIsAt(path)
  if (there) return `${there.dev}/${there.ino}`
  try {
    return join(realpathSync(dirname(resolve(path))), basename(path))
  } catch {
    return resolve(path)
  }
}

/** Undefined if nothing is there, or nothing that can be looked at. */
function whatIsAt(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

/** A pipe or a device: nothing is put in its place. */
function isSpecial(path: string): boolean {
  const there = whatIsAt(path)
  return there !== undefined && !there.isFile() && !there.isDirectory()
}

function holdsKey(path: string): boolean {
  if (!whatIsAt(path)?.isFile()) return false
  try {
    return /^-----BEGIN [A-Z ]*KEY-----/m.test(readFileSync(path, 'latin1').slice(0, 4096))
  } catch {
    return false
  }
}
