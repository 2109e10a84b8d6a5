/** What recorded traffic shows. The rules are those of a run, and are proven in `history/`. */
import { expect, test } from 'vitest'
import { inconsistencies } from '../../harness/report/exit-code.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { loggedExchanges } from '../../library/output/write-reports.ts'
import { renderHar } from '../../reporters/har.ts'
import type { ReferenceOptions } from '../../reference/server.ts'
import { jobRules } from '../../suites/jobs/rules.ts'
import { judgeReference, type JudgeSettings } from '../matrix/judge-reference.ts'
import { joined } from '../reporters/samples.ts'
import {
  check,
  checked,
  createdJob,
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
    reason: 'recorded traffic does not show it',
  })
})

const times = (count: number, told: Told): Told[] => Array.from({ length: count }, () => told)
const wrongly = (told: Told, ...changes: Partial<Told>[]): Told =>
  Object.assign({}, told, ...changes)
const refused = (status: number, tpe: string, key?: string) => ({
  status,
  answers: envelope(tpe, key),
})
const jobWith = (change: object) => wrongly(retrieval, { answers: { ...job, ...change } })
const running = jobWith({ status: 'in_progress' })
const second = { id: createdJob.id.replace('6', '7'), created_at: '2026-03-01T12:00:02Z' }
const secondCreation = wrongly(creation, { answers: { ...createdJob, ...second } })
const graph = (name: string, answers: object = { id: `g-${name}` }): Told => ({
  ...{ to: '/v1/knowledge-graphs', sends: { name }, answers },
})
const upload = (text: string, id: string): Told => ({
  to: '/v1/files',
  sends: text,
  answers: { id },
})
const notFound = refused(404, 'ResourceNotFound')
const file: Told = { to: '/v1/files/f-9', ...notFound }
const addition: Told = { to: '/v1/knowledge-graphs/g-tea/files', sends: { file_id: 'f-9' } }

test.each<[what: string, ids: string, ...told: Told[]]>([
  ['a creation answered 200', 'jobs.create/202-created', wrongly(creation, { status: 200 })],
  ['a job whose id is no uuid', retrieved, jobWith({ id: 'j-1' })],
  [
    'a job of another application',
    'jobs.retrieve/200-identity',
    creation,
    jobWith({ application_id: 'app-2' }),
  ],
  [
    'a job whose time drifts',
    'jobs.retrieve/200-created-at jobs.retrieve/200-stable',
    creation,
    jobWith({ created_at: '2026-03-01T12:00:00.4Z' }),
    jobWith({ created_at: '2026-03-01T12:00:00.6Z' }),
  ],
  [
    'a second job beside the first',
    'jobs.create/409-job-in-progress',
    creation,
    running,
    secondCreation,
    running,
  ],
  [
    'a job that is not found in time',
    'jobs.create/202-retrievable',
    creation,
    ...times(7, wrongly(retrieval, notFound)),
  ],
  [
    'an application that takes no job from the first on',
    'jobs.create/202-created',
    { to: '/v1/applications', sends: {}, status: 201, answers: { id: 'app-9' } },
    ...times(
      7,
      wrongly(creation, { to: '/v1/applications/app-9/jobs' }, refused(409, 'BadRequest')),
    ),
  ],
  ['a PDF without content', 'pdf.parse/200-text', wrongly(pdf, { answers: {} })],
  ['a PDF that is not JSON', 'pdf.parse/200-text', wrongly(pdf, { answers: 'text' })],
  [
    'a chat whose content is a number',
    'chat.create/200-completion',
    wrongly(chat, { answers: { choices: [{ message: { content: 7 } }] } }),
  ],
  [
    'entities that are not an array',
    'medical.comprehend/200-entities',
    wrongly(medical, { answers: { entities: {} } }),
  ],
  [
    'a success that is an envelope',
    'translate.run/2xx-accepted',
    wrongly(translation, { answers: envelope('BadRequest') }),
  ],
  ['a success labelled as text', 'envelope/content-type', wrongly(pdf, { type: 'text/plain' })],
  [
    'an error that is not JSON',
    'envelope/shape',
    wrongly(pdf, { status: 502, answers: '<h1>Bad gateway' }),
  ],
  [
    'an error without extras',
    'envelope/shape',
    wrongly(pdf, { status: 400, answers: { tpe: 'BadRequest', errors: [] } }),
  ],
  [
    'an error labelled as a page',
    'envelope/content-type',
    wrongly(pdf, refused(400, 'BadRequest'), { type: 'text/html' }),
  ],
  ['a 404 BadRequest', 'envelope/status-tpe-pair', wrongly(retrieval, refused(404, 'BadRequest'))],
  [
    'a key with another tpe',
    'envelope/message-keys',
    wrongly(retrieval, refused(404, 'NotFound', 'fail.unauthorized.badToken')),
  ],
  [
    'a second graph of a name',
    'graphs.create/400-duplicate-name',
    graph('tea'),
    graph('mint'),
    graph('tea', { id: 'g-3' }),
  ],
  [
    'one id for two graphs',
    'graphs.create/2xx-own-id',
    graph('tea'),
    graph('mint', { id: 'g-tea' }),
  ],
  ['one id for two files', 'files.upload/2xx-own-id', upload('tea', 'f-9'), upload('mint', 'f-9')],
  [
    'an upload that is never found',
    'files.upload/2xx-retrievable',
    upload('tea', 'f-9'),
    ...times(6, file),
  ],
  [
    'a file that is added for the third time, long after it was refused',
    'graphs.add-file/409-already-in-graph',
    ...[addition, wrongly(addition, refused(409, 'BadRequest')), ...times(4, chat), addition],
  ],
])('%s fails: %s', async (_, ids, ...told) => {
  const report = await check(har(...told))
  expect(failedIds(report).join(' ')).toBe(ids)
  const [failure] = rowOf(report, ids.split(' ')[0]!).failures
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

test('a failure about several answers of a recording tells its story, as that of a run does', async () => {
  const report = await check(har(creation, running, secondCreation, running))
  const [failure] = rowOf(report, 'jobs.create/409-job-in-progress').failures
  expect(failure!.story!.steps).toMatchObject([
    { kind: 'creation', status: 202, job: 0 },
    { kind: 'reading', job: 0, state: 'in_progress' },
    { kind: 'creation', status: 202, job: 1, isWrong: true },
    { kind: 'reading', job: 0, state: 'in_progress' },
  ])
})

const tools = { tools: [{ type: 'llm' }] }
const stream = { type: 'text/event-stream', answers: 'data: {}\n\n' }
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
  [
    'a graph of a name that was removed meanwhile',
    graph('tea'),
    { method: 'DELETE', to: '/v1/knowledge-graphs/g-tea', status: 204, answers: '' },
    graph('tea'),
  ],
  [
    'a name of another account',
    ...['one', 'two'].map((key) => ({ ...graph('tea'), authorization: `Bearer ${key}` })),
  ],
  [
    'an upload that takes its time',
    upload('tea', 'f-9'),
    file,
    file,
    { ...file, status: 200, answers: {} },
  ],
  [
    'an upload that expires',
    upload('tea', 'f-9'),
    ...times(6, wrongly(file, refused(410, 'Gone'))),
  ],
  ['the same bytes under one id', upload('tea', 'f-9'), upload('tea', 'f-9')],
  ['an addition that is processed', addition, addition],
  [
    '413 in place of 400',
    wrongly(translation, refused(413, 'BadRequest')),
    wrongly(creation, refused(413, 'InvalidInputParameters')),
  ],
  ['a PDF that has gone', wrongly(pdf, refused(410, 'ResourceNotFound'))],
  [
    'a format that the interface does not have',
    wrongly(pdf, { sends: { format: 'html' }, answers: {} }),
  ],
  ['a stream', wrongly(chat, stream, { sends: { stream: true } }), wrongly(chat, stream)],
  [
    'a call of a tool',
    wrongly(chat, { sends: tools, answers: { choices: [{ message: { content: null } }] } }),
  ],
  [
    'another response type',
    wrongly(medical, { sends: { content: 'a', response_type: 'Words' }, answers: { words: [] } }),
  ],
  ['an operation of its own', { to: '/v1/models', status: 404, answers: { error: 'none' } }],
  ['a redirect', wrongly(pdf, { status: 307, answers: '', type: 'text/html' })],
  ['an empty success where none is shown', wrongly(translation, { status: 204, answers: '' })],
  [
    'a uuid in the other letter case',
    creation,
    wrongly(jobWith({ id: job.id.toUpperCase() }), {
      to: `/v1/applications/jobs/${job.id.toUpperCase()}`,
    }),
  ],
  ['a second job when nobody knows whether the first goes on', creation, running, secondCreation],
  [
    'an application that somebody else may use',
    creation,
    retrieval,
    ...times(5, wrongly(creation, refused(409, 'BadRequest'))),
  ],
  ['a retrieval before the creation', jobWith({ application_id: 'app-9' }), creation],
])('%s fails nothing', async (_, ...told) => {
  expect(failedIds(await check(har(...told)))).toEqual([])
})

test('three failures of a row are kept, and all are counted', async () => {
  const wrong = wrongly(pdf, { answers: {} })
  const row = rowOf(await check(har(...times(5, wrong), pdf)), 'pdf.parse/200-text')
  expect(row.cases).toBe(6)
  expect(row.failures.map(({ message }) => /\[(\d)\]/.exec(message)?.[1])).toEqual(['0', '1', '2'])
})

/** Runs the suite against the reference; gives its report and the HAR that `--report har` writes. */
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
    '202-retrievable 409-job-in-progress 409-released 409-per-application 409-atomic 4xx-no-effect'
      .split(' ')
      .map((name) => `jobs.create/${name}`)
  expect(passed.map(({ id }) => id)).toEqual(
    expect.arrayContaining([
      ...shownByMore,
      'jobs.retrieve/200-outcome',
      'jobs.retrieve/200-stable',
    ]),
  )
})

test('another way to conform fails nothing in a recording either', async () => {
  const variants =
    'json/members-reversed uuids/upper-case-in-retrieval dates/coarser-in-retrieval successes/other-2xx'
  const only = ['jobs.*', 'files.*', 'graphs.*', 'chat.*']
  const { live, recorded } = await recordRun({ variants: variants.split(' ') }, only)
  const again = await check(recorded)
  expect(failedIds(again)).toEqual([])
  expect(differences(live, again)).toEqual([])
})

test('a broken server is seen in its traffic, and in the HAR that check writes of it', async () => {
  const defects = [
    ...['pdf.parse/200-markdown', 'jobs.create/202-created'],
    ...['jobs.retrieve/200-created-at#drifting', 'envelope/shape#array'],
  ]
  const { live, recorded } = await recordRun({ defects }, ['jobs.*', 'pdf.parse/*', 'envelope/*'])
  const { report, exchanges } = await checked(recorded)
  const broken = defects.map((defect) => defect.replace(/#.*/, ''))
  expect(failedIds(report)).toEqual(expect.arrayContaining(broken))
  expect(differences(live, report)).toEqual([])
  const again = await check(await joined(renderHar(report, exchanges())))
  const outcomes = (of: Report) => of.requirements.map(({ id, outcome }) => [id, outcome])
  expect(outcomes(again)).toEqual(outcomes(report))
})
