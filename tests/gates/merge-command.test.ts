import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'
import { mergeFiles } from '../../cli/merge.ts'
import { leftOut } from '../../harness/report/reason.ts'
import { conform } from '../cli/in-process.ts'
import { failed, missed, report, result } from './results.ts'

const at = folder()
const path = (name: string) => join(at, name)
const elsewhere = (id: string) => missed(id, leftOut('--shard'))
const now = new Date('2027-01-01T00:00:00Z')
const should = {
  ...result('a.b/3', { level: 'should', outcome: 'failed' }),
  failures: failed('a.b/3').failures,
}

const parts = [
  [result('a.b/1'), elsewhere('c.d/2'), should],
  [elsewhere('a.b/1'), failed('c.d/2', { familyOnly: true }), elsewhere('a.b/3')],
].map((rows, index) => {
  writeFileSync(path(`${index}.json`), JSON.stringify(report(rows, { shard: `${index + 1}/2` })))
  return path(`${index}.json`)
})
writeFileSync(path('baseline.json'), '{"expected": [{"id": "c.d/2"}]}')

const merge = (...args: string[]) => conform(['merge', ...parts, ...args])

test('the whole is written and decides the exit code', async () => {
  const { code, stdout } = await merge('--report', `json=${path('whole.json')}`)
  expect(code).toBe(1)
  expect(stdout).toContain('non-conformant')
  expect(JSON.parse(readFileSync(path('whole.json'), 'utf8'))).toMatchObject({
    verdict: 'non-conformant',
    run: { shard: null },
  })
})

test('--baseline, --tpe and --strict hold for the whole', async () => {
  expect((await merge('--baseline', path('baseline.json'))).code).toBe(0)
  expect((await merge('--tpe', 'family')).code).toBe(0)
  expect((await merge('--tpe', 'family', '--strict')).code).toBe(1)
  expect(mergeFiles(parts, { tpe: 'family', baseline: path('baseline.json') }, now)).toMatchObject({
    verdict: 'conformant',
    run: { tpe: 'family', baseline: { stale: [{ id: 'c.d/2', why: 'it passed' }] } },
  })
})

test('--require-exercised holds for the whole: a must that no part tested decides', async () => {
  const rows = [
    [result('a.b/1'), missed('a.b/2'), elsewhere('c.d/2')],
    [elsewhere('a.b/1'), elsewhere('a.b/2'), result('c.d/2')],
  ].map((of, index) => {
    const name = path(`missed-${index}.json`)
    writeFileSync(name, JSON.stringify(report(of, { shard: `${index + 1}/2` })))
    return name
  })
  expect((await conform(['merge', ...rows])).code).toBe(0)
  const required = await conform(['merge', ...rows, '--require-exercised'])
  expect(required.code).toBe(1)
  expect(required.stdout).toContain('exit 1: 1 must was not exercised (--require-exercised)')
})

test('with a report on stdout, what is for people goes to stderr', async () => {
  const { stdout, stderr } = await merge('--report', 'badge=-')
  expect(stdout).toMatch(/^<svg/)
  expect(stderr).toContain('non-conformant')
})

test('a report that cannot be written is a mistake of the user, and nothing is merged', async () => {
  for (const [path, problem] of [
    [`${parts[0]}/x.json`, /cannot be written \((ENOTDIR|EEXIST)\)\n$/],
    [parts[0], /would overwrite .*0\.json, one of the parts/],
  ] as const) {
    const ended = await merge('--report', `json=${path}`)
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(problem) })
  }
})

test('the last line says why the exit code is what it is', async () => {
  const last = async (...args: string[]) =>
    (await merge(...args)).stdout.trimEnd().split('\n').at(-1)
  expect(await last()).toBe('exit 1: 1 must failed')
  expect(await last('--baseline', path('baseline.json'))).toBe(
    `exit 0: 1 of 2 failures expected by the baseline; 1 should failed, which does not decide`,
  )
})
