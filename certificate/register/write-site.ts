import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { UserError } from '../../harness/user-error.ts'
import { REGISTER_FORMAT } from '../revocations.ts'

/** The files of a site, by path below its folder. */
export type Site = ReadonlyMap<string, string | Uint8Array>

/**
 * Puts the site in the place of the folder, whole or not at all. Throws UserError if the folder is one with, in or around
 * that of the certificates, or holds anything but a register that was built before.
 */
export function writeSite(out: string, site: Site, certificates: string): void {
  const [place, input] = [realPlace(out), realPlace(certificates)]
  if (isWithin(place, input) || isWithin(input, place)) {
    throw new UserError(`--out ${out}: lies in or around the folder of the certificates; give another folder`)
  }
  const strange = strangeFile(out)
  if (strange !== undefined) {
    throw new UserError(`--out ${out}: holds ${strange}, which is not part of a register; give an empty folder`)
  }
  const beside = join(dirname(place), `.${basename(place)}.${process.pid}`)
  try {
    for (const [path, text] of site) {
      mkdirSync(dirname(join(`${beside}.new`, path)), { recursive: true })
      writeFileSync(join(`${beside}.new`, path), text, { flag: 'wx' })
    }
    if (existsSync(place)) renameSync(place, `${beside}.old`)
    renameSync(`${beside}.new`, place)
  } catch (error) {
    rmSync(`${beside}.new`, { recursive: true, force: true })
    if (existsSync(`${beside}.old`) && !existsSync(place)) renameSync(`${beside}.old`, place)
    throw new UserError(`--out ${out}: cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
  rmSync(`${beside}.old`, { recursive: true, force: true })
}

/** The first file of a folder that no register put there. */
function strangeFile(out: string): string | undefined {
  if (!existsSync(out)) return undefined
  const own = new Set(filesBefore(join(out, 'index.json')))
  return filesIn(out).find((path) => !own.has(path))
}

function filesIn(out: string): string[] {
  try {
    return readdirSync(out, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => relative(out, join(entry.parentPath, entry.name)).split(sep).join('/'))
  } catch (error) {
    throw new UserError(`--out ${out}: cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
}

function filesBefore(path: string): string[] {
  try {
    const { format, files } = JSON.parse(readFileSync(path, 'utf8')) as { format: string; files: string[] }
    return format === REGISTER_FORMAT && Array.isArray(files) ? files : []
  } catch {
    return []
  }
}

/** The path without links, of what is there and of what is not there yet. */
function realPlace(path: string): string {
  const whole = resolve(path)
  if (existsSync(whole)) return realpathSync(whole)
  return dirname(whole) === whole ? whole : join(realPlace(dirname(whole)), basename(whole))
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}
