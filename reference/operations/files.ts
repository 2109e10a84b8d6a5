import type { Call } from '../world/call.ts'
import { extensionOf, fileView } from '../world/file-view.ts'
import { mispaired } from '../world/mispaired.ts'
import type { Operation } from '../world/operation.ts'
import { breakUse, isSettling } from '../world/settling.ts'
import type { StoredFile } from '../world/store.ts'

/** Files on one page of the listing. */
const pageSize = 50

/** §4.4: the newest files, those of `file_types` if it is given (§2.8). */
export const filesList: Operation = {
  id: 'files.list',
  method: 'GET',
  paths: ['/v1/files'],
  body: 'none',
  run: (call: Call) => {
    const asked = call.request.query('file_types')
    if (asked !== undefined && call.broken('2xx-file-types')) call.reject(400, 'BadRequest', 'file_types is unknown')
    if (asked !== undefined && call.broken('2xx-file-types#5xx')) throw new Error('file_types')
    if (asked?.includes(',') && call.broken('2xx-file-types#two')) call.reject(400, 'BadRequest', 'One type is enough')
    if (asked?.includes(',') && call.broken('2xx-file-types#two-5xx')) throw new Error('file_types')
    const types = asked?.split(',').map((type) => type.trim().toLowerCase())
    const { world, key } = call
    const files = [...world.store.files.values()]
      .filter((file) => file.state === 'stored' && file.account === key?.account)
      .filter((file) => types === undefined || types.includes(extensionOf(file)))
    const newest = files.slice(-pageSize).reverse()
    const data = newest.map((file) => fileView(world, file))
    if (call.varied('lists/bare-array')) return { status: 200, body: data }
    return { status: 200, body: { data, has_more: files.length > pageSize } }
  },
  grant: () => ({ status: 200, body: { data: [], has_more: false } }),
}

/** Whether a file has an id that begins the same, up to the last `_`. */
function isLikeKnown(call: Call, id: string): boolean {
  const prefix = id.slice(0, id.lastIndexOf('_') + 1)
  return prefix !== '' && [...call.world.store.files.keys()].some((known) => known.startsWith(prefix))
}

/** §4.4 */
export const filesRetrieve: Operation<StoredFile> = {
  id: 'files.retrieve',
  method: 'GET',
  paths: ['/v1/files/:file_id'],
  body: 'none',
  find: (call: Call) => {
    const file = call.world.store.files.get(call.param('file_id'))
    if (!file && call.world.switches.broken('envelope/status-tpe-pair#file')) mispaired(404, 'BadRequest')
    if (!file) {
      const kind = isLikeKnown(call, call.param('file_id')) ? 'prefix' : []
      return call.refuse('404-unknown-file', 404, 'ResourceNotFound', { kind })
    }
    if (isSettling(call.world, 'uploads', file)) call.reject(404, 'ResourceNotFound')
    breakUse(call, 'files.upload/2xx-retrievable', file)
    if (file.state === 'deleted') call.refuse('410-deleted-file', 410, 'ResourceNotFound')
    if (file.state === 'expired') call.refuse('general/410-gone', 410, 'Gone')
    return file
  },
  access: (call, file) => {
    if (file.account !== call.key?.account) call.refuse('403-file-access', 403, 'InsufficientAccessRights')
  },
  run: (call, file) => ({ status: 200, body: fileView(call.world, file) }),
  grant: (call) => ({ status: 200, body: { id: call.param('file_id'), name: 'file' } }),
}
