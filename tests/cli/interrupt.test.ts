import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { folder, ids, readReport, start, targetFile } from './conform.ts'
import { reference } from './reference.ts'
import { slowTarget } from './slow-target.ts'

/** Within this a run ends that was told to, in ms. */
const limitMs = 2_000

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s ends a run that waits for its target, and what was learned is reported',
  async (signal) => {
    const { url } = await reference()
    const slow = await slowTarget(url, (line) => line === 'POST /v1/completion')
    const cwd = folder()
    const only = ['--only', 'files.*', '--only', 'completion.*', '--runs', '1']
    const reports = ['json', 'html', 'har', 'junit'].flatMap((name) => ['--report', name])
    const run = start(['-t', targetFile(cwd, slow.url), ...only, ...reports], { cwd })
    await slow.held(1)
    const began = performance.now()
    run.child.kill(signal)
    const { code, stdout, stderr } = await run.ended
    expect(performance.now() - began).toBeLessThan(limitMs)
    expect(code).toBe(3)
    expect(stderr).toBe('')
    expect(stdout).toMatch(/interrupted/)

    const report = readReport(cwd)
    expect(report.run.interrupted).toBe(true)
    expect(report.verdict).not.toBe('conformant')
    expect(ids(report, 'failed')).toEqual([])
    const completion = report.requirements.filter(({ operation }) => operation === 'completion.create')
    expect(completion.map(({ reason }) => reason)).toContain('left out: interrupted')
    expect(completion.filter(({ outcome }) => outcome === 'passed')).toEqual([])
    expect(readdirSync(cwd).sort()).toEqual(
      ['conform-report.har', 'conform-report.html', 'conform-report.json', 'conform-report.xml', 'target.json'].sort(),
    )

    // Clean-up is sent all the same, for whatever the run is known to have created.
    const removed = slow.passed
      .filter((line) => line.startsWith('DELETE /admin/files/'))
      .map((line) => line.split('/').at(-1))
    const uploads = report.run.created.filter(({ operation }) => operation === 'files.upload').map(({ id }) => id)
    expect(removed.sort()).toEqual(uploads.sort())
  },
)

test('a second signal ends the process at once, and nothing of it is left', async () => {
  const { url } = await reference()
  // Clean-up never ends by itself: the first signal waits for it.
  const slow = await slowTarget(url, (line) => line === 'POST /v1/completion' || line.startsWith('DELETE '))
  const cwd = folder()
  const temporary = folder()
  const only = ['--only', 'files.upload/*', '--only', 'completion.*', '--runs', '1']
  const run = start(['-t', targetFile(cwd, slow.url), ...only, '--report', 'json'], { cwd, env: { TMPDIR: temporary } })
  await slow.held(1)
  run.child.kill('SIGINT')
  // Where nothing had been created yet there is nothing to clean up, and the first signal ends it.
  await Promise.race([slow.held(2), run.ended])
  run.child.kill('SIGINT')
  const { code } = await run.ended
  expect([130, 3]).toContain(code)
  expect(tmpdir()).not.toBe(temporary)
  expect(readdirSync(temporary).filter((name) => name.startsWith('conform-run-'))).toEqual([])
})
