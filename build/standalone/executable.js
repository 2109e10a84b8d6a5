import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'postject'

/** Marks the place in Node.js where a program is put: https://nodejs.org/api/single-executable-applications.html */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/**
 * How the program in an executable runs: it has no path of its own that Node.js could run again or load modules from. A
 * module that cannot be imported is loaded as target files in TypeScript are.
 */
export const inExecutable = `
const sea = require('node:sea')
const { Worker } = require('node:worker_threads')
const notHere = Object.assign(new Error('an executable imports nothing'), { code: 'ERR_MODULE_NOT_FOUND' })
void launch({
  version,
  parts,
  file: process.execPath,
  read: () => Buffer.from(sea.getRawAsset('main')),
  importModule: async () => { throw notHere },
  startThread: (options) => new Worker(sea.getAsset('main', 'utf8'), { ...options, eval: true }),
})
`

/**
 * Puts a program into a copy of the Node.js that runs this.
 * @param {string} folder where the executable goes
 * @param {string} program CommonJS
 * @returns {Promise<string>} what was made, in words
 */
export async function makeExecutable(folder, program) {
  if (process.platform !== 'linux')
    throw new Error('--executable: made on Linux only; conform.mjs runs wherever Node.js does')
  const work = mkdtempSync(join(tmpdir(), 'conform-executable-'))
  const file = join(folder, 'conform')
  try {
    const main = join(work, 'main.cjs')
    const output = join(work, 'blob')
    const settings = { main, output, assets: { main }, disableExperimentalSEAWarning: true }
    writeFileSync(main, program)
    writeFileSync(join(work, 'settings.json'), JSON.stringify(settings))
    const quiet = { stdio: ['ignore', 'ignore', 'pipe'] }
    execFileSync(process.execPath, ['--experimental-sea-config', join(work, 'settings.json')], quiet)
    rmSync(file, { force: true })
    copyFileSync(process.execPath, file)
    chmodSync(file, 0o755)
    await inject(file, 'NODE_SEA_BLOB', readFileSync(output), { sentinelFuse: fuse })
    return `${file}: ${Math.round(statSync(file).size / 1e6)} MB, with Node.js ${process.version}`
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
