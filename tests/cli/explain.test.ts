import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pc from 'picocolors'
import { describe, expect, test } from 'vitest'
import { catalogue, requirementOf } from '../../catalogue/catalogue.ts'
import { explanationLines } from '../../cli/explain/explanation.ts'
import { laidOut } from '../../reporters/terminal/lines.ts'
import { lineOf, sentFor } from '../../cli/explain/sent.ts'
import type { PreviousRequest } from '../../harness/engine/exchange.ts'
import { casesOf } from '../../suites/suites.ts'
import { judgeReference } from '../matrix/judge-reference.ts'
import { leftOut } from '../../harness/report/reason.ts'
import { idMeant } from '../../harness/target/nearest.ts'
import { folder, ids as passedIds, readReport } from './conform.ts'
import { failure } from '../gates/results.ts'
import type { RequirementResult } from '../../harness/report/report-schema.ts'
import { conform } from './in-process.ts'

const nothingSent = { lines: [], difference: [] }
const plain = pc.createColors(false)
const explanation = (...of: Parameters<typeof explanationLines>) =>
  `${laidOut(explanationLines(...of), Infinity).join('\n')}\n`
const ids: readonly string[] = catalogue.map(({ id }) => id)

describe('explain', () => {
  test('says what is sent, what passes and why, what to declare, and how the reference breaks it', async () => {
    const { code, stderr, stdout } = await conform('explain jobs.create/404-unknown-application')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('jobs.create/404-unknown-application  must  §4.2, §7.3\n')
    expect(stdout).toContain(
      '/v1/applications/{application_id}/jobs with a valid request, but an unknown application_id',
    )
    expect(stdout).toMatch(
      /\nThe difference from the request that is granted\n {2}- POST \/v1\/applications\/(\S+)\/jobs\n {2}\+ POST \/v1\/applications\/(?!\1)\S+\/jobs\n {4}content-type: application\/json\n/,
    )
    expect(stdout).toContain('404 ResourceNotFound.\n  With --tpe family also 404 NotFound.')
    expect(stdout).toContain('`NotFound` is only in §7.1')
    expect(stdout).toContain('\n      "application": {\n        "id": "<application id>",\n')
    expect(stdout).toContain("startReference({ defects: ['jobs.create/404-unknown-application'] })")
  })

  test('each requirement is explained whole', () => {
    for (const { id } of catalogue) {
      const text = explanation(requirementOf(id), nothingSent, plain)
      expect(text, id).not.toMatch(/undefined|\[object|\n\n\n/)
      for (const title of [
        'What is sent',
        'What passes',
        'Why',
        'What the target must declare',
        'Judge only this',
        'How the reference',
      ])
        expect(text, id).toContain(`\n${title}`)
      expect(text.indexOf('How the reference'), id).toBeGreaterThan(
        text.indexOf('\nJudge only this'),
      )
    }
  })

  test('what passes, and what to declare, is what the statement asks for', async () => {
    const { stdout } = await conform('explain pdf.parse/4xx-removed')
    expect(stdout).toContain('\n  {"operations": {"pdf.parse": "removed"}}\n')
    expect(stdout).toContain('\nWhat is sent\n  The request of pdf.parse, with the full key.\n')
    expect(
      explanation(requirementOf('chat.create/200-structured-output'), nothingSent, plain),
    ).toContain('  A 2xx, and what the statement above asks for besides.\n')
    expect(explanation(requirementOf('translate.run/2xx-accepted'), nothingSent, plain)).toContain(
      '  Any 2xx whose body is not an error envelope.\n',
    )
  })

  test('every line of what is sent is one that a run sends, and none is missing', async () => {
    const bySuite = catalogue.filter(({ id }) => casesOf(id) && !id.endsWith('/bad-input-no-5xx'))
    const sent = new Map<string, Set<string>>()
    const told = await sentFor(bySuite, 1)
    // Of some spellings of a path the first is asked for that the server takes: this one takes all.
    await judgeReference(
      { variants: ['spellings/served'] },
      {
        options: { seed: 1, only: bySuite.map(({ id }) => id), refusalRuns: 0, grantedRuns: 0 },
        network: (transport) => ({
          ...transport,
          send(request, options) {
            const { probe, purpose } = (options.tag ?? {}) as Partial<PreviousRequest>
            const { requirement, role = '', what = '' } = purpose ?? {}
            const isOwn = role === 'probe' || (role === 'control' && told.has(requirement ?? ''))
            if (!probe || !requirement || !isOwn) return transport.send(request, options)
            const area = requirement.slice(0, requirement.indexOf('/'))
            const lines = sent.get(area) ?? new Set()
            sent.set(
              area,
              lines.add(lineOf(probe, role === 'control' ? 'with a valid request' : what)),
            )
            return transport.send(request, options)
          },
        }),
      },
    )
    const lines = bySuite.flatMap(({ id, operation }) =>
      told.get(id)!.lines.map((line) => [operation, line] as const),
    )
    const isSent = ([operation, line]: readonly [string, string]): boolean =>
      line.startsWith('and as many more') || sent.get(operation)?.has(line) === true
    expect(lines.filter((line) => !isSent(line))).toEqual([])
    for (const [operation, all] of sent) {
      const own = new Set(lines.flatMap(([of, line]) => (of === operation ? [line] : [])))
      expect([...all].filter((line) => !own.has(line))).toEqual([])
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
