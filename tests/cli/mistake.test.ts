import pc from 'picocolors'
import { expect, test } from 'vitest'
import { planRun } from '../../suites/plan.ts'
import { reportOf } from '../../suites/run-report.ts'
import { createRun } from '../../harness/engine/create-run.ts'
import { startJudging } from '../../harness/run/judging.ts'
import type { Judge } from '../../harness/run/check-context.ts'
import { createHandlerTransport } from '../../harness/http/handler-transport.ts'
import { resolveTarget } from '../../harness/target/resolve.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { createReference } from '../../reference/server.ts'
import { renderTerminal } from '../../reporters/terminal.ts'
import { api } from '../../suites/judge.ts'
import { judgeOf } from '../../suites/suites.ts'

const broken = 'files.list/2xx-accepted'

/** A run of two requirements, one of them judged by that check. */
async function judged(check: Judge | undefined, problem?: string): Promise<Report> {
  const { handle, target: file, url } = createReference()
  const { target } = await resolveTarget(file, { dir: '.', env: {}, baseUrl: url })
  const chosen = {
    only: [broken, 'files.list/401-missing-credentials'],
    skip: [],
    expected: [],
  }
  const flags = {
    strict: false,
    readOnly: false,
    bail: Infinity,
    depth: 'full',
    insecure: false,
    tpe: 'exact',
  } as const
  const options = {
    ...{
      ...chosen,
      ...flags,
      seed: 77,
      refusalRuns: 1,
      grantedRuns: 1,
      nonce: 'n',
      rerun: 'conform',
      backoffMs: 2,
    },
  }
  const transport = createHandlerTransport({ handle, baseUrl: url, bodyLimit: 1e6 })
  const plan = planRun(target, options)
  const run = createRun(target, options, { api, plan, hooks: [], transport })
  const startedAt = new Date()
  const { done, facts, results } = startJudging(run, (id) => (id === broken ? check : judgeOf(id)))
  await done
  return reportOf({ target, options, startedAt, durationMs: 1, results, facts: facts(), problem })
}

const lastLine = (report: Report): string =>
  renderTerminal(report, pc.createColors(false)).trimEnd().split('\n').at(-1)!

test.each<[string, Judge | undefined]>([
  ['a check that throws what it should not', async () => JSON.parse('{')],
  ['a requirement without a check', undefined],
])('%s ends loudly: exit 3, no pass, and a line that asks to report it', async (_, check) => {
  const report = await judged(check)
  const row = report.requirements.find(({ id }) => id === broken)
  expect(row).toMatchObject({ outcome: 'not-exercised' })
  expect(row?.reason).toMatch(/^a bug in the suite: /)
  expect(report.exit.code).toBe(3)
  expect(report.verdict).toBe('passing')
  expect(lastLine(report)).toBe(
    'exit 3: 1 requirement could not be judged because of a bug in the suite; please report it, with seed 77',
  )
})

test('a run that a mistake ended asks for a report too', async () => {
  const report = await judged(judgeOf(broken), 'x is undefined')
  expect(report.exit).toEqual({
    code: 3,
    because: 'a bug in the suite ended the run: x is undefined; please report it, with seed 77',
    outside: true,
  })
})
