// Compiles the sources into dist/: one file an entry, and chunks for what only some commands load.
import { readdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { compiledSchemas } from './compiled-schemas.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/** @type {readonly import('../schemas/ajv.ts').SchemaName[]} */
const schemas = [
  ...['llm-tool-completion', 'job', 'created-job', 'pdf-content', 'error-envelope', 'chat-completion'],
  ...['medical-entities', 'report', 'target', 'certificate'],
]

const input = {
  conform: 'cli/index.ts',
  index: 'index.ts',
  reference: 'library/reference.ts',
  'reference-worker': 'reference/worker.ts',
  'record-worker': 'traffic/record/worker.ts',
  vitest: 'vitest/index.ts',
  'vitest-reporter': 'vitest/reporter.ts',
}

/** Of packages, that a bare name imports, nothing is taken in: they are installed beside. */
const external = (id) => /^[^./\0]/.test(id) && !/^(compiled-schema:|[A-Za-z]:)/.test(id)

async function bundle(entries, dir, plugins) {
  const build = await rolldown({ cwd: root, input: entries, platform: 'node', external, plugins, logLevel: 'silent' })
  const { output } = await build.write({
    ...{ dir, format: 'esm', chunkFileNames: '[name]-[hash].js', sourcemap: false, minify: false },
  })
  await build.close()
  return output.map(({ fileName }) => fileName)
}

// How schemas are compiled is said in TypeScript, which Node 20 does not load.
const options = `${root}node_modules/.cache/conform-build-${process.pid}`
await bundle({ ajv: 'schemas/ajv.ts' }, options, [])
const how = await import(`${options}/ajv.js`)
rmSync(options, { recursive: true, force: true })
const written = await bundle(input, 'dist', [compiledSchemas(how, schemas)])
// What an earlier build left goes last: a run that goes on meanwhile has its code as long as it can, the types stay.
for (const name of readdirSync(`${root}dist`)) {
  if (name.endsWith('.js') && !written.includes(name)) rmSync(`${root}dist/${name}`, { force: true })
}
