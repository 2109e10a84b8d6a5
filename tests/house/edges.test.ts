import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawnSync } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'

const config = fileURLToPath(new URL('../../.dependency-cruiser.cjs', import.meta.url))
const cruiser = fileURLToPath(new URL('../../node_modules/.bin/depcruise', import.meta.url))

/** The names of the rules that a tree of these files breaks, each with the first file that does. */
function broken(files: Readonly<Record<string, string>>): Set<string> {
  const dir = mkdtempSync(join(tmpdir(), 'conform-edges-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  for (const [path, text] of Object.entries({
    ...files,
    'tsconfig.json': '{"compilerOptions":{"allowImportingTsExtensions":true,"noEmit":true}}',
  })) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  const folders = [...new Set(Object.keys(files).map((path) => path.split('/')[0]!))].filter(
    (name) => name !== 'node_modules',
  )
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [cruiser, '--config', config, '--output-type', 'json', ...folders],
    {
      cwd: dir,
      encoding: 'utf8',
    },
  )
  expect(stderr).toBe('')
  const { summary } = JSON.parse(stdout) as { summary: { violations: { rule: { name: string } }[] } }
  return new Set(summary.violations.map(({ rule }) => rule.name))
}

test('what an edge forbids is found', () => {
  const names = broken({
    'catalogue/a.ts': "import '../harness/http/a.ts'\n",
    'schemas/a.ts': "import '../catalogue/b.ts'\n",
    'catalogue/b.ts': 'export const b = 1\n',
    'harness/http/a.ts': "import '../recording/a.ts'\n",
    'harness/recording/a.ts': "import '../report/a.ts'\n",
    'harness/report/a.ts': "import '../target/a.ts'\n",
    'harness/target/a.ts': "import '../engine/a.ts'\n",
    'harness/engine/a.ts': "import '../checks/a.ts'\n",
    'harness/checks/a.ts': "import '../../suites/a.ts'\n",
    'suites/a.ts': "import '../cli/a.ts'\n",
    'fixtures/other.ts': "import '../catalogue/b.ts'\n",
    'reporters/a.ts': "import '../harness/engine/a.ts'\n",
    'reference/a.ts': "import '../catalogue/b.ts'\n",
    'certificate/a.ts': "import '../suites/b.ts'\n",
    'traffic/a.ts': "import '../cli/b.ts'\n",
    'cli/a.ts': "import '../tests/b.ts'\nimport 'undici'\nimport 'vitest'\nimport './nowhere.ts'\n",
    'cli/b.ts': 'export const b = 1\n',
    'tests/b.ts': 'export const b = 1\n',
    'suites/b.ts': 'export const b = 1\n',
    'node_modules/undici/index.js': '',
    'node_modules/undici/package.json': '{"name":"undici","main":"index.js"}',
    'node_modules/vitest/index.js': '',
    'node_modules/vitest/package.json': '{"name":"vitest","main":"index.js"}',
  })
  const layers = ['checks', 'engine', 'target', 'report', 'recording', 'http'].map((layer) => `harness/${layer}`)
  const folders = [
    'fixtures',
    'schemas',
    'reference',
    'catalogue',
    'reporters',
    'suites',
    'certificate',
    'traffic',
    'cli',
  ]
  for (const folder of [...folders, ...layers]) expect(names).toContain(`${folder}-imports-only`)
  for (const rule of ['one-http-client', 'one-test-runner', 'resolves', 'ships-what-it-needs'])
    expect(names).toContain(rule)
})

test('a cycle of types alone is one', () => {
  const names = broken({
    'catalogue/a.ts': "import type { B } from './b.ts'\nexport type A = B | 1\n",
    'catalogue/b.ts': "import type { A } from './a.ts'\nexport type B = A | 2\n",
  })
  expect([...names]).toEqual(['no-cycle'])
})

test('what the edges allow is allowed', () => {
  const names = broken({
    'schemas/a.ts': 'export const a = 1\n',
    'catalogue/a.ts': "import '../schemas/a.ts'\n",
    'fixtures/pdf.ts': 'export const pdf = 1\n',
    'harness/http/a.ts': "import '../../schemas/a.ts'\n",
    'harness/report/a.ts': "import '../../catalogue/a.ts'\n",
    'harness/engine/a.ts': "import '../http/a.ts'\nimport '../report/a.ts'\n",
    'harness/checks/a.ts': "import '../engine/a.ts'\n",
    'suites/a.ts': "import '../harness/checks/a.ts'\nimport '../fixtures/pdf.ts'\n",
    'reporters/a.ts': "import '../harness/report/a.ts'\n",
    'reference/a.ts': 'export const a = 1\n',
    'cli/a.ts': "import '../suites/a.ts'\nimport '../reporters/a.ts'\nimport '../reference/a.ts'\n",
  })
  expect([...names]).toEqual([])
})
