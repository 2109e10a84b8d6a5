import { createHash } from 'node:crypto'
import { readFileSync, watch } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'

/** Editors write a file in several steps: it is read this long after the last one, in ms. */
const settleMs = 150

/** Files that are looked at until `close`. */
export interface FileWatch {
  close(): void
}

/**
 * Calls back when the content of one of the files has changed. Their folders are watched, since many editors put a new file in
 * the place of the old one; a folder that cannot be watched is left out.
 */
export function watchFiles(paths: readonly string[], onChange: (path: string) => void): FileWatch {
  const contents = new Map(paths.map((path) => [resolve(path), digest(path)]))
  let timer: NodeJS.Timeout | undefined
  const hasChanged = (path: string): boolean => {
    const now = digest(path)
    // While it is written it may not be there for a moment.
    if (now === undefined || now === contents.get(path)) return false
    contents.set(path, now)
    return true
  }
  const look = (): void => {
    const changed = [...contents.keys()].filter((path) => hasChanged(path))
    if (changed[0] !== undefined) onChange(changed[0])
  }
  const folders = new Set([...contents.keys()].map((path) => dirname(path)))
  const watchers = [...folders].flatMap((folder) => {
    const names = new Set([...contents.keys()].filter((path) => dirname(path) === folder).map((path) => basename(path)))
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        if (name !== null && !names.has(name)) return
        clearTimeout(timer)
        timer = setTimeout(look, settleMs)
      })
      watcher.on('error', () => watcher.close())
      return [watcher]
    } catch {
      return []
    }
  })
  return {
    close() {
      clearTimeout(timer)
      for (const watcher of watchers) watcher.close()
    },
  }
}

/** Undefined for a file that is not there. */
function digest(path: string): string | undefined {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex')
  } catch {
    return undefined
  }
}
