import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pc from 'picocolors'
import { describe, expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { explanation } from '../../cli/explain.ts'
import { laidOut } from '../../reporters/terminal/lines.ts'
import { leftOut } from '../../harness/report/reason.ts'
import { idMeant } from '../../harness/target/nearest.ts'
import { folder, ids as passedIds, readReport } from './conform.ts'
import { failure } from '../gates/results.ts'
import type { RequirementResult } from '../../harness/report/report-schema.ts'
import { conform } from './in-process.ts'

const ids: readonly string[] = catalogue.map(({ id }) => id)

describe('explain', () => {
  test('says what is sent, what passes and why, and what to declare', async () => {
    const { code, stderr, stdout } = await conform('explain jobs.create/404-unknown-application')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('jobs.create/404-unknown-application  must  §4.2, §7.3\n')
    expect(stdout).toContain(
      '/v1/applications/{application_id}/jobs with a valid request, but an unknown application_id',
    )
    expect(stdout).toMatch(
      /\nThe difference from the valid request\n {2}- POST \/v1\/applications\/(\S+)\/jobs\n {2}\+ POST \/v1\/applications\/(?!\1)\S+\/jobs\n {4}content-type: application\/json\n/,
    )
    expect(stdout).toContain('404 ResourceNotFound.\n  With --tpe family also 404 NotFound.')
    expect(stdout).toContain('`NotFound` is only in §7.1')
    expect(stdout).toContain('\n      "application": {\n        "id": "<application id>",\n')
  })

  test.each([
    ['jobs.create/409-job-in-progress', '  POST /v1/applications/{application_id}/jobs\n'],
    ['pdf.parse/4xx-removed', '\n  {"operations": {"pdf.parse": "removed"}}\n'],
    ['chat.create/200-structured-output', '  A 2xx, and what the statement above asks for.\n'],
    ['translate.run/2xx-accepted', '  Any 2xx whose body is not an error envelope.\n'],
    ['envelope/shape', '  Nothing of its own: '],
    ['guardrails/400-blocked', '  The valid request of the operation that the scenario names, '],
  ])('of %s it says %j', async (id, text) => {
    expect((await conform(`explain ${id}`)).stdout).toContain(text)
  })

  test('every requirement is explained whole', async () => {
    for (const requirement of catalogue) {
      const lines = await explanation(requirement, pc.createColors(false))
      const text = laidOut(lines, Infinity).join('\n')
      expect(text, requirement.id).not.toMatch(/undefined|\[object|\n\n\n/)
      expect(
        text.match(/^(?:What (?:is|passes|the).*|Why|Judge only this)$/gm),
        requirement.id,
      ).toEqual([
        ...[
          'What is sent',
          'What passes',
          'Why',
          'What the target must declare',
          'Judge only this',
        ],
      ])
    }
  })

  test.each(['pdf.parse/*', 'pdf.parse'])('takes one id, and %s is none', async (written) => {
    const { code, stderr } = await conform(`explain ${written}`)
    const told = `conform: explain ${written}: it takes one id, and several match; conform list 'pdf.parse/*' shows them\n`
    expect({ code, stderr }).toEqual({ code: 2, stderr: told })
  })

  test('an id that is none is answered with a near one', async () => {
    const { code, stderr } = await conform('explain jobs.crate/404-unknown-aplication')
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'conform: explain jobs.crate/404-unknown-aplication: no requirement has such an id; did you mean jobs.create/404-unknown-application? (conform list shows all)\n',
    })
  })
})

test.each([
  ['jobs.create', 'jobs.create/*'],
  ['graph.create', 'graphs.create/*'],
  ['jobs.crate/*', 'jobs.create/*'],
  ['404-unknown-application', 'jobs.create/404-unknown-application'],
  ['translat.run/400-empty-txt', 'translate.run/400-empty-text'],
])('%s is near %s', (written, near) => {
  expect(idMeant(written)).toContain(`did you mean ${near}?`)
})

test('nothing is near what is like nothing', () => {
  expect(idMeant('nothing-like-that')).toBe('; conform list shows all')
})

test('list takes a pattern or an operation', async () => {
  const text = await conform('list jobs.create/409-*')
  expect(text.stdout.match(/^ {2}\S+/gm)).toEqual(
    ids.filter((id) => id.startsWith('jobs.create/409-')).map((id) => `  ${id}`),
  )
  const json = await conform('list general --json')
  expect((JSON.parse(json.stdout) as { id: string }[]).map(({ id }) => id)).toEqual(
    ids.filter((id) => id.startsWith('general/')),
  )
  expect(await conform('list nothing/*')).toMatchObject({ code: 2 })
})

/** The report of a run of a few requirements of the embedded reference, all passed, but for one that is changed. */
async function changedReport(change: (first: RequirementResult) => Partial<RequirementResult>) {
  const cwd = folder()
  await conform('--only files.list/40* --report json=before.json', { cwd })
  const again = (args: string) => conform(args, { cwd })
  const untouched = await Promise.all(
    ['failed', 'untested'].map((option) => again(`--${option} before.json`)),
  )
  const report = readReport(cwd, 'before.json')
  const first = report.requirements.find(({ outcome }) => outcome === 'passed')!
  Object.assign(first, change(first))
  writeFileSync(join(cwd, 'before.json'), JSON.stringify(report))
  return { again, cwd, first, untouched: untouched.map(({ stderr }) => stderr) }
}

test('--failed runs what failed in a report, and never writes over it', async () => {
  const { again, cwd, first, untouched } = await changedReport(({ id }) => {
    const rerunIds = [id, 'files.list/2xx-accepted']
    return { outcome: 'failed', failures: [failure({ rerunIds })] }
  })
  expect(untouched[0]).toContain('nothing failed in that report')
  const ended = await again('--failed before.json --report json=again.json')
  expect(ended).toMatchObject({ code: 0 })
  expect(readReport(cwd, 'again.json').run.only).toEqual([first.id, 'files.list/2xx-accepted'])
  expect(ended.stdout).toMatch(/^Left out: \d+ by --failed$/m)
  const over = await again('--failed before.json --report json=before.json')
  expect(over).toMatchObject({ code: 2 })
  expect(over.stderr).toContain('would overwrite the report that --failed names')
})

test('--untested runs what was not tested in a report, and what it leaves out is said to be left out by it', async () => {
  const { again, cwd, first, untouched } = await changedReport(() => ({
    outcome: 'not-exercised',
    ...leftOut('interrupted'),
  }))
  expect(untouched[1]).toContain('everything was tested in that report')
  const { stdout } = await again('--untested before.json --report json=again.json')
  expect(stdout).toMatch(/^Left out: \d+ by --untested$/m)
  const report = readReport(cwd, 'again.json')
  expect(report.run.only).toEqual([first.id])
  expect(passedIds(report, 'passed')).toEqual([first.id])
  const both = await again('--untested before.json --failed before.json')
  expect(both.stderr).toContain('--failed and --untested: give one of the two')
})
