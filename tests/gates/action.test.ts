import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const action = readFileSync(new URL('../../action.yml', import.meta.url), 'utf8')
/** The script of the last step, as the runner gets it. */
const script = action.slice(action.lastIndexOf('run: |') + 'run: |'.length).replace(/^ {8}/gm, '')
const inputs = [...script.matchAll(/\$(IN_[A-Z_]+)/g)].map((match) => match[1]!)

/** Stands in for the suite: it notes what it was given, writes the reports asked for, and ends as it is told. */
const conform = `
const fs = require('node:fs')
const reports = process.argv.filter((argument) => argument.startsWith('--report=')).map((argument) => argument.split('='))
fs.writeFileSync(process.env.NOTES, JSON.stringify({ argv: process.argv.slice(2), env: process.env }))
for (const [, format, path] of reports) {
  if (process.env.WRITES !== 'no') fs.writeFileSync(path, format === 'json' ? '{"verdict": "passing"}' : '# Result')
}
process.exit(Number(process.env.ENDS))
`

function act(given: Record<string, string>, { ends = 0, writes = 'yes' } = {}) {
  const at = mkdtempSync(join(tmpdir(), 'conform-action-'))
  const [notes, output, summary] = ['notes.json', 'output', 'summary'].map((name) => join(at, name)) as [
    string,
    string,
    string,
  ]
  mkdirSync(join(at, 'bin'))
  writeFileSync(join(at, 'bin', 'conform.js'), conform)
  const { status, stderr } = spawnSync('bash', ['-c', script], {
    cwd: at,
    encoding: 'utf8',
    env: {
      ...{ PATH: process.env.PATH, RUNNER_TEMP: at, GITHUB_ACTION_PATH: at },
      ...{ GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary, NOTES: notes, ENDS: `${ends}`, WRITES: writes },
      ...Object.fromEntries(inputs.map((name) => [name, ''])),
      ...{ IN_REPORT: 'report.json', IN_SUMMARY: 'true', ...given },
    },
  })
  const text = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '')
  const { argv, env } = JSON.parse(text(notes)) as { argv: string[]; env: Record<string, string> }
  return { at, status, stderr, argv, env, output: text(output), summary: text(summary) }
}

test('inputs become arguments, lists one a line; nothing is given for what is empty', () => {
  const { argv, at } = act({
    ...{ IN_BASE_URL: 'https://x', IN_TARGET: 't.json', IN_ONLY: 'jobs.*\n\n*/401-*\n', IN_STRICT: 'true' },
    ...{ IN_READ_ONLY: 'false', IN_REPORTS: 'junit=a b.xml\r\nhtml' },
  })
  expect(argv.map((argument) => argument.replace(at, '').replace(/-\d+\.md/, '.md'))).toEqual([
    ...['--target=t.json', '--only=jobs.*', '--only=*/401-*', '--strict', '--report=json=report.json'],
    ...['--report=junit=a b.xml', '--report=html', '--report=markdown=/conform-summary.md', '--', 'https://x'],
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

test('the exit code is that of the suite; verdict and summary are handed on all the same', () => {
  const { status, output, summary } = act({}, { ends: 1 })
  expect(status).toBe(1)
  expect(output).toBe('verdict=passing\nexit-code=1\n')
  expect(summary).toBe('# Result')
  expect(act({ IN_SUMMARY: 'false' }).summary).toBe('')
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
