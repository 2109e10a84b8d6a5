import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { mergeCommand, mergeFiles } from '../../cli/merge.ts'
import { leftOut } from '../../harness/report/reason.ts'
import { failed, missed, report, result } from './results.ts'

const at = mkdtempSync(join(tmpdir(), 'conform-merge-'))
const path = (name: string) => join(at, name)
const elsewhere = (id: string) => missed(id, leftOut('--shard'))
const now = new Date('2027-01-01T00:00:00Z')
const should = { ...result('a.b/3', { level: 'should', outcome: 'failed' }), failures: failed('a.b/3').failures }

const parts = [
  [result('a.b/1'), elsewhere('c.d/2'), should],
  [elsewhere('a.b/1'), failed('c.d/2', { familyOnly: true }), elsewhere('a.b/3')],
].map((rows, index) => {
  writeFileSync(path(`${index}.json`), JSON.stringify(report(rows, { shard: `${index + 1}/2` })))
  return path(`${index}.json`)
})
writeFileSync(path('baseline.json'), '{"expected": [{"id": "c.d/2"}]}')

afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = undefined
})

async function merge(...args: string[]) {
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const err = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  await mergeCommand()
    .exitOverride()
    .parseAsync([...parts, ...args], { from: 'user' })
  const said = (spy: typeof out) => spy.mock.calls.map(([chunk]) => String(chunk)).join('')
  return { code: process.exitCode, out: said(out), err: said(err) }
}

test('the whole is written and decides the exit code', async () => {
  const { code, out } = await merge('--report', `json=${path('whole.json')}`)
  expect(code).toBe(1)
  expect(out).toContain('non-conformant')
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

test('with a report on stdout, what is for people goes to stderr', async () => {
  const { out, err } = await merge('--report', 'badge=-')
  expect(out).toMatch(/^<svg/)
  expect(err).toContain('non-conformant')
})

test('a report that cannot be written is a mistake of the user, and nothing is merged', async () => {
  await expect(merge('--report', `json=${path('0.json')}/x.json`)).rejects.toThrow(
    /cannot be written \((ENOTDIR|EEXIST)\)/,
  )
  await expect(merge('--report', `json=${parts[0]}`)).rejects.toThrow(/would overwrite .*0\.json, one of the parts/)
})

test('the last line says why the exit code is what it is', async () => {
  const last = async (...args: string[]) => (await merge(...args)).out.trimEnd().split('\n').at(-1)
  expect(await last()).toBe('exit 1: 1 must failed')
  expect(await last('--baseline', path('baseline.json'))).toBe(
    `exit 0: 1 of 2 failures expected by the baseline; 1 should failed, which does not decide`,
  )
})
