/** Findings on a client over several requests: its jobs, what it was refused, what it met. */
import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { clientFindingLines, clientFormats, clientReportLines } from '../../cli/client/formats.ts'
import { laidOut, type Line } from '../../reporters/terminal/lines.ts'
import pc from 'picocolors'
import type { ClientReport } from '../../traffic/client/client-report.ts'
import {
  conflict,
  created,
  envelope,
  type Exchange,
  jobOf,
  judged,
  key,
  read,
} from './exchanges.ts'

const textOf = (lines: Line[]) => `${laidOut(lines, Infinity).join('\n')}\n`
const renderClient = (report: ClientReport, isVerbose?: boolean) =>
  textOf(clientReportLines(report, isVerbose))

const unread = 'remark: unread-job'
const repeated = 'remark: repeated-creation'
const done = read('completed', 900)
const later = (at: number) => ({ ...conflict, at })

test.each<[what: string, exchanges: Exchange[], told: string[]]>([
  ['a second creation that nobody waits with', [created, conflict, done], [repeated]],
  [
    'the next one at once',
    [created, later(2), later(4), { ...created, at: 300 }, done],
    [repeated],
  ],
  ['a 409 that is waited out', [created, later(2), later(200), { ...created, at: 500 }, done], []],
  [
    'two workers on one application: each waits for the job of the other',
    [
      { ...created, at: 0 },
      { ...conflict, at: 0.5, opened: 0.2 },
      read('in_progress', 60),
      { ...conflict, at: 61, opened: 0.2 },
      read('completed', 120),
      { ...created, at: 130, opened: 0.2 },
      read('completed', 250),
    ],
    [],
  ],
  ["somebody else's job, in the way for ever", [conflict], [repeated]],
  [
    'a conflict that was asked for',
    [created, done, { ...conflict, headers: { 'x-simulate': '409-conflict 409-Conflict' } }],
    [],
  ],
  ...[0, 1, 30].map((ms): [string, Exchange[], string[]] => [
    `a creation that was broken off, and sent again ${ms} ms later`,
    [
      { ...created, status: 0, answer: undefined, isAborted: true, ms: 5 },
      { ...conflict, at: 5 + ms },
    ],
    [],
  ]),
  ['a job that nobody reads', [created], [unread]],
  [
    'a job that is asked for, and not there',
    [created, { ...done, status: 500, answer: envelope('InternalError') }],
    [],
  ],
  [
    'readings without a pause',
    [
      created,
      read('in_progress', 2),
      read('in_progress', 4),
      read('in_progress', 6),
      read('completed', 8),
    ],
    ['remark: polling'],
  ],
  [
    'readings without a pause of a job that goes on',
    [created, ...[2, 4, 6].map((at) => read('in_progress', at))],
    ['remark: polling'],
  ],
  [
    'readings with a pause',
    [created, ...[60, 120, 180].map((at) => read('in_progress', at)), done],
    [],
  ],
  [
    'readings without a pause by a machine that was busy once',
    [created, ...[2, 4, 60, 62].map((at) => read('in_progress', at)), read('completed', 64)],
    ['remark: polling'],
  ],
  ['one reading soon after another', [created, read('in_progress', 2), read('completed', 4)], []],
  [
    'an ended job that is read on',
    [created, done, ...[1, 2, 3, 4].map((at) => read('completed', 900 + at))],
    ['remark: ended-job'],
  ],
  ['an ended job that is read once more', [created, done, read('completed', 1900)], []],
])('%s', (_what, exchanges, told) => {
  const seen = judged(exchanges)
  expect(seen.told).toEqual(told)
  expect(seen.report.exit.code).toBe(0)
})

const upload = {
  ...{ path: '/v1/files', sent: 'x', status: 400 },
  answer: envelope('BadRequest', 'Content-Disposition names no file'),
}
const graph = { path: '/v1/knowledge-graphs', sent: { name: 'n' } }
const unknown = { path: '/v1/files/none-there', status: 404, answer: envelope('ResourceNotFound') }

test.each<[what: string, exchanges: Exchange[], told: string[], because: string]>([
  [
    'is named with its reason',
    [upload],
    ['remark: no-attachment', 'fault: refused'],
    '1 request was refused, and nobody asked for that',
  ],
  [
    'that was asked for is none',
    [{ ...graph, status: 400, headers: { 'x-simulate': '400' } }],
    [],
    'every request kept the interface',
  ],
  [
    'of a key that is there to be refused is none',
    [{ ...unknown, status: 401, headers: { authorization: 'Bearer a-key-that-has-expired' } }],
    [],
    'every request kept the interface',
  ],
  [
    'of another key is one',
    [{ ...unknown, status: 401, answer: envelope('BadCredentials') }],
    ['fault: refused'],
    '1 request was refused, and nobody asked for that',
  ],
  [
    'of an id that is not there is no fault',
    [unknown],
    ['remark: refused'],
    'no request was wrong by itself; 1 remark',
  ],
  [
    'of what was granted before is no fault',
    [
      { ...graph, status: 201 },
      { ...graph, status: 400, answer: envelope('BadRequest') },
    ],
    ['remark: refused'],
    'no request was wrong by itself; 1 remark',
  ],
  [
    'of a request that is wrong by itself is not told twice',
    [{ ...graph, sent: '{', status: 400 }],
    ['fault: body'],
    '1 request did not keep the interface',
  ],
  ['429 is none', [{ ...unknown, status: 429 }], [], 'every request kept the interface'],
])('a refusal %s', (_what, exchanges, told, because) => {
  const seen = judged(exchanges)
  expect(seen.told).toEqual(told)
  expect(seen.report.exit.because).toBe(because)
})

test('another server may refuse for reasons of its own', () => {
  const { report, told } = judged(
    [{ ...graph, status: 400, answer: envelope('BadRequest', 'Too dear') }],
    'another',
  )
  expect(told).toEqual(['remark: refused'])
  expect(report.findings).toMatchObject([{ received: '400 BadRequest: Too dear' }])
  expect(report.exit).toEqual({ code: 0, because: 'no request was wrong by itself; 1 remark' })
})

test.each<[what: string, exchange: Exchange, told: string[]]>([
  ['GET /', { path: '/', status: 404 }, []],
  ['a look at the health', { path: '/healthz', status: 404 }, []],
  ['an icon', { path: '/favicon.ico', status: 404 }, []],
  ['cleaning up', { method: 'DELETE', path: '/admin/files/x', status: 204 }, []],
  ['what a browser asks first', { method: 'OPTIONS', path: '/v1/files', status: 204 }, []],
  ['HEAD', { method: 'HEAD', path: '/v1/files', headers: {} }, []],
  ['a path of the interface without /v1', { path: '/files', status: 404 }, ['remark: outside']],
])("%s is nobody's fault", (_what, exchange, told) => {
  const seen = judged([{ path: '/v1/files' }, exchange])
  expect(seen.told).toEqual(told)
  expect(seen.report.exit.code).toBe(0)
})

test("a path that another server has besides is nobody's fault", () => {
  expect(judged([{ path: '/v1/models' }], 'another').told).toEqual([])
  expect(judged([{ path: '/v1/models', status: 404 }], 'another').told).toEqual(['fault: path'])
})

test('an id that is the name of a value that is not set is told, if nothing has that id', () => {
  const path = '/v1/files/undefined'
  expect(judged([{ path, status: 404, answer: envelope('ResourceNotFound') }]).told).toEqual([
    'fault: path-parameter',
  ])
  expect(judged([{ path }]).told).toEqual([])
})

test('the report counts answers, and says which errors were not met and what brings them about', () => {
  const { report } = judged([created, conflict, read('failed', 900)])
  const [create, retrieve] = report.operations
  expect(report).toMatchObject({ requests: 3, wrong: 0, exit: { code: 0 }, durationMs: 5 })
  expect(create).toMatchObject({
    operation: 'jobs.create',
    requests: 2,
    answers: [
      { status: 202, count: 1 },
      { status: 409, tpe: 'BadRequest', count: 1 },
    ],
  })
  expect(retrieve).toMatchObject({
    operation: 'jobs.retrieve',
    answers: [{ status: 200, count: 1 }],
  })
  expect(create!.errors.filter(({ met }) => met > 0)).toMatchObject([
    { status: 409, tpe: 'BadRequest', met: 1 },
  ])
  const quota = create!.errors.find(({ status }) => status === 429)
  expect(quota).toMatchObject({
    tpe: 'QuotaExceeded',
    met: 0,
    simulate: '429-quota-exceeded 429-QuotaExceeded',
  })
  expect(report.unused).toHaveLength(operations.length - 2)
  // Only those of which somebody knows what brings them about; their number, unless all are asked for.
  expect(renderClient(report)).toContain(
    '\n1 error of these operations not met, such as jobs.create 429 QuotaExceeded (x-simulate: ',
  )
  expect(renderClient(report, true)).toContain(
    '\n  jobs.create    429 QuotaExceeded (x-simulate: 429-quota-exceeded 429-QuotaExceeded)\n',
  )
})

test('the same fault is told once and counted, whatever the ids', () => {
  const { report, told } = judged([1, 2, 3].map((n) => ({ path: `/v1/file/${n}`, status: 404 })))
  expect(told).toHaveLength(1)
  expect(report).toMatchObject({ wrong: 3, findings: [{ count: 3, request: 1 }] })
  expect(renderClient(report)).toContain('\n  no operation  path ×3\n')
})

test('no request is no pass', () => {
  const { report } = judged([])
  expect(report.exit).toMatchObject({
    code: 3,
    because: 'no request to an operation of the interface came',
  })
  expect(renderClient(report)).toMatch(
    /\nexit 3: no request to an operation of the interface came\n$/,
  )
  expect(clientFormats.junit(report)).toContain('<error message="no request')
})

test('formats agree with the exit code, and none shows a key', () => {
  const bad = { path: `/v1/applications/jobs/${key}`, status: 404, answer: {} }
  for (const [report, failures] of [
    [judged([{ ...created, answer: jobOf('failed') }]).report, 0],
    [judged([bad]).report, 1],
  ] as const) {
    expect(clientFormats.junit(report)).toContain(`failures="${failures}" errors="0"`)
    expect((JSON.parse(clientFormats.json(report)) as ClientReport).exit).toMatchObject({
      code: failures,
    })
    expect(clientFormats.markdown(report)).toContain(`exit ${failures}\n`)
    expect(renderClient(report)).toContain(`exit ${failures}: `)
    for (const render of [...Object.values(clientFormats), renderClient])
      expect(render(report)).not.toContain('nobody-may-see')
    expect(
      textOf(report.findings.flatMap((one) => clientFindingLines(one, pc.createColors(false)))),
    ).not.toContain('nobody-may-see')
  }
})
