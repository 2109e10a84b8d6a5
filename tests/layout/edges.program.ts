import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawnSync } from 'node:child_process'
import { beforeAll, expect, test } from 'vitest'

const config = fileURLToPath(new URL('../../.dependency-cruiser.cjs', import.meta.url))
const cruiser = fileURLToPath(new URL('../../node_modules/.bin/depcruise', import.meta.url))

const layers = ['checks', 'engine', 'target', 'report', 'recording', 'http'] as const

/** A file as it is named for what is wrong with it: nothing, a cycle, or where it leads. */
const tree = {
  'catalogue/leads.ts': "import '../harness/http/leads.ts'\n",
  'schemas/leads.ts': "import '../catalogue/leaf.ts'\n",
  'catalogue/leaf.ts': 'export const b = 1\n',
  'harness/http/leads.ts': "import '../recording/leads.ts'\n",
  'harness/recording/leads.ts': "import '../report/leads.ts'\n",
  'harness/report/leads.ts': "import '../target/leads.ts'\n",
  'harness/target/leads.ts': "import '../engine/leads.ts'\n",
  'harness/engine/leads.ts': "import '../checks/leads.ts'\nimport '../../catalogue/leaf.ts'\n",
  'harness/checks/leads.ts': "import '../../suites/leads.ts'\n",
  'harness/behind-a-face.ts': layers.map((layer) => `import './${layer}/leads.ts'\n`).join(''),
  'suites/leads.ts': "import '../cli/leads.ts'\n",
  'fixtures/leads.ts': "import '../catalogue/leaf.ts'\n",
  'reporters/leads.ts': "import '../harness/engine/leads.ts'\n",
  'reference/leads.ts': "import '../catalogue/leaf.ts'\n",
  'cli/leads.ts':
    "import '../tests/leaf.ts'\nimport 'undici'\nimport 'vitest'\nimport './nowhere.ts'\n",
  'cli/leaf.ts': 'export const b = 1\n',
  'tests/leaf.ts': 'export const b = 1\n',
  'suites/leaf.ts': 'export const b = 1\n',
  'node_modules/undici/index.js': '',
  'node_modules/undici/package.json': '{"name":"undici","main":"index.js"}',
  'node_modules/vitest/index.js': '',
  'node_modules/vitest/package.json': '{"name":"vitest","main":"index.js"}',

  'catalogue/cycle-a.ts': "import type { B } from './cycle-b.ts'\nexport type A = B | 1\n",
  'catalogue/cycle-b.ts': "import type { A } from './cycle-a.ts'\nexport type B = A | 2\n",

  // No file leads back to itself, but the folders do.
  'cli/mutual-a/one.ts': "import '../mutual-b/one.ts'\n",
  'cli/mutual-a/other.ts': 'export const c = 1\n',
  'cli/mutual-b/one.ts': 'export const d = 1\n',
  'cli/mutual-b/other.ts': "import '../mutual-a/other.ts'\n",

  'schemas/allowed.ts': 'export const a = 1\n',
  'catalogue/allowed.ts': "import '../schemas/allowed.ts'\n",
  'fixtures/allowed.ts': 'export const pdf = 1\n',
  'harness/http/allowed.ts': "import '../../schemas/allowed.ts'\n",
  'harness/report/allowed.ts': "import '../../catalogue/allowed.ts'\n",
  ...Object.fromEntries(
    ['http', 'report', 'engine', 'checks'].map((layer) => [
      `harness/${layer}/index.ts`,
      "import './allowed.ts'\n",
    ]),
  ),
  'harness/engine/allowed.ts':
    "import '../http/index.ts'\nimport '../report/index.ts'\nimport type { A } from '../../catalogue/type.ts'\nexport type B = A\n",
  'catalogue/type.ts': 'export type A = 1\n',
  'harness/checks/allowed.ts': "import '../engine/index.ts'\n",
  'suites/allowed.ts': "import '../harness/checks/index.ts'\nimport '../fixtures/allowed.ts'\n",
  'reporters/allowed.ts': "import '../harness/report/index.ts'\n",
  'reference/allowed.ts': 'export const a = 1\n',
  'cli/allowed.ts':
    "import '../suites/allowed.ts'\nimport '../reporters/allowed.ts'\nimport '../reference/allowed.ts'\n",
  'tsconfig.json': '{"compilerOptions":{"allowImportingTsExtensions":true,"noEmit":true}}',
}

/** The rules that are broken, and the files that break them: told once, for to start the tool takes longest. */
let violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[]
let looked: readonly string[]
beforeAll(() => {
  const dir = mkdtempSync(join(tmpdir(), 'conform-edges-'))
  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  const folders = readdirSync(dir).filter(
    (name) => name !== 'node_modules' && name !== 'tsconfig.json',
  )
  const args = [cruiser, '--config', config, '--output-type', 'json', ...folders]
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: dir, encoding: 'utf8' })
  rmSync(dir, { recursive: true, force: true })
  expect(stderr).toBe('')
  const told = JSON.parse(stdout) as {
    modules: { source: string }[]
    summary: { violations: typeof violations }
  }
  violations = told.summary.violations
  looked = told.modules.map(({ source }) => source)
})

/** The names of the rules that files of that name break. */
const brokenBy = (name: string): string[] => [
  ...new Set(violations.filter(({ from }) => from.includes(name)).map(({ rule }) => rule.name)),
]

test('every file of the tree is looked at', () => {
  const files = Object.keys(tree).filter((path) => path.endsWith('.ts'))
  expect(looked).toEqual(expect.arrayContaining(files))
})

test('what an edge forbids is found', () => {
  const names = brokenBy('leads')
  const folders = ['fixtures', 'schemas', 'reference', 'catalogue', 'reporters', 'suites', 'cli']
  for (const folder of [...folders, ...layers.map((layer) => `harness/${layer}`)])
    expect(names).toContain(`${folder}-imports-only`)
  for (const rule of [
    'engine-is-given-the-interface',
    'one-http-client',
    'one-test-runner',
    'resolves',
    'ships-what-it-needs',
  ])
    expect(names).toContain(rule)
})

test('what stands behind the face of a layer is for that layer alone', () => {
  expect(brokenBy('behind')).toEqual(
    expect.arrayContaining(layers.map((layer) => `${layer}-has-a-face`)),
  )
})

test('a cycle of types alone is one', () => {
  expect(brokenBy('cycle')).toEqual(['no-cycle'])
})

test('folders that need each other are found', () => {
  expect(brokenBy('mutual')).toEqual(['no-folder-cycle'])
})

test('what the edges allow is allowed', () => {
  expect(brokenBy('allowed')).toEqual([])
})
