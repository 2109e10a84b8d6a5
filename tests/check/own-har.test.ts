import { expect, test } from 'vitest'
import { checkFile } from '../../cli/check.ts'
import { renderHar } from '../../reporters/har.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { check, failedIds, inFile, recordRun } from './recording.ts'

const pace = { jobMs: 15, slowJobMs: 250 }
const limits = { jobTimeoutMs: 1500 }
/** Findings on traffic do not depend on how many cases it holds. */
const options = { depth: 'quick' } as const

/** Rows on which the recording says something else than the run that it was made by. */
function differences(live: Report, checked: Report): string[] {
  return checked.requirements.flatMap(({ id, outcome }) => {
    const { outcome: was, reason = '' } = live.requirements.find((row) => row.id === id)!
    if (reason.includes('--only')) return []
    return ['passed', 'failed'].includes(outcome) && outcome !== was
      ? [`${id}: ${was} in the run, ${outcome} here`]
      : []
  })
}

/** Requirements that more than one answer shows. */
const shownByMore = [
  'jobs.create/202-retrievable',
  'jobs.create/409-job-in-progress',
  'jobs.create/409-released',
  'jobs.create/409-per-application',
  'jobs.create/409-atomic',
  'jobs.create/4xx-no-effect',
  'jobs.retrieve/200-identity',
  'jobs.retrieve/200-created-at',
  'jobs.retrieve/200-outcome',
  'jobs.retrieve/200-stable',
]

test('the HAR of a run against the reference passes, and says again what the run said', async () => {
  const { report: live, har } = await recordRun(pace, { limits, options })
  const checked = await check(har)
  expect(live.verdict).toBe('conformant')
  expect(checked.verdict).toBe('passing')
  expect(differences(live, checked)).toEqual([])
  const passed = checked.requirements.filter(({ outcome }) => outcome === 'passed')
  expect(passed.map(({ id }) => id)).toEqual(expect.arrayContaining(shownByMore))
})

test('the HAR that check writes reads the same again', async () => {
  const only = ['jobs.retrieve/*', 'files.list/*', 'envelope/*']
  const { har } = await recordRun(
    { ...pace, defects: ['jobs.retrieve/200-job', 'envelope/status-tpe-pair'] },
    { limits, options: { only } },
  )
  const now = new Date('2027-01-01T00:00:00Z')
  const { report, exchanges } = await checkFile(inFile(har), {}, now)
  const pieces: string[] = []
  for await (const piece of renderHar(report, exchanges())) pieces.push(piece)
  const again = await check(pieces.join(''))
  expect(failedIds(report)).toEqual(['envelope/status-tpe-pair', 'jobs.retrieve/200-job'])
  const outcomes = ({ requirements }: Report) =>
    requirements.map(({ id, outcome }) => [id, outcome])
  expect(outcomes(again)).toEqual(outcomes(report))
})

test('other ways to conform fail nothing', async () => {
  const variants = [
    ...['json/members-reversed', 'uuids/upper-case-in-retrieval', 'dates/coarser-in-retrieval'],
    'successes/other-2xx',
  ]
  const { report: live, har } = await recordRun(
    { ...pace, variants },
    { limits, options: { ...options, only: ['jobs.*', 'files.*', 'graphs.*', 'chat.*'] } },
  )
  const checked = await check(har)
  expect(failedIds(checked)).toEqual([])
  expect(differences(live, checked)).toEqual([])
})

test.each([
  [['jobs.create/202-created']],
  [['pdf.parse/200-markdown', 'jobs.retrieve/200-created-at#drifting', 'envelope/shape#array']],
])('a broken server is seen in its traffic: %s', async (defects) => {
  const only = ['jobs.*', 'pdf.parse/*', 'envelope/*']
  const { report: live, har } = await recordRun(
    { ...pace, defects },
    { limits, options: { ...options, only } },
  )
  const checked = await check(har)
  expect(failedIds(checked)).toEqual(
    expect.arrayContaining(defects.map((defect) => defect.replace(/#.*/, ''))),
  )
  expect(differences(live, checked)).toEqual([])
})
