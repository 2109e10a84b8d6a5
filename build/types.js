// Writes the declarations of the package: those of its entries, and of what they lead to. `npm run types` checks the sources.
// node build/types.js [<folder of a copy of the package>]
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const all = mkdtempSync(join(tmpdir(), 'conform-types-'))

try {
  // A tenth of what the compiler in JavaScript takes, which is here for who needs it as a library.
  const tsc = join(root, 'node_modules/typescript-7/bin/tsc')
  const given = ['-p', join(root, 'tsconfig.build.json'), '--noCheck', '--pretty', 'false', '--outDir', all]
  const { status } = spawnSync(process.execPath, [tsc, ...given], { stdio: 'inherit' })
  if (status === 0) copyReached(all, join(process.argv[2] ?? root, 'dist/types'))
  else process.exitCode = 1
} finally {
  rmSync(all, { recursive: true, force: true })
}

/** Copies the declarations that an entry of the package leads to; the others are nobody's business. */
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
