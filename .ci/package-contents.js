// Checks what `npm pack` would put into the package: everything a run needs, nothing internal, no dead links.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, normalize } from 'node:path'

const about = JSON.parse(readFileSync('package.json', 'utf8'))
const [{ files, unpackedSize }] = JSON.parse(
  execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32',
  }),
)
const packed = new Set(files.map(({ path }) => path))
const ofKind = (pattern) => [...packed].filter((path) => pattern.test(path))
const inTree = (folder, pattern) =>
  readdirSync(folder)
    .filter((name) => pattern.test(name))
    .map((name) => `${folder}/${name}`)

/** Files that package.json names, and files read at run time. */
const entries = Object.values(about.exports).flatMap((entry) =>
  typeof entry === 'string' ? [entry] : Object.values(entry),
)
const wanted = [
  ...[...entries.filter((path) => !path.includes('*')), ...Object.values(about.bin)].map(normalize),
  ...inTree('cli/bin', /\.js$/),
  ...inTree('schemas', /\.json$/),
  ...inTree('fixtures', /\.json$/),
  ...inTree('fixtures/pdf', /\.pdf$/),
  ...inTree('reporters/html', /\.(css|js)$/),
  ...['README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md', 'catalogue/readings.md'],
  ...ofKind(/^dist\/[^/]+\.js$/).flatMap(filesNamedIn),
]
const out = [
  /^docs\/(pictures|examples)\//,
  /^(tests|scripts|coverage|node_modules|\.ci|\.github)\//,
  /(?<!\.d)\.[cm]?ts$/,
  /\.test\.|\.map$|\.tgz$|conform-report/,
]

const problems = [
  ...[...new Set(wanted)].filter((path) => !packed.has(path)).map((path) => `${path} is missing`),
  ...[...packed]
    .filter((path) => out.some((one) => one.test(path)))
    .map((path) => `${path} must not be in the package`),
  ...ofKind(/^dist\/[^/]+\.js$/).flatMap(unknownPackages),
  ...ofKind(/\.md$/).flatMap(deadLinks),
]
for (const problem of problems) console.error(problem)
console.log(`${packed.size} files, ${Math.round(unpackedSize / 1024)} KiB unpacked`)
process.exitCode = problems.length > 0 ? 1 : 0

/** The files that compiled code imports or reads by path. */
function filesNamedIn(path) {
  const code = readFileSync(path, 'utf8')
  const chunks = [...code.matchAll(/(?:from|import) ?\(?"(\.\/[^"]+)"/g)].map(([, name]) =>
    join(dirname(path), name),
  )
  const read = [...code.matchAll(/packageFile\("([^"]{2,})"\)/g)].map(([, name]) => name)
  return [...chunks, ...read]
}

/** Packages that compiled code imports but an installation would lack. */
function unknownPackages(path) {
  const known = { ...about.dependencies, ...about.peerDependencies }
  const names = [
    ...readFileSync(path, 'utf8').matchAll(/(?:^import (?:.* from )?|\bimport\()"([^."][^"]*)"/gm),
  ].map(([, name]) => name)
  const packages = names.map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'))
  const unknown = packages.filter(
    (name) =>
      !Object.hasOwn(known, name) &&
      !name.startsWith('node:') &&
      !builtinModules.includes(name) &&
      name !== about.name,
  )
  return [...new Set(unknown)].map(
    (name) => `${path} imports ${name}, which is not installed with the package`,
  )
}

function deadLinks(page) {
  // npm shows the alternative text of a missing picture.
  const links = [
    ...readFileSync(page, 'utf8').matchAll(/(?<!!\[[^\]]*)\]\((?!https?:|#)([^)#\s]+)/g),
  ].map(([, link]) => link)
  return links
    .map((link) => ({ link, path: join(dirname(page), link) }))
    .filter(
      ({ path }) =>
        !packed.has(path) &&
        !ofKind(/./).some((file) => file.startsWith(`${path.replace(/\/$/, '')}/`)),
    )
    .map(({ link }) => `${page}: ${link} is a dead link in the package`)
}
