// Programs of this folder that change the clock are compiled: loaded on the fly, a module may keep the clock of another run.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))
const external = (id) => /^[^./\0]/.test(id) && !/^[A-Za-z]:/.test(id)

/**
 * Compiles TypeScript modules and all that they import, file by file, beside the data that they read.
 * @param {string[]} entries paths from the root of the repository
 * @returns {Promise<string[]>} the addresses to import them by, in the same order
 */
export async function compile(entries) {
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const dir = mkdtempSync(join(cache, 'conform-bench-'))
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }))
  const build = await rolldown({ cwd: root, input: entries, platform: 'node', external, logLevel: 'silent' })
  await build.write({ dir, format: 'esm', preserveModules: true, preserveModulesRoot: root, sourcemap: false })
  await build.close()
  for (const folder of ['fixtures', 'schemas']) cpSync(join(root, folder), join(dir, folder), { recursive: true })
  return entries.map((entry) => pathToFileURL(join(dir, entry.replace(/\.ts$/, '.js'))).href)
}
