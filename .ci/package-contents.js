// Looks at what `npm pack` would put into the package: whatever a run needs is in, and nothing that is ours alone.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'

const [{ files, unpackedSize }] = JSON.parse(
  execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32',
  }),
)
const packed = new Set(files.map(({ path }) => path))

/** Folders that go in whole: every file of the tree is looked for. */
const whole = [
  'bin',
  'cli',
  'fixtures',
  'harness',
  'reference',
  'reporters',
  'schemas',
  'suites',
  'catalogue',
  'certificate',
  'traffic',
]
const single = [
  'index.js',
  'index.d.ts',
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'SECURITY.md',
  'action.yml',
]
const out =
  /^(tests|bench|coverage|node_modules|\.ci|\.github)\/|\.(test|bench)\.|^(vitest|eslint)\.config|\.tgz$|conform-report/

const wanted = [...single, ...whole.flatMap(filesOf)]
const problems = [
  ...wanted.filter((path) => !packed.has(path)).map((path) => `${path} is missing`),
  ...[...packed].filter((path) => out.test(path)).map((path) => `${path} does not belong into the package`),
]

for (const problem of problems) console.error(problem)
console.log(`${packed.size} files, ${Math.round(unpackedSize / 1024)} KiB unpacked`)
process.exitCode = problems.length > 0 ? 1 : 0

/** @param {string} folder */
function filesOf(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.replaceAll('\\', '/'))
}
