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
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join, posix, relative, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { inject } from 'postject'
import { rolldown } from 'rolldown'
import { compiledSchemas, treeshake } from '../compiled-schemas.js'
import { writeSchemas } from '../schemas.js'

// Compiles the command line into one file that needs nothing but Node.js. node build/standalone/build.js [folder]
// [--executable]: writes conform.mjs there, by default into standalone/, and beside it an executable that needs no Node.js.
const root = fileURLToPath(new URL('../..', import.meta.url))
const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Parts that are asked for by name; the rest are chunks of them. */
const input = {
  run: 'bin/run.js',
  index: 'index.ts',
  'reference-worker': 'reference/worker.ts',
  'record-worker': 'traffic/record/worker.ts',
}

/** Functions that our code gets in the place of Node's own: the launcher's. */
const standIns = {
  'node:fs': ['readFileSync'],
  'node:fs/promises': ['readFile'],
  'node:worker_threads': ['Worker'],
}
const prefix = '\0standalone:'
const isOurs = (id) => id.startsWith(root) && !id.includes('/node_modules/')
const hasStandIn = (id, importer = '') => Object.hasOwn(standIns, id) && isOurs(importer)

const standalone = {
  name: 'standalone',
  resolveId: (id, importer) => (hasStandIn(id, importer) ? prefix + id : null),
  load(id) {
    if (!id.startsWith(prefix)) return null
    const name = id.slice(prefix.length)
    const code = `export * from '${name}'\nexport { ${standIns[name].join(', ')} } from 'standalone:inside'\n`
    return { code, moduleType: 'js' }
  },
  transform(code, id) {
    // It names its larger half by a path that is resolved at run time.
    if (id.endsWith('/jiti/lib/jiti.mjs'))
      return inOneFile(replaced(code, [/createRequire\(import\.meta\.url\)(?=\()/, 'require'], id), id)
    return isOurs(id) ? inOneFile(code, id) : null
  },
}

/** Throws if there is nothing to replace: what is compiled here has changed. */
function replaced(code, [pattern, by], id) {
  if (!pattern.test(code)) throw new Error(`${id}: no longer holds ${pattern}`)
  return code.replace(pattern, by)
}

/** Names the packages that are loaded when they are first needed, so that they can be taken in. */
function inOneFile(code, id) {
  const path = relative(root, id)
  let own = code
    .replace(/^ *const require = createRequire\(import\.meta\.url\)$/m, '')
    .replaceAll(/createRequire\(import\.meta\.url\)(?=\(')/g, 'require')
    // A module that has no name yet is one of the user's.
    .replaceAll(/(?<![.\w])import\((?!['"])/g, '$inside.importModule(')
  if (isOurs(id) && /createRequire\(/.test(own)) throw new Error(`${path}: what it requires cannot be taken in`)
  if (path === 'bin/run.js') own = replaced(own, [/'\.\.\/dist\/conform\.js'/, "'../cli/index.ts'"], path)
  if (path === 'harness/target-file/load.ts') {
    const virtual = `virtualModules: { get '${about.name}'() { return $inside.load('./index.js') } }`
    own = replaced(own, [/\balias: \{.*\}/, virtual], path)
  }
  own = own.replaceAll('import.meta.url', '$inside.ownUrl')
  return own.includes('$inside') ? `${own}\nimport * as $inside from 'standalone:inside'\n` : own
}

/** The files that the manifest names: what a run reads is among them, or the package would lack it. */
function filesOfPackage() {
  // Code is compiled, pages are for people, and what is left out of a folder is left out of one of those.
  const isRead = (entry) => !/^!|^(bin|dist|docs|action\.yml)$|\.md$/.test(entry)
  const entries = about.files.filter(isRead).flatMap((entry) => {
    const folder = entry.includes('*') ? posix.dirname(entry) : entry
    if (!statSync(join(root, folder)).isDirectory()) return [entry]
    const names = readdirSync(join(root, folder)).filter((name) => name.endsWith(posix.extname(entry)))
    return names.map((name) => `${folder}/${name}`)
  })
  const manifest = { name: about.name, version: about.version }
  return [...entries.map((path) => [path, readFileSync(join(root, path))]), ['package.json', JSON.stringify(manifest)]]
}

/** How Node.js runs the file as a module. */
const asModule = `
const { readFileSync } = process.getBuiltinModule('node:fs')
const { fileURLToPath } = process.getBuiltinModule('node:url')
const { Worker } = process.getBuiltinModule('node:worker_threads')
const file = fileURLToPath(import.meta.url)
await launch({
  version,
  parts,
  file,
  read: () => readFileSync(file),
  importModule: (url) => import(url),
  startThread: (options) => new Worker(file, options),
})
`

await writeSchemas()
const build = await rolldown({
  ...{ cwd: root, input, platform: 'node', treeshake, logLevel: 'silent' },
  external: (id, importer) => id === 'standalone:inside' || (isBuiltin(id) && !hasStandIn(id, importer)),
  // jsonc-parser's CommonJS loads its parts by names that are not to be seen.
  resolve: { mainFields: ['module', 'main'] },
  plugins: [standalone, await compiledSchemas()],
})
const { output } = await build.generate({ format: 'cjs', entryFileNames: '[name].js', minify: true, comments: false })
await build.close()

const parts = [...output.map(({ fileName, code }) => [`dist/${fileName}`, code]), ...filesOfPackage()]
// A step more makes it a twentieth smaller, and takes ten times as long.
const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
const base64 = (content) => brotliCompressSync(content, { params }).toString('base64')
const packed = parts.map(([path, content]) => [path, base64(content)])
const atEnd = `/*\n${packed.map(([, text]) => text).join('\n')}\n*/\n`
let at = atEnd.length - '/*\n'.length
const places = packed.map(([path, { length }]) => {
  const place = [path, [at, length]]
  at -= length + 1
  return place
})
const launcher = `${readFileSync(new URL('launcher.js', import.meta.url), 'utf8')}
const version = ${JSON.stringify(about.version)}
const parts = ${JSON.stringify(Object.fromEntries(places))}
`
const rest = `${licences(output.flatMap(({ modules }) => Object.keys(modules)))}\n${atEnd}`

const isExecutable = process.argv.includes('--executable')
const folder = process.argv.slice(2).find((word) => !word.startsWith('--')) ?? join(root, 'standalone')
mkdirSync(folder, { recursive: true })
const file = join(folder, 'conform.mjs')
writeFileSync(file, `#!/usr/bin/env node\n${launcher}${asModule}\n${rest}`, { mode: 0o755 })
console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(2)} MB`)

/** Marks the place in Node.js where a program is put: https://nodejs.org/api/single-executable-applications.html */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/**
 * How the program in an executable runs: it has no path of its own that Node.js could run again or load modules from. A
 * module that cannot be imported is loaded as target files in TypeScript are.
 */
const inExecutable = `
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

if (isExecutable) console.log(await makeExecutable(folder, `${launcher}${inExecutable}\n${rest}`))

/**
 * Puts a program into a copy of the Node.js that runs this.
 * @param {string} folder where the executable goes
 * @param {string} program CommonJS
 * @returns {Promise<string>} what was made, in words
 */
async function makeExecutable(folder, program) {
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

/**
 * A comment with the licence of each package that was taken in, as their licences ask for.
 * @param {readonly string[]} modules paths of what was taken in
 */
function licences(modules) {
  const folders = new Set(modules.flatMap((id) => id.match(/^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? []))
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one))
    return `${name} ${version} (${license})\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}`
  })
  return `/* This file holds these packages:\n\n${texts.join('\n\n').replaceAll('*/', '* /')}\n*/\n`
}
