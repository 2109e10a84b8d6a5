import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'
import { conform } from '../cli/in-process.ts'
import { Redactor } from '../../harness/recording/redactor.ts'
import { clientFormats, clientFindingText, renderClient } from '../../cli/serve/client-formats.ts'
import { type ClientReport, createClientJudge } from '../../traffic/client/client-judge.ts'
import { playScript, scriptOf } from '../../traffic/client/script.ts'
import type { Forwarder, ResponseSink } from '../../harness/http/forwarder.ts'
import type { HeaderLine } from '../../harness/http/message.ts'

/** Findings on a client over several requests: creations while a job is in progress, errors met, waits. */

const baseUrl = 'http://127.0.0.1:8080'
const key = 'a-key-that-nobody-may-see'
const bytesOf = (value: unknown) => ({
  state: 'whole' as const,
  bytes: Buffer.from(value === undefined ? '' : JSON.stringify(value)),
})
const json = { 'content-type': 'application/json' }
const headersOf = (headers: Readonly<Record<string, string>>): HeaderLine[] =>
  Object.entries({ authorization: `Bearer ${key}`, ...headers }).map(([name, value]) => ({
    name,
    value,
  }))

interface Exchange {
  readonly path: string
  readonly status: number
  readonly sent?: unknown
  readonly answer?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly at?: number
  readonly ms?: number
}

const entryOf = ({ path, status, sent, answer, headers = {}, at = 0, ms = 1 }: Exchange) => ({
  ...{
    index: 0,
    startedAt: at,
    durationMs: ms,
    httpVersion: '1.1',
    status,
    url: baseUrl + path,
    headers: [],
  },
  method: sent === undefined ? 'GET' : 'POST',
  requestHeaders: headersOf(sent === undefined ? headers : { ...json, ...headers }),
  requestBody: bytesOf(sent),
  body: bytesOf(answer),
})

/** The findings, each once, and the report. */
function judged(...exchanges: Exchange[]): { told: string[]; report: ClientReport } {
  const told: string[] = []
  const judge = createClientJudge({
    ...{ baseUrl, redactor: new Redactor(), startedAt: new Date(0) },
    scenarios: {
      'jobs.create/429-quota-exceeded': {
        headers: { 'x-simulate': '429-quota-exceeded 429-QuotaExceeded 429-TooManyRequests' },
      },
    },
    onFinding: (finding) => void told.push(clientFindingText(finding)),
  })
  for (const exchange of exchanges) judge.see(entryOf(exchange))
  return { told, report: judge.end(new Date(5)) }
}

const creation = { path: '/v1/applications/a/jobs', sent: { inputs: [] } }
const conflict = { ...creation, status: 409, answer: { tpe: 'BadRequest', errors: [], extras: {} } }
const job = (status: string) => ({ id: '2e8d7a10-6c0b-4b9f-8f2d-5d3c9b7e2001', status })
const created = { ...creation, status: 202, answer: job('in_progress') }
const read = (status: string) => ({
  path: `/v1/applications/jobs/${job('').id}`,
  status: 200,
  answer: job(status),
})

test.each<[what: string, exchanges: Exchange[], wrong: number]>([
  ['a second creation that meets the own job', [created, conflict], 1],
  ['also after it was read in progress', [created, read('in_progress'), conflict, conflict], 2],
  [
    'both at once, the refusal told first',
    [
      { ...conflict, at: 1, ms: 5 },
      { ...created, at: 0, ms: 9 },
    ],
    1,
  ],
  ['a second creation that is granted: the first job has ended', [created, created], 0],
  ["somebody else's job", [conflict], 0],
  ['a refusal long before the own creation', [conflict, { ...created, at: 100 }], 0],
  ['the own job has ended', [created, read('completed'), conflict], 0],
  ['a job that ended at once', [{ ...created, answer: job('failed') }, conflict], 0],
  ['another application', [created, { ...conflict, path: '/v1/applications/b/jobs' }], 0],
  [
    'a conflict that was asked for',
    [created, { ...conflict, headers: { 'x-simulate': '409-conflict 409-Conflict' } }],
    0,
  ],
])('%s', (_what, exchanges, wrong) => {
  const { report, told } = judged(...exchanges)
  expect({ wrong: report.wrong, told: told.length }).toEqual({ wrong, told: Math.min(wrong, 1) })
  if (wrong > 0) expect(told[0]).toContain('one job in progress per application (§8)')
})

test('the report counts answers, and says which errors were not met and what brings them about', () => {
  const { report } = judged(created, conflict, read('failed'), {
    path: '/admin/files/x',
    status: 200,
  })
  const [create, retrieve] = report.operations
  expect(report).toMatchObject({ requests: 3, wrong: 1, exit: { code: 1 }, durationMs: 5 })
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
  expect(report.unused).toHaveLength(15)
})

test('the same fault is told once and counted, whatever the ids', () => {
  const { report, told } = judged(...[1, 2, 3].map((n) => ({ path: `/v1/file/${n}`, status: 404 })))
  expect(told).toHaveLength(1)
  expect(report).toMatchObject({ wrong: 3, findings: [{ count: 3, request: 1 }] })
})

test('no request is no pass', () => {
  const { report } = judged()
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
    [judged(created).report, 0],
    [judged(bad).report, 1],
  ] as const) {
    expect(clientFormats.junit(report)).toContain(`failures="${failures}" errors="0"`)
    expect((JSON.parse(clientFormats.json(report)) as ClientReport).exit).toMatchObject({
      code: failures,
    })
    expect(clientFormats.markdown(report)).toContain(`exit ${failures}\n`)
    expect(renderClient(report)).toContain(`exit ${failures}: `)
    for (const render of [...Object.values(clientFormats), renderClient])
      expect(render(report)).not.toContain('nobody-may-see')
  }
})

/** Hands requests to a script at given times; gives what it saw of the client. */
async function played(
  steps: unknown,
  asks: readonly { readonly at: number; readonly opened?: number }[],
) {
  let now = 0
  const passed: number[] = []
  const server: Forwarder = {
    forward: (_, sink) => {
      passed.push(now)
      sink.end()
      return { resume: () => undefined, abort: () => undefined }
    },
    close: async () => undefined,
  }
  const early: number[] = []
  const script = scriptOf({ 'files.list': steps }, 'script.json')
  const player = playScript(
    script,
    server,
    () => void early.push(now),
    () => now,
  )
  const answers: { status: number; headers: readonly HeaderLine[] }[] = []
  for (const { at, opened = 0 } of asks) {
    now = at
    await new Promise<void>((resolve) => {
      const sink: ResponseSink = {
        head: (status, headers) => void answers.push({ status, headers }),
        data: () => true,
        end: resolve,
        fail: () => resolve(),
      }
      player.forward(
        { method: 'GET', path: '/v1/files', headers: [], connectionOpenedAt: opened },
        sink,
      )
    })
  }
  return {
    answers,
    early,
    passed,
    waits: player.played.map(({ waitedMs }) => waitedMs),
    left: player.left(),
  }
}

test('a script answers in its order, and then the server does', async () => {
  const steps = [{ status: 429, retryAfter: 1 }, 'pass', 503]
  const { answers, early, passed, waits, left } = await played(steps, [
    { at: 0 },
    { at: 1000 },
    { at: 1001 },
    { at: 1500 },
    { at: 1501 },
  ])
  expect(answers.map(({ status }) => status)).toEqual([429, 503])
  expect(answers[0]!.headers).toContainEqual({ name: 'retry-after', value: '1' })
  expect({ early, passed, waits, left }).toEqual({
    early: [],
    passed: [1000, 1500, 1501],
    waits: [1000, 499],
    left: 0,
  })
})

test.each<[what: string, steps: unknown, asks: { at: number; opened?: number }[], early: number[]]>(
  [
    [
      'before Retry-After is over',
      [{ status: 429, retryAfter: 2 }],
      [{ at: 0 }, { at: 1900 }],
      [1900],
    ],
    [
      'on a new connection too',
      [{ status: 503, retryAfter: 1 }],
      [{ at: 0 }, { at: 3, opened: 2 }],
      [3],
    ],
    [
      'a timer that goes off a little early is none',
      [{ status: 429, retryAfter: 1 }],
      [{ at: 0 }, { at: 999 }],
      [],
    ],
    [
      'what was on its way on another connection is none',
      [{ status: 429, retryAfter: 1 }],
      [{ at: 5 }, { at: 6, opened: 4 }],
      [],
    ],
    ['once at once without Retry-After may be chance', [503], [{ at: 0 }, { at: 1 }], []],
    ['twice at once is not', [503, 429], [{ at: 0 }, { at: 1 }, { at: 2 }], [2]],
    ['pauses that grow', [503, 429, 500], [{ at: 0 }, { at: 100 }, { at: 300 }, { at: 700 }], []],
  ],
)('too early: %s', async (_what, steps, asks, early) => {
  expect((await played(steps, asks)).early).toEqual(early)
})

test('a client that gives up is told of, and leaves the rest of the script', async () => {
  expect(await played([429, 503], [{ at: 0 }])).toMatchObject({
    waits: [undefined],
    left: 1,
  })
})

test.each<[script: unknown, message: string]>([
  [[], 'script.json: must be an object of operations'],
  [
    { 'job.create': [429] },
    'script.json: job.create: is not an operation; did you mean jobs.create?',
  ],
  [{ '*': [] }, 'script.json: *: give a list of answers'],
  [
    { '*': ['429'] },
    'script.json: *[0]: "429": give "pass", a status, or {"status", "tpe", "retryAfter"}',
  ],
  [
    { '*': [429, { status: 503, retryafter: 1 }] },
    'script.json: *[1].retryafter: is not a member; did you mean retryAfter?',
  ],
  [{ '*': [200] }, 'script.json: *[0].status: give the status of an error, 400 to 599'],
  [{ '*': [{ status: 429, retryAfter: 0.5 }] }, 'script.json: *[0].retryAfter: give whole seconds'],
  [{ '*': [418] }, 'script.json: *[0].tpe: give the name of an error'],
])('a script that is none: %j', (script, message) => {
  expect(() => scriptOf(script, 'script.json')).toThrow(message)
})

test('a status has the type that the operation gives with it', () => {
  const types = (script: unknown) =>
    [...scriptOf(script, '').values()].flat().map((step) => step !== 'pass' && step.tpe)
  expect(types({ 'translate.run': [503, 429, 401], 'files.list': [503, 500], '*': [503] })).toEqual(
    [
      'InternalError',
      'QuotaExceeded',
      'BadCredentials',
      'InternalError',
      'InternalError',
      'InternalError',
    ],
  )
})

test('what cannot be done is said before anything listens', async () => {
  const cwd = folder()
  writeFileSync(join(cwd, 'script.json'), '{"files.list": [429')
  const calls: [args: string[], message: string][] = [
    [['--report', 'json'], 'conform: --report: give --judge-client too\n'],
    [['--script', 'script.json'], 'conform: --script: give --judge-client too\n'],
    [
      ['--judge-client', '--script', 'script.json'],
      'conform: script.json: is not JSON at line 1, column 20\n',
    ],
    [['--judge-client', '--script', 'none.json'], 'conform: none.json: does not exist\n'],
    [
      ['--judge-client', '--report', 'html'],
      'conform: --report html: html is not a format here (json, junit, markdown)\n',
    ],
    [
      ['--judge-client', '--script', 'script.json', '--report', 'json=script.json'],
      'conform: --report json=script.json: would overwrite the script; give another file\n',
    ],
  ]
  for (const [args, stderr] of calls)
    expect(await conform(['serve', ...args], { cwd }), args.join(' ')).toMatchObject({
      code: 2,
      stdout: '',
      stderr,
    })
})
