import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  type ConformanceOptions,
  type FetchHandler,
  runConformance,
  type Target,
  UserError,
  type Report,
} from '../../library/index.ts'
import { createReference } from '../../reference/server.ts'
import { conform } from '../cli/in-process.ts'
import { folder } from '../cli/conform.ts'
import { inVirtualTime } from '../support/virtual-time.ts'

const { handle, target } = createReference()
const { baseUrl: _, resources, keys, ...rest } = target as Target
const application = resources!.application!

const unknown = 'jobs.create/404-unknown-application'

/** Responses to the target's own requests, by method and path. */
type Own = Readonly<Record<string, () => Response | Promise<Response>>>

const made = {
  'POST /admin/applications': () => Response.json({ made: { id: application.id, serial: 7 } }),
}

const setup = [
  {
    method: 'POST',
    url: '/admin/applications',
    body: { name: 'conform' },
    save: { app: '/made/id', serial: '/made/serial' },
  },
]
const teardown = [
  {
    method: 'DELETE',
    url: '/admin/applications/{app}',
    body: { serial: '{serial}', note: '{other}' },
  },
]

/** Judges the reference beside requests of its own; tells in which order they came, and those that judge. */
async function judged(own: Own, more: Partial<Target>, options: ConformanceOptions = {}) {
  const asked: string[] = []
  const fetch: FetchHandler = async (request) => {
    const line = `${request.method} ${new URL(request.url).pathname}`
    const answer =
      own[line] ??
      (line.includes('/admin/') ? () => new Response(null, { status: 204 }) : undefined)
    if (!answer) {
      if (asked.at(-1) !== 'judged') asked.push('judged')
      return handle(request)
    }
    asked.push(
      [line, request.headers.get('authorization')?.slice(0, 6), await request.clone().text()]
        .filter(Boolean)
        .join(' '),
    )
    return answer()
  }
  const withName = { ...resources, application: { ...application, id: '{app}' } }
  const whole = { ...rest, keys, resources: withName, ...more, fetch }
  const only = options.only ?? [unknown]
  const report = await runConformance(whole, { seed: 1, runs: 1, ...options, only }).report
  return { report, asked }
}

const rowOf = ({ requirements }: Report, id: string) => requirements.find((row) => row.id === id)!

test('setup is sent once before anything is judged, what it saves is filled in, and teardown comes last', async () => {
  const { report, asked } = await judged(made, { setup, teardown })
  expect(rowOf(report, unknown)).toMatchObject({ outcome: 'passed', control: 'granted' })
  expect(asked).toEqual([
    // The first request asks whether anything answers.
    'judged',
    'POST /admin/applications Bearer {"name":"conform"}',
    'judged',
    `DELETE /admin/applications/${application.id} Bearer {"serial":"7","note":"{other}"}`,
  ])
})

test('a later request of setup has what an earlier one saved', async () => {
  const later = {
    method: 'PUT',
    url: 'admin/a/{app}',
    headers: { authorization: 'Basic b3duOmtleTEyMzQ=' },
  }
  const { asked } = await judged(made, { setup: [...setup, later] })
  expect(asked).toContain(`PUT /admin/a/${application.id} Basic `)
})

test.each<[string, () => Response, RegExp]>([
  [
    'is refused',
    () => Response.json({ why: 'full' }, { status: 507 }),
    /^setup\[0\] failed \(POST http:\/\/in-process\.localhost\/admin\/applications\): it returned 507 with \{"why":"full"\}$/,
  ],
  [
    'has nothing to save',
    () => Response.json({ id: 'app' }),
    /: there is no string or number at \/made\/id, which "save" calls app: it returned 200 with \{"id":"app"\}$/,
  ],
  ['has no JSON', () => new Response('tea'), /it returned 200 without JSON$/],
])(
  'a setup that %s ends the run with 3, and teardown is sent as far as its names are known',
  async (_, answer, sentence) => {
    const more = { setup, teardown: [...teardown, { method: 'POST', url: '/admin/reset' }] }
    const { report, asked } = await judged({ 'POST /admin/applications': answer }, more)
    expect(report).toMatchObject({ verdict: 'not-judged', exit: { code: 3 } })
    expect(report.exit.because).toMatch(sentence)
    expect(rowOf(report, unknown).reason).toBe(report.exit.because)
    const lines = asked.map((line) => line.replace(/ Bearer.*/, ''))
    expect(lines).toEqual(['judged', 'POST /admin/applications', 'POST /admin/reset'])
  },
)

test('teardown is sent after an interrupt, and by a setup that the interrupt cut short', async () => {
  for (const at of ['POST /admin/applications', 'POST /v1/completion']) {
    const controller = new AbortController()
    const stop = (answer: () => Response) => () => {
      controller.abort()
      return answer()
    }
    const own: Own = { ...made, [at]: stop(made['POST /admin/applications']) }
    const options = {
      signal: controller.signal,
      only: ['completion.create/2xx-accepted', 'jobs.create/*'],
    } as const
    const reset = [{ method: 'POST', url: '/admin/reset' }]
    const { report, asked } = await judged(own, { setup, teardown: reset }, options)
    expect(report.run.interrupted).toBe(true)
    expect(asked.at(-1)).toMatch(/^POST \/admin\/reset/)
  }
})

test('an interrupt waits for no answer to a request before a scenario, and the state is left', async () => {
  const controller = new AbortController()
  const id = 'completion.create/500-model-overload'
  const stop = () => (controller.abort(), new Promise<Response>(() => undefined))
  const enter = [{ method: 'POST', url: '/admin/enter' }]
  const after = [{ method: 'POST', url: '/admin/leave' }]
  const tookMs = await inVirtualTime(async () => {
    const began = performance.now()
    const { asked } = await judged(
      { 'POST /admin/enter': stop },
      { resources, scenarios: { [id]: { before: enter, after } } },
      { signal: controller.signal, only: [id] },
    )
    expect(asked.at(-1)).toMatch(/^POST \/admin\/leave/)
    return performance.now() - began
  })
  expect(tookMs).toBeLessThan(2000)
})

test('with --read-only nothing is made: what setup would save is left out, the rest is judged', async () => {
  const other = 'jobs.retrieve/401-missing-credentials'
  // A scenario changes the request for that application: it has none either.
  const scenario = 'jobs.create/429-quota-exceeded'
  const options = { readOnly: true, only: [other, unknown, scenario] } as const
  const { report, asked } = await judged(made, { setup, teardown }, options)
  for (const id of [unknown, scenario])
    expect(rowOf(report, id).reason).toBe('left out: --read-only')
  expect(rowOf(report, other).outcome).toBe('passed')
  expect(asked).toEqual(['judged'])

  // A setup that only reads is sent.
  const looksUp = [{ method: 'get', url: '/admin/applications?name=conform', save: setup[0]!.save }]
  const own = { 'GET /admin/applications': made['POST /admin/applications'] }
  const reading = await judged(own, { setup: looksUp, teardown }, { readOnly: true })
  expect(rowOf(reading.report, unknown)).toMatchObject({ outcome: 'passed', control: 'none' })
  expect(reading.asked.map((line) => line.split(' ')[0])).toEqual(['judged', 'GET', 'judged'])
})

const nobodySaves = 'which no earlier request of setup saves'
test.each<[string, Partial<Target>, string]>([
  [
    'nobody saves',
    { resources: { graph: '{graph}' } },
    `resources.graph has {graph}, ${nobodySaves}`,
  ],
  [
    'is misspelt',
    { setup, resources: { application: { id: '{ap}', inputs: [] } } },
    `resources.application.id has {ap}, ${nobodySaves}; did you mean app?`,
  ],
  [
    'is saved later',
    { setup: [{ method: 'GET', url: '/admin/{app}' }, ...setup] },
    `setup[0].url has {app}, ${nobodySaves}`,
  ],
  [
    'teardown does not know',
    { setup, teardown: [{ method: 'DELETE', url: '/admin/{serail}' }] },
    `teardown[0].url has {serail}, ${nobodySaves}; did you mean serial?`,
  ],
  [
    'is no name',
    { setup: [{ ...setup[0]!, save: { 'a-b': '/id' } }] },
    'setup[0].save.a-b must be a name of letters, digits and _',
  ],
])('a name that %s is an error, and nothing is sent', async (_, more, sentence) => {
  const run = runConformance({ baseUrl: 'http://127.0.0.1:1', ...more })
  await expect(run.report).rejects.toThrow(new UserError(`the target: ${sentence}`))
})

test('on the command line a setup that fails is exit 3 with its sentence, and no key of it is shown', async () => {
  const cwd = folder()
  const secret = 'own-secret-of-the-setup'
  const own = {
    setup: [{ method: 'POST', url: '/admin', headers: { authorization: `Bearer ${secret}` } }],
  }
  writeFileSync(
    join(cwd, 'target.mjs'),
    `export default { ...${JSON.stringify(own)}, keys: { full: 'a-full-key-of-it' },
      fetch: (request) => Response.json({ told: request.headers.get('authorization') }, { status: request.method === 'GET' ? 200 : 500 }) }`,
  )
  const { code, stdout, stderr } = await conform('-t target.mjs --report json=-', { cwd })
  expect(code).toBe(3)
  expect(stderr).toMatch(
    /exit 3: setup\[0\] failed \(POST .*\/admin\): it returned 500 with \{"told":"Bearer \[redacted\]"\}\n$/,
  )
  expect(stdout + stderr).not.toContain(secret)
})

test('secrets in the URLs of setup and teardown are hidden, also one that an answer gave', async () => {
  const given = 'own-secret-of-the-url'
  const answered = 'token-of-the-answer'
  const report = await runConformance(
    {
      keys: { full: 'a-full-key-of-it' },
      setup: [
        { method: 'POST', url: '/admin', save: { told: '/told' } },
        { method: 'POST', url: `/admin?sig=${given.replaceAll('-', '%2D')}&a=b&token={told}` },
      ],
      teardown: [{ method: 'DELETE', url: '/admin?code=a+secret+of+9&token={told}' }],
      fetch: ({ method, url }) =>
        Response.json(
          { told: answered },
          { status: method === 'GET' || url.endsWith('/admin') ? 200 : 500 },
        ),
    },
    { only: ['files.list/*'] },
  ).report
  expect(report.exit.because).toMatch(/\/admin\?sig=\[redacted\]&a=b&token=\[redacted\]\)/)
  expect(report.run.hints).toEqual([expect.stringContaining('?code=[redacted]&token=[redacted])')])
  expect(JSON.stringify(report)).not.toMatch(/of.the.url|of.the.answer|secret.of/)
})
