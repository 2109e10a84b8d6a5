// Compiles the sources into dist/: one file per entry, and chunks for what only some commands load.
import { readdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { compiledSchemas, isPackage, treeshake } from './schemas.js'

const root = fileURLToPath(new URL('..', import.meta.url))

const input = {
  conform: 'cli/index.ts',
  index: 'library/index.ts',
  reference: 'library/reference.ts',
  'reference-worker': 'reference/worker.ts',
  vitest: 'library/vitest/index.ts',
  'vitest-reporter': 'library/vitest/reporter.ts',
}

const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
/** V8 reads ASCII faster, and keeps a file with any character beyond Latin-1 in two bytes a character. */
const ascii = {
  name: 'ascii',
  renderChunk: (code) => code.replaceAll(/[^\0-\x7f]/g, escaped),
}

const plugins = [await compiledSchemas(), ascii]
const options = {
  cwd: root,
  input,
  platform: 'node',
  external: isPackage,
  plugins,
  treeshake,
  logLevel: 'silent',
}
const build = await rolldown(options)
const { output } = await build.write({
  ...{
    dir: 'dist',
    format: 'esm',
    chunkFileNames: '[name]-[hash].js',
    sourcemap: false,
    minify: false,
  },
})
await build.close()
const written = output.map((chunk) => chunk.fileName)
// Old files are deleted last, so that a concurrent run keeps its code as long as possible; types stay.
for (const name of readdirSync(`${root}dist`)) {
  if (name.endsWith('.js') && !written.includes(name))
    rmSync(`${root}dist/${name}`, { force: true })
}
