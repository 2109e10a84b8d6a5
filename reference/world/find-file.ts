import type { Call } from './call.ts'
import { isSettling } from './settling.ts'
import type { StoredFile } from './store.ts'

/** The file of that id, unless it is unknown, deleted or expired. */
export function reachable(call: Call, id: unknown): StoredFile | undefined {
  const file = call.world.store.files.get(String(id))
  return file?.state === 'stored' && !isSettling(call.world, 'uploads', file) ? file : undefined
}
