import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { InputFile } from '../output/check-outputs.ts'

/** The files that a target file names anywhere: keys, certificates, uploads, the programs that give keys. */
export function filesNamedIn(file: unknown, dir: string): InputFile[] {
  return [...new Set(texts(file))].flatMap((text) => {
    const path = resolve(dir, text)
    return isFile(path) ? [{ path, what: `${text}, which the target file names` }] : []
  })
}

function texts(value: unknown): string[] {
  if (typeof value === 'string') return value !== '' && value.length < 4096 && !value.includes('\0') ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : []
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}
