import { jobRules } from '../../suites/jobs/rules.ts'
import { expect, test } from 'vitest'
import { inconsistencies } from '../../harness/report/exit-code.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { createdJob, envelope, granted, har, job, type Told } from './har.ts'
import { check, failedIds } from './recording.ts'

const passedIds = ({ requirements }: Report) =>
  requirements.filter((row) => row.outcome === 'passed').map(({ id }) => id)
const rowOf = ({ requirements }: Report, id: string) => requirements.find((row) => row.id === id)!

const creation = granted['jobs.create/202-created']!
const retrieved = 'jobs.retrieve/200-job'
const retrieval = granted[retrieved]!
const chat = granted['chat.create/200-completion']!
const medical = granted['medical.comprehend/200-entities']!
const pdf = granted['pdf.parse/200-text']!

test('each granted request shows its row, and no other granted row', async () => {
  for (const [id, told] of Object.entries(granted)) {
    const report = await check(har(told))
    expect(failedIds(report)).toEqual([])
    // A job shows besides what rules say of any reading, such as whether it fits its status.
    const ofRules = Object.keys(jobRules).filter((row) => row !== id && id === retrieved)
    const passed = passedIds(report).filter((row) => !row.startsWith('envelope/'))
    expect(passed.filter((row) => !ofRules.includes(row))).toEqual([id])
    expect(passed.includes('jobs.retrieve/200-consistent')).toBe(id === retrieved)
    expect(report.verdict).toBe('passing')
    expect(inconsistencies(report)).toEqual([])
  }
})

test('everything together is passing, with what stays unseen and why', async () => {
  const report = await check(har(...Object.values(granted)))
  expect(report).toMatchObject({
    verdict: 'passing',
    target: { name: 'api.example.com', baseUrl: 'https://api.example.com/base' },
    run: {
      seed: 0,
      runs: 0,
      requests: 18,
      startedAt: '2026-03-01T12:00:00.000Z',
      durationMs: 17_013,
    },
  })
  expect(rowOf(report, 'jobs.retrieve/200-identity').outcome).toBe('passed')
  expect(rowOf(report, 'jobs.retrieve/200-created-at').outcome).toBe('passed')
  expect(rowOf(report, 'jobs.create/400-missing-body')).toMatchObject({
    outcome: 'not-exercised',
    reason: 'recorded traffic does not show it',
  })
})

const job2 = (change: Record<string, unknown>): Told[] => [
  creation,
  { ...retrieval, answers: { ...job, ...change } },
]
const wrong = (...told: Told[]) => told
const running: Told = { ...retrieval, answers: { ...job, status: 'in_progress' } }
const secondCreation: Told = {
  ...creation,
  answers: {
    ...createdJob,
    id: createdJob.id.replace('6', '7'),
    created_at: '2026-03-01T12:00:02Z',
  },
}

const graph = (name: string, more: Partial<Told> = {}): Told => ({
  to: '/v1/knowledge-graphs',
  sends: { name },
  answers: { id: `g-${name}` },
  ...more,
})
const upload = (text: string, id: string): Told => ({
  to: '/v1/files',
  sends: text,
  answers: { id },
})
const lost = { status: 404, answers: envelope('ResourceNotFound') }
const file: Told = { to: '/v1/files/f-9', ...lost }
const addition: Told = { to: '/v1/knowledge-graphs/g-tea/files', sends: { file_id: 'f-9' } }

// What is recorded, and exactly the rows that it breaks.
test.each<[what: string, told: Told[], ids: string[]]>([
  ['a creation answered 200', wrong({ ...creation, status: 200 }), ['jobs.create/202-created']],
  [
    'a creation without a status',
    wrong({ ...creation, answers: { id: job.id, created_at: job.created_at } }),
    ['jobs.create/202-created'],
  ],
  [
    'a job whose id is no uuid',
    wrong({ ...retrieval, answers: { ...job, id: 'j-1' } }),
    ['jobs.retrieve/200-job'],
  ],
  ['a job answered 201', wrong({ ...retrieval, status: 201 }), ['jobs.retrieve/200-job']],
  [
    'a job of another application',
    job2({ application_id: 'app-2' }),
    ['jobs.retrieve/200-identity'],
  ],
  ['a job of another id', job2({ id: job.id.replace('6', '7') }), ['jobs.retrieve/200-identity']],
  [
    'a job created at another time',
    job2({ created_at: '2026-03-01T12:00:05Z' }),
    ['jobs.retrieve/200-created-at'],
  ],
  [
    'a job whose time drifts',
    [
      ...job2({ created_at: '2026-03-01T12:00:00.4Z' }),
      ...job2({ created_at: '2026-03-01T12:00:00.6Z' }).slice(1),
    ],
    ['jobs.retrieve/200-created-at', 'jobs.retrieve/200-stable'],
  ],
  [
    'a second job beside the first',
    [creation, running, secondCreation, running],
    ['jobs.create/409-job-in-progress'],
  ],
  [
    'a conflict of another name',
    [creation, running, { ...creation, status: 409, answers: envelope('Conflict') }],
    ['jobs.create/409-job-in-progress'],
  ],
  [
    'an application that takes no job from the first on',
    [
      { to: '/v1/applications', sends: {}, status: 201, answers: { id: 'app-9' } },
      ...Array.from({ length: 7 }, () => ({
        ...creation,
        to: '/v1/applications/app-9/jobs',
        status: 409,
        answers: envelope('BadRequest'),
      })),
    ],
    ['jobs.create/202-created'],
  ],
  [
    'a job that is not found in time',
    [
      creation,
      ...Array.from({ length: 7 }, () => ({
        ...retrieval,
        status: 404,
        answers: envelope('ResourceNotFound'),
      })),
    ],
    ['jobs.create/202-retrievable'],
  ],
  [
    'an ended job that reads another result',
    [...job2({ data: { title: 'tea' } }), ...job2({ data: { title: 'coffee' } }).slice(1)],
    ['jobs.retrieve/200-stable'],
  ],
  ['a PDF without content', wrong({ ...pdf, answers: {} }), ['pdf.parse/200-text']],
  ['a PDF that is not JSON', wrong({ ...pdf, answers: 'text' }), ['pdf.parse/200-text']],
  [
    'a chat whose content is a number',
    wrong({ ...chat, answers: { choices: [{ message: { content: 7 } }] } }),
    ['chat.create/200-completion'],
  ],
  [
    'entities that are not an array',
    wrong({ ...medical, answers: { entities: {} } }),
    ['medical.comprehend/200-entities'],
  ],
  [
    'a success that is an envelope',
    wrong({ ...granted['translate.run/2xx-accepted']!, answers: envelope('BadRequest') }),
    ['translate.run/2xx-accepted'],
  ],
  ['a success labelled as text', wrong({ ...pdf, type: 'text/plain' }), ['envelope/content-type']],
  [
    'an error that is not JSON',
    wrong({ ...pdf, status: 502, answers: '<h1>Bad gateway' }),
    ['envelope/shape'],
  ],
  [
    'an error without extras',
    wrong({ ...pdf, status: 400, answers: { tpe: 'BadRequest', errors: [] } }),
    ['envelope/shape'],
  ],
  [
    'an error labelled as a page',
    wrong({ ...pdf, status: 400, answers: envelope('BadRequest'), type: 'text/html' }),
    ['envelope/content-type'],
  ],
  [
    'a 404 BadRequest',
    wrong({ ...retrieval, status: 404, answers: envelope('BadRequest') }),
    ['envelope/status-tpe-pair'],
  ],
  [
    'a key with another tpe',
    wrong({
      ...retrieval,
      status: 404,
      answers: envelope('NotFound', 'fail.unauthorized.badToken'),
    }),
    ['envelope/message-keys'],
  ],
  [
    'a second graph of a name',
    wrong(graph('tea'), graph('mint'), graph('tea', { answers: { id: 'g-3' } })),
    ['graphs.create/400-duplicate-name'],
  ],
  [
    'a name that exists, refused by another status',
    wrong(graph('tea'), graph('tea', { status: 409, answers: envelope('Conflict') })),
    ['graphs.create/400-duplicate-name'],
  ],
  [
    'one id for two graphs',
    wrong(graph('tea'), graph('mint', { answers: { id: 'g-tea' } })),
    ['graphs.create/2xx-own-id'],
  ],
  [
    'one id for two files',
    wrong(upload('tea', 'f-9'), upload('mint', 'f-9')),
    ['files.upload/2xx-own-id'],
  ],
  [
    'an upload that is never found',
    wrong(upload('tea', 'f-9'), ...Array.from({ length: 6 }, () => file)),
    ['files.upload/2xx-retrievable'],
  ],
  [
    'a file that is added for the third time, long after it was refused',
    wrong(
      addition,
      { ...addition, status: 409, answers: envelope('BadRequest') },
      ...Array.from({ length: 4 }, () => chat),
      addition,
    ),
    ['graphs.add-file/409-already-in-graph'],
  ],
])('%s fails at its own row', async (_, told, ids) => {
  const report = await check(har(...told))
  expect(failedIds(report)).toEqual(ids)
  const [failure] = rowOf(report, ids[0]!).failures
  expect(failure).toMatchObject({
    onlyName: false,
    seed: 0,
    rerun: expect.stringMatching(/^conform check \S+\.har$/),
  })
  expect(failure!.message).toMatch(
    /^(GET|POST) https:\/\/api\.example\.com\/base\/v1\/\S+ \(log\.entries\[\d\]\)$/,
  )
  expect(failure!.expected).toMatch(/ \(§[\d.]/)
  expect(inconsistencies(report)).toEqual([])
})

// What never fails: nobody knows what a refused request meant, and what is not shown is free.
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

test.each<[what: string, told: Told[]]>([
  [
    'refusals of every kind',
    [400, 401, 403, 404, 409, 429, 503].map((status) => ({
      ...pdf,
      status,
      answers: envelope(
        {
          400: 'BadRequest',
          401: 'BadToken',
          403: 'Forbidden',
          404: 'NotFound',
          409: 'Conflict',
          429: 'QuotaExceeded',
          503: 'ServiceUnavailable',
        }[status]!,
      ),
    })),
  ],
  [
    'a graph of a name that was removed meanwhile',
    [
      graph('tea'),
      { method: 'DELETE', to: '/v1/knowledge-graphs/g-tea', status: 204, answers: '' },
      graph('tea'),
    ],
  ],
  [
    'a name of another account',
    [graph('tea', { authorization: 'Bearer one' }), graph('tea', { authorization: 'Bearer two' })],
  ],
  [
    'an upload that takes its time',
    [upload('tea', 'f-9'), file, file, { ...file, status: 200, answers: {} }],
  ],
  [
    'an upload that expires',
    [
      upload('tea', 'f-9'),
      ...Array.from({ length: 6 }, () => ({ ...file, status: 410, answers: envelope('Gone') })),
    ],
  ],
  ['the same bytes under one id', [upload('tea', 'f-9'), upload('tea', 'f-9')]],
  ['an addition that is processed', [addition, addition]],
  [
    '413 in place of 400',
    [
      { ...granted['translate.run/2xx-accepted']!, status: 413, answers: envelope('BadRequest') },
      { ...creation, status: 413, answers: envelope('InvalidInputParameters') },
    ],
  ],
  ['a PDF that has gone', [{ ...pdf, status: 410, answers: envelope('ResourceNotFound') }]],
  [
    'a format that the interface does not have',
    [{ ...pdf, sends: { format: 'html' }, answers: {} }],
  ],
  [
    'a stream',
    [
      { ...chat, sends: { stream: true }, type: 'text/event-stream', answers: 'data: {}\n\n' },
      { ...chat, type: 'text/event-stream', answers: 'data: {}\n\n' },
    ],
  ],
  [
    'a call of a tool',
    [
      {
        ...chat,
        sends: { tools: [{ type: 'llm' }] },
        answers: { choices: [{ message: { content: null } }] },
      },
    ],
  ],
  [
    'another response type',
    [{ ...medical, sends: { content: 'a', response_type: 'Words' }, answers: { words: [] } }],
  ],
  ['an operation of its own', [{ to: '/v1/models', status: 404, answers: { error: 'none' } }]],
  ['a redirect', [{ ...pdf, status: 307, answers: '', type: 'text/html' }]],
  [
    'an empty success where none is shown',
    [{ ...granted['translate.run/2xx-accepted']!, status: 204, answers: '' }],
  ],
  [
    'a uuid in the other letter case',
    [
      creation,
      {
        ...retrieval,
        to: retrieval.to.toUpperCase().replace('/V1/APPLICATIONS/JOBS', '/v1/applications/jobs'),
        answers: { ...job, id: job.id.toUpperCase() },
      },
    ],
  ],
  [
    "a creation time that is finer than the job's",
    [
      { ...creation, answers: { ...createdJob, created_at: '2026-03-01T12:00:00.900Z' } },
      { ...retrieval, answers: { ...job, created_at: '2026-03-01T12:00:01.000Z' } },
    ],
  ],
  ['a second job when nobody knows whether the first goes on', [creation, running, secondCreation]],
  [
    'an application that somebody else may use',
    [
      ...job2({}),
      ...Array.from({ length: 5 }, () => ({
        ...creation,
        status: 409,
        answers: envelope('BadRequest'),
      })),
    ],
  ],
  [
    'a retrieval before the creation',
    [{ ...retrieval, answers: { ...job, application_id: 'app-9' } }, creation],
  ],
])('%s fails nothing', async (_, told) => {
  expect(failedIds(await check(har(...told)))).toEqual([])
})

test('three failures of a row are kept, and all are counted', async () => {
  const report = await check(
    har(...Array.from({ length: 5 }, () => ({ ...pdf, answers: {} })), pdf),
  )
  const row = rowOf(report, 'pdf.parse/200-text')
  expect([row.cases, row.failures.length]).toEqual([6, 3])
  expect(row.failures.map(({ message }) => /\[(\d)\]/.exec(message)?.[1])).toEqual(['0', '1', '2'])
})
