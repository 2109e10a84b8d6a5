import { constants, lstatSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

/**
 * A folder of this user's alone under the temporary one, for compiled code: what lies there is run, so if others can write to
 * it (or it is theirs) there is none. Nor if there is no room: whoever compiles does not expect that writing fails.
 * @returns {string | false}
 */
export function cacheFolder() {
  try {
    const { uid } = userInfo()
    const folder = join(tmpdir(), uid < 0 ? 'conform-cache' : `conform-cache-${uid}`)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { mode, uid: owner } = lstatSync(folder)
    if (!hasRoom(folder)) return false
    // On Windows the temporary folder is the user's own already.
    if (uid < 0) return folder
    const isFolder = (mode & constants.S_IFMT) === constants.S_IFDIR
    const othersWrite = (mode & (constants.S_IWGRP | constants.S_IWOTH)) !== 0
    return isFolder && owner === uid && !othersWrite ? folder : false
  } catch {
    return false
  }
}

/** What is compiled takes about this, in bytes. */
const room = 8 * 1024 * 1024

/** @param {string} folder */
function hasRoom(folder) {
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize < room) return false
  // A quota, or a disk that is read-only, shows by writing alone.
  const probe = join(folder, `.room.${process.pid}`)
  writeFileSync(probe, '.')
  rmSync(probe)
  return true
}
