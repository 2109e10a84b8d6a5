// Writes the declarations of the package: those of its entries, and of what they lead to. `npm run types` checks the sources.
// node build/types.js [<folder of a copy of the package>]
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * @param {string} dir folder of the package, or of a copy of it
 * @returns {string} what cannot be declared, in the words of tsc; empty if nothing is wrong
 */
function writeTypes(dir) {
  const all = mkdtempSync(join(tmpdir(), 'conform-types-'))
  try {
    // A tenth of what the compiler in JavaScript takes, which is here for who needs it as a library.
    const tsc = join(root, 'node_modules/typescript-7/bin/tsc')
    const given = ['-p', join(root, 'tsconfig.build.json'), '--noCheck', '--pretty', 'false', '--outDir', all]
    execFileSync(process.execPath, [tsc, ...given], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
    copyReached(all, join(dir, 'dist/types'))
    return ''
  } catch (error) {
    if (typeof error.stdout === 'string' && error.stdout !== '') return error.stdout
    throw error
  } finally {
    rmSync(all, { recursive: true, force: true })
  }
}

/** Declarations of what no entry leads to are nobody's business. */
function copyReached(from, to) {
  rmSync(to, { recursive: true, force: true })
  const copied = new Set()
  const copy = (/** @type {string} */ path) => {
    if (copied.has(path)) return
    copied.add(path)
    cpSync(join(from, path), join(to, path))
    // `from './x.ts'`, `import './x.ts'` and `import('./x.ts')`.
    const text = readFileSync(join(from, path), 'utf8')
    for (const [, name] of text.matchAll(/(?:from|import)\s*\(?\s*["'](\.[^"']+)\.ts["']/g))
      copy(join(dirname(path), `${name}.d.ts`))
  }
  const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const { types } of Object.values(about.exports)) {
    if (types !== undefined) copy(types.replace('./dist/types/', ''))
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const wrong = writeTypes(process.argv[2] ?? root)
  process.stdout.write(wrong)
  if (wrong !== '') process.exitCode = 1
}
