/** What recorded traffic shows. The rules are those of a run, and are proven in `history/`. */
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { inconsistencies } from '../../harness/report/verdict.ts'
import type { Report } from '../../schemas/report.ts'
import { loggedExchanges } from '../../library/output.ts'
import { renderHar } from '../../reporters/har.ts'
import type { ReferenceOptions } from '../../reference/server.ts'
import { jobRules } from '../../suites/jobs/rules.ts'
import { judgeReference, type JudgeSettings } from '../matrix/judge-reference.ts'
import { joined } from '../reporters/samples.ts'
import {
  check,
  checked,
  createdJob,
  creationOf,
  envelope,
  failedIds,
  granted,
  har,
  inFile,
  job,
  rowOf,
  type Told,
} from './recording.ts'

const creation = granted['jobs.create/202-created']!
const retrieved = 'jobs.retrieve/200-job'
const retrieval = granted[retrieved]!
const chat = granted['chat.create/200-completion']!
const medical = granted['medical.comprehend/200-entities']!
const pdf = granted['pdf.parse/200-text']!
const translation = granted['translate.run/2xx-accepted']!

test('each granted request shows its row, and no other granted row', async () => {
  for (const [id, told] of Object.entries(granted)) {
    const report = await check(har(told))
    expect(failedIds(report)).toEqual([])
    // A job also shows what rules say of any reading, such as whether it fits its status.
    const ofRules = id === retrieved ? Object.keys(jobRules).filter((row) => row !== id) : []
    const passed = report.requirements.filter(({ outcome }) => outcome === 'passed')
    const shown = passed.map((row) => row.id).filter((row) => !row.startsWith('envelope/'))
    expect(shown.filter((row) => !ofRules.includes(row))).toEqual([id])
    expect(shown.includes('jobs.retrieve/200-consistent')).toBe(id === retrieved)
    expect(inconsistencies(report)).toEqual([])
  }
})

test('a recording of every operation is passing, with what is not shown and why', async () => {
  const all = Object.values(granted)
  const report = await check(har(...all))
  expect(report).toMatchObject({
    verdict: 'passing',
    target: { name: 'api.example.com', baseUrl: 'https://api.example.com/base' },
    run: {
      ...{ seed: 0, runs: 0, requests: all.length, startedAt: '2026-03-01T12:00:00.000Z' },
      durationMs: 1000 * (all.length - 1) + 13,
    },
  })
  expect(rowOf(report, 'jobs.retrieve/200-identity').outcome).toBe('passed')
  expect(rowOf(report, 'jobs.create/400-missing-body')).toMatchObject({
    outcome: 'not-exercised',
    reason: 'recorded traffic does not show it: no request equals a granted one but for its fault',
  })
})

const times = (count: number, told: Told): Told[] => Array.from({ length: count }, () => told)
const wrongly = (told: Told, change: Partial<Told>): Told => ({ ...told, ...change })
const refused = (status: number, tpe: string) => ({ status, answers: envelope(tpe) })
const graph = (name: string, id: string): Told => creationOf('graphs.create', name, id)
const running = wrongly(retrieval, { answers: { ...job, status: 'in_progress' } })
const second = { ...createdJob, id: createdJob.id.replace('6', '7') }

test.each<[what: string, id: string, ...told: Told[]]>([
  ['a job whose id is no uuid', retrieved, wrongly(retrieval, { answers: { ...job, id: 'j-1' } })],
  [
    'a success that is an envelope',
    'translate.run/2xx-accepted',
    wrongly(translation, { answers: envelope('BadRequest') }),
  ],
  [
    'a second graph of a name',
    'graphs.create/400-duplicate-name',
    ...[graph('tea', 'g-1'), graph('mint', 'g-2'), graph('tea', 'g-3')],
  ],
  [
    'a second job beside the first',
    'jobs.create/409-job-in-progress',
    ...[creation, running, wrongly(creation, { answers: second }), running],
  ],
])('%s fails: %s', async (_, id, ...told) => {
  const report = await check(har(...told))
  expect(failedIds(report)).toEqual([id])
  const [failure] = rowOf(report, id).failures
  expect(failure).toMatchObject({
    ...{ onlyName: false, seed: 0 },
    rerun: expect.stringMatching(/^conform check \S+\.har$/),
    message: expect.stringMatching(
      /^(GET|POST) https:\/\/api\.example\.com\/base\/v1\/\S+ \(log\.entries\[\d\]\)$/,
    ),
    expected: expect.stringMatching(/ \(§[\d.]/),
  })
  expect(inconsistencies(report)).toEqual([])
})

const onNew = (told: Told): Told => wrongly(told, { to: '/v1/applications/app-9/jobs' })
const made = creationOf('applications.create', 'a', 'app-9')
const lost = wrongly(creation, { status: 0, answers: '' })
const conflict = wrongly(creation, refused(409, 'BadRequest'))
const inSession = (session: string, told: Told): Told => ({
  ...told,
  sentWith: { cookie: `session=${session}` },
})

const tools = { tools: [{ type: 'llm' }] }
const stream = { type: 'text/event-stream', answers: 'data: {}\n\n' }
const words = { content: 'a', response_type: 'Words' }
const unrecorded = { status: 409, content: { text: undefined } }
const refusals =
  '400 BadRequest,401 BadToken,403 Forbidden,404 NotFound,409 Conflict,429 QuotaExceeded,503 ServiceUnavailable'
// Nobody knows what a refused request meant, and what is not shown is free.
test.each<[what: string, ...told: Told[]]>([
  [
    'refusals of every kind',
    ...refusals
      .split(',')
      .map((one) => wrongly(pdf, refused(Number(one.slice(0, 3)), one.slice(4)))),
  ],
  ['a format of its own', wrongly(pdf, { sends: { format: 'html' }, answers: {} })],
  ['a stream', wrongly(chat, { sends: { stream: true }, answers: {} }), wrongly(chat, stream)],
  ['a call of a tool', wrongly(chat, { sends: tools, answers: { choices: [] } })],
  ['another response type', wrongly(medical, { sends: words, answers: { words: [] } })],
  ['an operation of its own', { to: '/v1/models', status: 404, answers: { error: 'none' } }],
  ['a redirect', wrongly(pdf, { status: 307, answers: '', type: 'text/html' })],
  [
    'a conflict whose body was not recorded',
    ...[creation, running, wrongly(creation, unrecorded), running],
    ...[graph('tea', 'g-1'), wrongly(graph('tea', 'g-1'), unrecorded)],
  ],
  [
    'a conflict with a job whose creation was blocked or cut off',
    ...[made, ...times(6, pdf), onNew(lost), onNew(conflict)],
  ],
  ['creations that were cut off beside a job', creation, running, ...times(4, lost), running],
  [
    'a graph of the same name in another session',
    ...[inSession('1', graph('tea', 'g-1')), inSession('1', graph('mint', 'g-2'))],
    inSession('2', graph('tea', 'g-3')),
  ],
  ['an empty success where none is shown', wrongly(translation, { status: 204, answers: '' })],
])('%s fails nothing', async (_, ...told) => {
  expect(failedIds(await check(har(...told)))).toEqual([])
})

test.each([0, 502])(
  'a request that the server did not answer shows nothing (status %i)',
  async (status) => {
    const unanswered = { status, answers: '', type: 'text/html' }
    const used = granted['graphs.query/2xx-accepted']!
    const { log } = har(
      graph('tea', 'g-1'),
      wrongly(graph('tea', 'g-1'), unanswered),
      wrongly(used, { ...unanswered, to: '/v1/knowledge-graphs/g-1/query' }),
    )
    // At the same time as the second.
    log.entries[0]!.time = 2000
    const report = await check({ log })
    const rows = ['graphs.create/400-atomic', 'graphs.create/2xx-usable']
    expect(rows.map((row) => rowOf(report, row).outcome)).toEqual(rows.map(() => 'not-exercised'))
  },
)

test('three failures of a row are kept, and all are counted', async () => {
  const wrong = wrongly(pdf, { answers: {} })
  const row = rowOf(await check(har(...times(5, wrong), pdf)), 'pdf.parse/200-text')
  expect(row.cases).toBe(6)
  expect(row.failures.map(({ message }) => /\[(\d)\]/.exec(message)?.[1])).toEqual(['0', '1', '2'])
})

/** The report of a run against the reference, and the HAR that `--report har` writes. */
async function recordRun(reference: ReferenceOptions, only?: string[]) {
  const exchangeLog = inFile('')
  const options: JudgeSettings['options'] = { depth: 'quick', exchangeLog, ...(only && { only }) }
  const pace = { jobMs: 15, slowJobMs: 250, ...reference }
  const { report } = await judgeReference(pace, { limits: { jobTimeoutMs: 1500 }, options })
  return { live: report, recorded: await joined(renderHar(report, loggedExchanges(exchangeLog))) }
}

/** Rows on which the recording says something else than the run that it was made by. */
function differences(live: Report, again: Report): string[] {
  return again.requirements.flatMap(({ id, outcome }) => {
    const { outcome: was, reason = '' } = rowOf(live, id)
    const isShown = ['passed', 'failed'].includes(outcome) && !reason.includes('--only')
    return isShown && outcome !== was ? [`${id}: ${was} in the run, ${outcome} here`] : []
  })
}

test('the HAR of a run against the reference passes, and says again what the run said', async () => {
  const { live, recorded } = await recordRun({})
  const again = await check(recorded)
  expect([live.verdict, again.verdict]).toEqual(['conformant', 'passing'])
  expect(differences(live, again)).toEqual([])
  const passed = again.requirements.filter(({ outcome }) => outcome === 'passed')
  const shownByMore =
    'create/202-retrievable create/409-job-in-progress create/409-released create/409-per-application create/409-atomic create/4xx-no-effect retrieve/200-outcome retrieve/200-stable'
  expect(passed.map(({ id }) => id)).toEqual(
    expect.arrayContaining(shownByMore.split(' ').map((name) => `jobs.${name}`)),
  )
  const target = fileURLToPath(new URL('../../fixtures/reference.target.json', import.meta.url))
  const declared = await check(recorded, { target, baseUrl: live.target.baseUrl })
  expect(differences(live, declared)).toEqual([])
  const refusals =
    'pdf.parse/400-missing-format jobs.create/400-malformed-inputs translate.run/400-empty-text files.upload/401-missing-credentials chat.create/401-malformed-key graphs.query/401-invalid-key jobs.retrieve/403-insufficient-rights vision.analyze/403-model-access'
  const passing = declared.requirements.filter(({ outcome }) => outcome === 'passed')
  expect(passing.map(({ id }) => id)).toEqual(expect.arrayContaining(refusals.split(' ')))
})

test('another way to conform fails nothing in a recording either', async () => {
  const variants =
    'json/members-reversed uuids/upper-case-in-retrieval dates/coarser-in-retrieval successes/other-2xx'
  const only = ['jobs.*', 'files.*', 'graphs.*']
  const { live, recorded } = await recordRun({ variants: variants.split(' ') }, only)
  const again = await check(recorded)
  expect(failedIds(again)).toEqual([])
  expect(differences(live, again)).toEqual([])
})

test('a broken server is seen in its traffic, and in the HAR that check writes of it', async () => {
  const defects = [
    ...['pdf.parse/200-markdown', 'jobs.create/202-created'],
    ...['jobs.retrieve/200-created-at#drifting', 'envelope/shape#array'],
    ...['pdf.parse/400-missing-format', 'pdf.parse/401-missing-credentials'],
  ]
  const { live, recorded } = await recordRun({ defects }, ['jobs.*', 'pdf.parse/*', 'envelope/*'])
  const { report, exchanges } = await checked(recorded)
  const broken = defects.map((defect) => defect.replace(/#.*/, ''))
  expect(failedIds(report)).toEqual(expect.arrayContaining(broken))
  expect(differences(live, report)).toEqual([])
  const again = await check(await joined(renderHar(report, exchanges())))
  // It shows no words in place of a key.
  const outcomes = (of: Report) =>
    of.requirements
      .filter(({ id }) => !id.endsWith('/401-malformed-key'))
      .map(({ id, outcome }) => [id, outcome])
  expect(outcomes(again)).toEqual(outcomes(report))
})
