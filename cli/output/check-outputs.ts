import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { UserError } from '../../harness/user-error.ts'
import type { ReportRequest } from './report-request.ts'
import { besideOf, isWrittenDirectly, type OutputFile } from './whole-file.ts'

/** A file that is read; none of the outputs may be it. */
export interface InputFile {
  readonly path: string
  /** `the target file` */
  readonly what: string
}

/** The reports that go to files. */
export function reportFiles(requests: readonly ReportRequest[]): OutputFile[] {
  return requests
    .filter(({ path }) => path !== '-')
    .map(({ format, path }) => ({ path, option: `--report ${format}=${path}` }))
}

/**
 * Looks at every output before anything is sent: makes its folder, and throws UserError if it cannot be written, holds a
 * key, is one of the inputs, or the same file as another output under another name or through a link.
 */
export function checkOutputs(outputs: readonly OutputFile[], inputs: readonly InputFile[]): void {
  for (const [index, output] of outputs.entries()) {
    refuseUnwritable(output)
    const identity = identityOf(output.path)
    const input = inputs.find(({ path }) => identityOf(path) === identity)
    if (input) throw new UserError(`${output.option}: would overwrite ${input.what}; give another file`)
    if (holdsKey(output.path)) {
      throw new UserError(`${output.option}: holds a key, which is never overwritten; give another file`)
    }
    const twin = outputs.slice(0, index).find(({ path }) => identityOf(path) === identity)
    if (twin && !isDevice(output.path)) throw new UserError(`${output.option}: is the same file as ${twin.option}`)
  }
}

function refuseUnwritable({ option, path }: OutputFile): void {
  try {
    mkdirSync(dirname(resolve(path)), { recursive: true })
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new UserError(`${option}: is a folder`)
    if (isWrittenDirectly(path)) return accessSync(path, constants.W_OK)
    // Only writing tells: of a disk that is read-only, of a quota, and for somebody who may do all.
    const probe = besideOf(existingPath(path))
    closeSync(openSync(probe, 'wx'))
    rmSync(probe)
  } catch (error) {
    if (error instanceof UserError) throw error
    throw new UserError(`${option}: cannot be written (${(error as NodeJS.ErrnoException).code ?? 'error'})`)
  }
}

function isDevice(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat !== undefined && !stat.isFile()
}

/** The same for all names of one file: links, other spellings of its folder. */
function identityOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
  if (stat) return `${stat.dev}:${stat.ino}`
  const folder = dirname(resolve(path))
  return join(statSync(folder, { throwIfNoEntry: false }) ? realpathSync(folder) : folder, basename(path))
}

function existingPath(path: string): string {
  return statSync(path, { throwIfNoEntry: false }) ? realpathSync(path) : path
}

/** Most that a key file holds, certificates of its owner before the key included, in bytes. */
const keyFileBytes = 1024 * 1024

/** Whether that file, under whatever name, is one with a PEM key. A page or JSON that quotes one is not. */
export function holdsKey(path: string): boolean {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, 'r')
    const beginning = Buffer.alloc(keyFileBytes)
    const text = beginning.toString('latin1', 0, readSync(descriptor, beginning))
    return !/^\s*[<{[]/.test(text) && /^-----BEGIN [A-Z0-9 ]*KEY( BLOCK)?-----/m.test(text)
  } catch {
    // What nobody here may read may hold one.
    return true
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
