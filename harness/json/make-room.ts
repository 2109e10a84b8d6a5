import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Text longer than this may become a value of a hundred megabytes, in bytes. */
const largeText = 512 * 1024
/** So much may be in use before one more such value is made, in bytes. */
const enough = 96 * 1024 * 1024

let collect: (() => void) | undefined

/**
 * Collects garbage before JSON text is parsed that may take much memory: the collector counts on memory that it can
 * grow into, and values of answers long judged would add up to several hundred megabytes.
 */
export function makeRoomFor(text: Uint8Array): void {
  if (text.length < largeText || getHeapStatistics().used_heap_size < enough) return
  if (!collect) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
}
