import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder of one run alone, for what it writes down while it goes on. */
interface RunFolder {
  readonly path: string
  remove(): void
}

/**
 * Makes one in the temporary folder; it is removed when the process ends at the latest. If there is no room for it the path is
 * that of no folder: what is written there fails, and costs what is made of it and nothing else.
 */
export function makeRunFolder(): RunFolder {
  const path = tryMake()
  if (path === undefined) return { path: join(tmpdir(), `conform-run-${randomUUID()}`), remove: () => undefined }
  const remove = (): void => {
    try {
      rmSync(path, { recursive: true, force: true })
    } catch {
      // If somebody made the folder read-only meanwhile, it stays.
    }
  }
  process.once('exit', remove)
  return {
    path,
    remove() {
      process.off('exit', remove)
      remove()
    },
  }
}

function tryMake(): string | undefined {
  try {
    return mkdtempSync(join(tmpdir(), 'conform-run-'))
  } catch {
    return undefined
  }
}
