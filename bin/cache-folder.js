import { constants, lstatSync, mkdirSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

/**
 * A folder of this user's alone under the temporary one, for compiled code: what lies there is run, so where others
 * can write to it (or it is theirs) there is none.
 * @returns {string | false}
 */
export function cacheFolder() {
  try {
    const { uid } = userInfo()
    const folder = join(tmpdir(), uid < 0 ? 'conform-cache' : `conform-cache-${uid}`)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { mode, uid: owner } = lstatSync(folder)
    // On Windows the temporary folder is the user's own already.
    if (uid < 0) return folder
    const isFolder = (mode & constants.S_IFMT) === constants.S_IFDIR
    const othersWrite = (mode & (constants.S_IWGRP | constants.S_IWOTH)) !== 0
    return isFolder && owner === uid && !othersWrite ? folder : false
  } catch {
    return false
  }
}
