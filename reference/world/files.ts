import { extname } from 'node:path'
import type { Members, Call } from './call.ts'
import { writeId } from './ids.ts'
import type { StoredFile } from './store.ts'
import type { World } from './world.ts'
import { isSettling } from './settling.ts'

/** Extension without the dot, lower case. */
export function extensionOf(file: StoredFile): string {
  return extname(file.name).slice(1).toLowerCase()
}

/** A file as the responses show it. */
export function fileView(world: World, file: StoredFile): Members {
  return {
    id: writeId(world, file.id),
    name: file.name,
    content_type: file.type,
    size: file.bytes().length,
    created_at: world.clock.write(file.createdAt),
  }
}

/** The file of that id, unless it is unknown, deleted or expired. */
export function reachable(call: Call, id: unknown): StoredFile | undefined {
  const file = call.world.store.files.get(String(id))
  return file?.state === 'stored' && !isSettling(call.world, 'uploads', file) ? file : undefined
}
