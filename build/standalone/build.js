// Compiles the command line into one file that needs nothing but Node.js. node build/standalone/build.js [folder]
// [--executable]: writes conform.mjs there, by default into standalone/, and beside it an executable that needs no Node.js.
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  chmodSync,
  copyFileSync,
  mkdtempSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { inject } from 'postject'
import { rolldown } from 'rolldown'
import { compiledSchemas, treeshake } from '../schemas.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Parts that are asked for by name; the rest are chunks of them. */
const input = {
  run: 'bin/run.js',
  index: 'index.ts',
  'reference-worker': 'reference/worker.ts',
  'record-worker': 'traffic/record/worker.ts',
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
      .replaceAll(/createRequire\(import\.meta\.url\)(?=\(['"])/g, 'require')
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
${licences(output.flatMap(({ modules }) => Object.keys(modules)))}`

const isExecutable = process.argv.includes('--executable')
const folder =
  process.argv.slice(2).find((word) => !word.startsWith('--')) ?? join(root, 'standalone')
mkdirSync(folder, { recursive: true })
const file = join(folder, 'conform.mjs')
const asModule = `
const file = process.getBuiltinModule('node:url').fileURLToPath(import.meta.url)
const { Worker } = process.getBuiltinModule('node:worker_threads')
const importFromOutside = (url) => import(url)
await launch({ version, parts, file, importFromOutside, startThread: (options) => new Worker(file, options) })
`
writeFileSync(file, `#!/usr/bin/env node\n${program}${asModule}`, { mode: 0o755 })
console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(2)} MB`)

/**
 * An executable has no path that Node.js could run again in a thread, or import from: a module that cannot be imported is
 * loaded as target files in TypeScript are.
 */
const inExecutable = `
const importFromOutside = async () => {
  throw Object.assign(new Error('an executable imports nothing'), { code: 'ERR_MODULE_NOT_FOUND' })
}
const startThread = (options) => {
  const { Worker } = require('node:worker_threads')
  return new Worker(require('node:sea').getAsset('main', 'utf8'), { ...options, eval: true })
}
void launch({ version, parts, file: process.execPath, importFromOutside, startThread })
`
if (isExecutable) console.log(await makeExecutable(folder, `${program}${inExecutable}`))

/**
 * Puts a program into a copy of the Node.js that runs this.
 * @param {string} folder where the executable goes
 * @param {string} program CommonJS
 * @returns {Promise<string>} what was made, in words
 */
async function makeExecutable(folder, program) {
  if (process.platform !== 'linux')
    throw new Error('--executable: made on Linux only; conform.mjs runs wherever Node.js does')
  /** Marks the place in Node.js where a program is put: https://nodejs.org/api/single-executable-applications.html */
  const sentinelFuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
  const work = mkdtempSync(join(tmpdir(), 'conform-executable-'))
  const file = join(folder, 'conform')
  try {
    const main = join(work, 'main.cjs')
    const output = join(work, 'blob')
    const settings = { main, output, assets: { main }, disableExperimentalSEAWarning: true }
    writeFileSync(main, program)
    writeFileSync(join(work, 'settings.json'), JSON.stringify(settings))
    const quiet = { stdio: ['ignore', 'ignore', 'pipe'] }
    execFileSync(
      process.execPath,
      ['--experimental-sea-config', join(work, 'settings.json')],
      quiet,
    )
    rmSync(file, { force: true })
    copyFileSync(process.execPath, file)
    chmodSync(file, 0o755)
    await inject(file, 'NODE_SEA_BLOB', readFileSync(output), { sentinelFuse })
    return `${file}: ${Math.round(statSync(file).size / 1e6)} MB, with Node.js ${process.version}`
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

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
