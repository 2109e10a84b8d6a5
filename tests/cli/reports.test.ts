import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Report } from '../../harness/report/model.ts'
import { conform, folder, readReport, targetFile } from './conform.ts'
import { reference } from './reference.ts'

const known = 'files.retrieve/404-unknown-file'

test('a report on stdout moves what is for people to stderr', async () => {
  const { url } = await reference()
  const cwd = folder()
  const { code, stdout, stderr } = await conform(['-t', targetFile(cwd, url), '--only', known, '--report', 'json=-'], {
    cwd,
  })
  expect(code).toBe(0)
  expect((JSON.parse(stdout) as Report).verdict).toBe('passing')
  expect(stderr).toMatch(/^passing: /m)
})

test('every format goes to its usual file', async () => {
  const { url } = await reference()
  const cwd = folder()
  const formats = ['json', 'html', 'junit', 'ctrf', 'markdown', 'har', 'badge'].flatMap((name) => ['--report', name])
  const { code } = await conform(['-t', targetFile(cwd, url), '--only', known, ...formats], { cwd })
  expect(code).toBe(0)
  for (const end of ['json', 'html', 'xml', 'ctrf.json', 'md', 'har', 'svg']) {
    expect(readFileSync(join(cwd, `conform-report.${end}`), 'utf8').length).toBeGreaterThan(100)
  }
})

test('a report that cannot be written: exit 2 with its name, and the others are written', async () => {
  const { url } = await reference({ defects: [known] })
  const cwd = folder()
  mkdirSync(join(cwd, 'taken'))
  const args = ['-t', targetFile(cwd, url), '--only', known, '--report', 'html=taken', '--report', 'junit=none/x.xml']
  const { code, stdout, stderr } = await conform([...args, '--report', 'json=good.json'], { cwd })
  expect(code).toBe(2)
  expect(stderr).toMatch(/--report html=taken: cannot be written \(EISDIR\)/)
  expect(stderr).toMatch(/--report junit=none\/x\.xml: cannot be written \(ENOENT\)/)
  expect(stderr).not.toMatch(/\n\s+at /)
  expect(stdout).toMatch(/^non-conformant: /m)
  expect(readReport(cwd, 'good.json').verdict).toBe('non-conformant')
})

test('a baseline excuses what it names, goes stale loudly, and is rewritten on demand', async () => {
  const broken = await reference({ defects: [known] })
  const mended = await reference()
  const cwd = folder()
  const file = join(cwd, 'baseline.json')
  const at = (url: string): string[] => [url, '-t', targetFile(cwd, url), '--only', known, '--baseline', file]

  const made = await conform([...at(broken.url), '--update-baseline'], { cwd })
  expect(made.code).toBe(0)
  expect(made.stdout).toMatch(/baseline\.json is updated:\n/)
  const { expected } = JSON.parse(readFileSync(file, 'utf8')) as { expected: { id: string }[] }
  expect(expected.map(({ id }) => id)).toEqual([known])

  const excused = await conform(at(broken.url), { cwd })
  expect(excused.stdout).toMatch(/^non-conformant: /m)
  expect(excused.code).toBe(0)

  const stale = await conform(at(mended.url), { cwd })
  expect(stale.stdout).toMatch(new RegExp(`stale entry +${known}: it passed`))
  expect(stale.code).toBe(1)

  writeFileSync(file, JSON.stringify({ expected: [{ id: known, until: '2020-01-31' }] }))
  const late = await conform(at(broken.url), { cwd })
  expect(late.stdout).toMatch(/expected until 2020-01-31/)
  expect(late.code).toBe(1)
})

test('shards with one seed are judged apart and merged into one verdict', async () => {
  const { url } = await reference()
  const cwd = folder()
  const target = targetFile(cwd, url)
  const common = ['-t', target, '--seed', '7', '--runs', '1', '--only', 'files.*', '--only', 'translate.*']
  for (const part of ['1/2', '2/2']) {
    const { code } = await conform([...common, '--shard', part, '--report', `json=${part[0]}.json`], { cwd })
    expect(code).toBe(0)
  }
  const merged = await conform(['merge', '1.json', '2.json', '--report', 'json=whole.json'], { cwd })
  expect(merged.code).toBe(0)
  const whole = readReport(cwd, 'whole.json')
  expect(whole.run.shard).toBeNull()
  const missed = whole.requirements.filter(({ reason }) => reason === 'left out: --shard')
  expect(missed).toEqual([])
  expect(
    whole.requirements.filter(
      ({ operation, outcome }) => /^(files|translate)\./.test(operation) && outcome !== 'passed',
    ),
  ).toEqual([])
  expect((await conform(['merge', '1.json'], { cwd })).code).toBe(2)
  expect(existsSync(join(cwd, 'conform-report.json'))).toBe(false)
})
