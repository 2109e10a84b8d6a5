import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Stands in for npm: does nothing and succeeds, but for what is to be broken. */
const npm = `#!/bin/bash
if [[ -n "$BREAKS" && "$*" =~ $BREAKS ]]; then printf ' FAIL  the cause\\n' >&2; seq 100; exit 1; fi
case $1 in
  pack) touch "\${@: -1}/package.tgz" ;;
  install)
    mkdir -p node_modules/.bin node_modules/ai-content-conformance
    cp "$STUBS/conform" node_modules/.bin/
    cp "$STUBS"/package.json "$STUBS"/*.js node_modules/ai-content-conformance/ ;;
esac
`

/** Stands in for the installed command. */
const conform = `#!/bin/bash
if [[ "$*" == *--dry-run* ]]; then [[ -z "$READS_NO_TYPESCRIPT" ]] && echo 'total 1'; exit 0; fi
[[ -n "$WRITES_NOTHING" ]] || echo "{\\"verdict\\": \\"\${VERDICT:-conformant}\\"}" > conform-report.json
[[ -z "$LEAVES" ]] || touch "$TMPDIR/cache"
exit "\${ENDS:-0}"
`

const library = `export const catalogue = process.env.LIBRARY === 'broken' ? [1] : []
export const defineTarget = (target) => target
export const runConformance = () => ({ report: { requirements: [], summary: { must: { failed: 0 } } } })
`

const copy = folder()
for (const folder of ['tools', 'stubs']) mkdirSync(join(copy, folder))
cpSync(join(root, '.ci'), join(copy, '.ci'), { recursive: true })
const files = {
  'tools/npm': npm,
  'tools/chromium': '#!/bin/bash\n',
  'tools/rsync': '#!/bin/bash\n',
  'stubs/conform': conform,
  'stubs/index.js': library,
  'stubs/reference.js':
    "export const startReference = async () => ({ url: 'http://x', close() {} })\n",
  'stubs/package.json':
    '{"type": "module", "exports": {".": "./index.js", "./reference": "./reference.js"}}',
}
for (const [path, text] of Object.entries(files)) {
  writeFileSync(join(copy, path), text)
  chmodSync(join(copy, path), 0o755)
}

/** Runs the gate with one thing broken; gives its exit code and the lines that close it. */
async function gate(broken: Record<string, string>) {
  const child = spawn(join(copy, '.ci/run'), {
    env: {
      PATH: `${join(copy, 'tools')}:${process.env.PATH}`,
      STUBS: join(copy, 'stubs'),
      FORCE_COLOR: '1',
      ...broken,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let said = ''
  child.stdout.on('data', (piece: Buffer) => (said += piece.toString()))
  const [code] = (await once(child, 'close')) as [number]
  const failed = [...said.matchAll(/^FAILED {2}(.*) \(\d+ s\)$/gm)].map(([, name]) => name)
  const close = said.slice(said.indexOf('== why'))
  return { code, failed, last: said.trim().split('\n').at(-1), close }
}

const steps = [...read('.ci/run').matchAll(/^(?:step|beside) "([^"]+)"/gm)].map(([, name]) => name!)
const packed = 'the packed package judges'

test('all steps pass where nothing is broken, and the last line counts them', async () => {
  expect(await gate({})).toMatchObject({
    code: 0,
    failed: [],
    last: `${steps.length} passed, 0 failed`,
  })
})

const mutations: [what: string, step: string, broken: Record<string, string>][] = [
  ['npm ci', 'npm ci && npm run conform', { BREAKS: '^ci$' }],
  ['npm run conform', 'npm ci && npm run conform', { BREAKS: '^run conform$' }],
  ['npm cit', 'npm cit', { BREAKS: '^cit$' }],
  ['whole programs', 'whole programs: pages, examples, scripts', { BREAKS: ' test:programs$' }],
  ['the compiler', 'types', { BREAKS: ' types$' }],
  ['oxlint', 'style', { BREAKS: ' lint$' }],
  ['oxfmt', 'format', { BREAKS: ' format:check$' }],
  ['dependency-cruiser', 'edges between folders', { BREAKS: ' deps$' }],
  ['knip', 'nothing unused', { BREAKS: ' unused$' }],
  ['the contents', 'contents of the package', { BREAKS: ' package:check$' }],
  [
    'a project of vitest',
    'the packed package in an empty vitest project',
    { BREAKS: ' packed:vitest$' },
  ],
  ['the one file', 'one file and container judge', { BREAKS: ' standalone:check$' }],
  ['a pipeline', 'the pipelines of the pages judge', { BREAKS: ' pipelines:check$' }],
  ['packing', packed, { BREAKS: '^pack ' }],
  ['installing', packed, { BREAKS: '^install ' }],
  ['the exit code of a run', packed, { ENDS: '1' }],
  ['the verdict of a run', packed, { VERDICT: 'passing' }],
  ['the report of a run', packed, { WRITES_NOTHING: '1' }],
  ['target files in TypeScript', packed, { READS_NO_TYPESCRIPT: '1' }],
  ['the library', packed, { LIBRARY: 'broken' }],
  ['a file that is left behind', packed, { LEAVES: '1' }],
]

test.each(mutations)('broken: %s; failed: %s', async (_what, step, broken) => {
  expect(await gate(broken)).toMatchObject({
    code: 1,
    failed: [step],
    last: `${steps.length - 1} passed, 1 failed`,
  })
})

test('what a failed step complained of stands at the end, however much it said', async () => {
  const { close } = await gate({ BREAKS: '^cit$' })
  expect(close.split('\n').slice(0, 3)).toEqual([
    '== why "npm cit" failed',
    ' FAIL  the cause',
    '...',
  ])
  expect(close).toContain('\n100\n\npassed  npm ci')
})

test('each step has a mutation, and the first ones are the commands of README', () => {
  expect(steps.filter((step) => !mutations.some(([, broken]) => broken === step))).toEqual([])
  const commands = [...read('README.md').matchAll(/^(npm ci.*?)\s+#/gm)].map(
    ([, command]) => command,
  )
  expect(steps.slice(0, 2)).toEqual(commands)
})
