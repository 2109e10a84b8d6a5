// Compiles the command line into one file that needs nothing but Node.js. node build/standalone/build.js [folder]: writes
// conform.mjs there, by default into standalone/.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { rolldown } from 'rolldown'
import { compiledSchemas, treeshake } from '../schemas.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Parts that are asked for by name; the rest are chunks of them. */
const input = {
  run: 'bin/run.js',
  index: 'library/index.ts',
  'reference-worker': 'reference/worker.ts',
}

/** Names what is loaded when it is first needed, so that it can be taken in. */
const takeIn = {
  name: 'take-in',
  resolveId: (id) => (id === '../dist/conform.js' ? join(root, 'cli/index.ts') : null),
  transform(code, id) {
    // jiti names its larger half as our code does.
    if (id.includes('/node_modules/') && !id.endsWith('/jiti/lib/jiti.mjs')) return null
    const own = code
      .replace(/^ *const require = createRequire\(import\.meta\.url\)$/m, '')
      .replaceAll(/createRequire\(import\.meta\.url\)(?=\(\s*['"])/g, 'require')
      // A module that has no name yet is one of the user's.
      .replaceAll(/(?<![.\w])import\((?!['"])/g, 'importFromOutside(')
      .replace(
        /\balias: \{ 'ai-content-conformance': .*\}/,
        `virtualModules: { get '${about.name}'() { return require('${about.name}') } }`,
      )
    if (/createRequire\(|packageFile\('dist\/index/.test(own))
      throw new Error(`${id}: what it loads cannot be taken in`)
    return own
  },
}

/** The files that the manifest names: what a run reads is among them, or the package would lack it. */
function filesOfPackage() {
  // Code is compiled, pages are for people, and what is left out of a folder is left out of one of those.
  const isRead = (entry) => !/^!|^(bin|dist|docs|action\.yml)$|\.md$/.test(entry)
  const entries = about.files.filter(isRead).flatMap((entry) => {
    const folder = entry.includes('*') ? posix.dirname(entry) : entry
    if (!statSync(join(root, folder)).isDirectory()) return [entry]
    const names = readdirSync(join(root, folder)).filter((name) =>
      name.endsWith(posix.extname(entry)),
    )
    return names.map((name) => `${folder}/${name}`)
  })
  const manifest = { name: about.name, version: about.version }
  return [
    ...entries.map((path) => [path, readFileSync(join(root, path))]),
    ['package.json', JSON.stringify(manifest)],
  ]
}

const build = await rolldown({
  ...{ cwd: root, input, platform: 'node', treeshake, logLevel: 'silent' },
  // That of a target file that names the suite.
  external: [about.name],
  // jsonc-parser's CommonJS loads its parts by names that are not to be seen.
  resolve: { mainFields: ['module', 'main'] },
  plugins: [takeIn, await compiledSchemas()],
})
const { output } = await build.generate({
  format: 'cjs',
  entryFileNames: '[name].js',
  minify: true,
  comments: false,
})
await build.close()

// A step more makes it a twentieth smaller, and takes ten times as long.
const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
const parts = [
  ...output.map(({ fileName, code }) => [`dist/${fileName}`, code]),
  ...filesOfPackage(),
].map(
  ([path, content]) =>
    `${JSON.stringify(path)}: () => '${brotliCompressSync(content, { params }).toString('base64')}',`,
)
const program = `${readFileSync(new URL('launcher.js', import.meta.url), 'utf8')}
const version = ${JSON.stringify(about.version)}
const parts = {
${parts.join('\n')}
}
${licences(output.flatMap(({ modules }) => Object.keys(modules)))}
await launch(version, parts)
`

const folder = process.argv[2] ?? join(root, 'standalone')
mkdirSync(folder, { recursive: true })
const file = join(folder, 'conform.mjs')
writeFileSync(file, `#!/usr/bin/env node\n${program}`, { mode: 0o755 })
console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(2)} MB`)

/**
 * A comment with the licence of each package that was taken in, as their licences ask for.
 * @param {readonly string[]} modules paths of what was taken in
 */
function licences(modules) {
  const folders = new Set(
    modules.flatMap((id) => id.match(/^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? []),
  )
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    )
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one))
    return `${name} ${version} (${license})\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}`
  })
  return `/* This file holds these packages:\n\n${texts.join('\n\n').replaceAll('*/', '* /')}\n*/\n`
}
