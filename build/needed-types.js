// Removes the declarations that no entry of the package leads to: tsc writes one for each source.
import { existsSync, readdirSync, readFileSync, rmSync, rmdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folder of the package, or of a copy of it. */
const root = process.argv[2] ?? fileURLToPath(new URL('../', import.meta.url))
const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const entries = Object.values(about.exports).flatMap(({ types }) => (types === undefined ? [] : [join(root, types)]))

/** @type {Set<string>} */
const needed = new Set()
const look = (/** @type {string} */ file) => {
  if (needed.has(file)) return
  if (!existsSync(file)) throw new Error(`${file} is imported by a declaration and not there`)
  needed.add(file)
  // `from './x.ts'`, `import './x.ts'` and `import('./x.ts')`.
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*["'](\.[^"']+)\.ts["']/g)) {
    look(resolve(dirname(file), `${path}.d.ts`))
  }
}
entries.forEach(look)

const types = join(root, 'dist/types')
const all = readdirSync(types, { recursive: true, withFileTypes: true })
for (const entry of all) {
  const path = join(entry.parentPath, entry.name)
  if (entry.isFile() && !needed.has(path)) rmSync(path)
}
// The deepest folders stand last in the listing of their parents.
for (const entry of all.reverse()) {
  const path = join(entry.parentPath, entry.name)
  if (entry.isDirectory() && readdirSync(path).length === 0) rmdirSync(path)
}
