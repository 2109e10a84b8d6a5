// Programs of this folder that change the clock are compiled: loaded on the fly, a module may keep the clock of another run.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))
const external = (id) => /^[^./\0]/.test(id) && !/^[A-Za-z]:/.test(id)

/**
 * Compiles a TypeScript module and all that it imports, file by file, beside the data that they read, and loads it.
 * @param {string} entry path from the root of the repository
 */
export async function compiled(entry) {
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const dir = mkdtempSync(join(cache, 'conform-bench-'))
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }))
  const build = await rolldown({ cwd: root, input: entry, platform: 'node', external, logLevel: 'silent' })
  await build.write({ dir, format: 'esm', preserveModules: true, preserveModulesRoot: root, sourcemap: false })
  await build.close()
  for (const folder of ['fixtures', 'schemas']) cpSync(join(root, folder), join(dir, folder), { recursive: true })
  return import(pathToFileURL(join(dir, entry.replace(/\.ts$/, '.js'))).href)
}
