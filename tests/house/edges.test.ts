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
    'catalogue/a.ts': "import '../harness/a.ts'\n",
    'schemas/a.ts': "import '../catalogue/b.ts'\n",
    'catalogue/b.ts': 'export const b = 1\n',
    'harness/a.ts': "import '../suites/a.ts'\nimport '../fixtures/other.ts'\n",
    'suites/a.ts': "import '../cli/a.ts'\n",
    'fixtures/other.ts': "import '../catalogue/b.ts'\n",
    'reporters/a.ts': "import '../schemas/a.ts'\n",
    'reference/a.ts': "import '../catalogue/b.ts'\n",
    'cli/a.ts': "import '../suites/b.ts'\nimport 'undici'\nimport 'vitest'\nimport './nowhere.ts'\n",
    'suites/b.ts': 'export const b = 1\n',
    'node_modules/undici/index.js': '',
    'node_modules/undici/package.json': '{"name":"undici","main":"index.js"}',
    'node_modules/vitest/index.js': '',
    'node_modules/vitest/package.json': '{"name":"vitest","main":"index.js"}',
  })
  const folders = ['fixtures', 'schemas', 'reference', 'catalogue', 'reporters', 'harness', 'suites', 'cli']
  for (const folder of folders) expect(names).toContain(`${folder}-imports-only`)
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
    'harness/a.ts': "import '../catalogue/a.ts'\nimport '../schemas/a.ts'\nimport '../fixtures/pdf.ts'\n",
    'suites/a.ts': "import '../harness/a.ts'\nimport '../fixtures/pdf.ts'\n",
    'reporters/a.ts': "import '../catalogue/a.ts'\n",
    'reference/a.ts': 'export const a = 1\n',
    'cli/a.ts': "import '../harness/a.ts'\nimport '../reporters/a.ts'\nimport '../reference/a.ts'\n",
  })
  expect([...names]).toEqual([])
})
